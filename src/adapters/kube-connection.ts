// Finds the API server and our credentials as kubectl does: which file counts, what its paths are relative to, what is
// missing.
import { existsSync, readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { parse } from 'yaml';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import { ConnectionError, type Place } from './connection-error.ts';
import { ExecPlugin, type ExecSettings } from './exec-plugin.ts';
import type { Connection } from './http-connection.ts';
import { type Flaw, flawOfCluster, flawOfUser } from './kube-credentials.ts';
import { type Fields, isFields, textField as text } from './kube-fields.ts';
import { type Login, type LoginTarget, openLogin } from './kube-login.ts';
import { proxyFromEnvironment } from './proxy-environment.ts';
import { SystemClock } from './system-clock.ts';
import { TokenFile } from './token-file.ts';

const serviceAccountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';
const proxySchemes = ['http:', 'https:', 'socks5:'];

export interface LoadConnectionOptions {
  /** This file and no other. */
  readonly kubeconfig?: string;
  /** Another context than the current one. */
  readonly context?: string;
  /** Stands before the folder of the service account. */
  readonly root?: string;
  /** The machine's own when absent. */
  readonly clock?: Clock;
  /** Hears of credentials that cannot be read again. */
  readonly logger?: Logger;
}

/** A named entry of a kubeconfig, and the file that it came from. */
interface Entry {
  readonly name: string;
  readonly file: string;
  readonly fields: Fields;
}

interface Kubeconfig {
  readonly files: readonly string[];
  readonly clusters: readonly Entry[];
  readonly users: readonly Entry[];
  readonly contexts: readonly Entry[];
  readonly currentContext: string | undefined;
}

/** What the parts that read credentials need. */
interface Means {
  readonly clock: Clock;
  readonly logger: Logger | undefined;
}

/**
 * The given kubeconfig; else those that `KUBECONFIG` lists, or `~/.kube/config`; else the cluster that we run in. Reads
 * the credentials once, so that what is missing shows now. Rejects with a {@link ConnectionError}.
 */
export async function loadConnection(options: LoadConnectionOptions = {}): Promise<Connection> {
  const kubeconfig = readKubeconfigs(options.kubeconfig);
  const means: Means = { clock: options.clock ?? new SystemClock(), logger: options.logger };
  const target =
    kubeconfig === undefined
      ? await targetInCluster(options.root ?? '', means)
      : await targetOf(kubeconfig, options.context ?? kubeconfig.currentContext, means);
  return openLogin(target);
}

/** Undefined where there is none, and none was asked for by name. */
function readKubeconfigs(path: string | undefined): Kubeconfig | undefined {
  const listed = process.env['KUBECONFIG'] ?? '';
  const candidates = listed === '' ? [join(homedir(), '.kube', 'config')] : listed.split(delimiter);
  const files = path === undefined ? candidates.filter((file) => file !== '' && existsSync(file)) : [path];
  if (files.length === 0) return undefined;
  return files.map(readKubeconfig).reduce(mergeTwo);
}

/** The first file that says something wins (client-go `ClientConfigLoadingRules`). */
function mergeTwo(a: Kubeconfig, b: Kubeconfig): Kubeconfig {
  const firsts = (x: readonly Entry[], y: readonly Entry[]): readonly Entry[] => [
    ...x,
    ...y.filter((entry) => !x.some((known) => known.name === entry.name)),
  ];
  return {
    files: [...a.files, ...b.files],
    clusters: firsts(a.clusters, b.clusters),
    users: firsts(a.users, b.users),
    contexts: firsts(a.contexts, b.contexts),
    currentContext: a.currentContext ?? b.currentContext,
  };
}

function readKubeconfig(file: string): Kubeconfig {
  const document = parseFile(file);
  const current = document['current-context'];
  return {
    files: [file],
    clusters: entriesOf(document, file, { list: 'clusters', entry: 'cluster' }),
    users: entriesOf(document, file, { list: 'users', entry: 'user' }),
    contexts: entriesOf(document, file, { list: 'contexts', entry: 'context' }),
    currentContext: typeof current === 'string' && current !== '' ? current : undefined,
  };
}

function parseFile(file: string): Fields {
  const place = { file, field: '(file)' };
  const text = readText(place, file);
  let document: unknown;
  try {
    document = parse(text);
  } catch (cause) {
    throw new ConnectionError(place, 'is not YAML', cause);
  }
  if (!isFields(document)) throw new ConnectionError(place, 'is not a kubeconfig');
  return document;
}

function entriesOf(document: Fields, file: string, words: { list: string; entry: string }): readonly Entry[] {
  const list = document[words.list] ?? [];
  if (!Array.isArray(list)) throw new ConnectionError({ file, field: words.list }, 'is not a list');
  return list.map((item: unknown, at) => {
    const name = isFields(item) ? item['name'] : undefined;
    const field = `${words.list}[${at}]`;
    if (!isFields(item) || typeof name !== 'string') throw new ConnectionError({ file, field }, 'has no name');
    const fields = item[words.entry] ?? {};
    if (!isFields(fields)) throw new ConnectionError({ file, field }, `has no ${words.entry}`);
    return { name, file, fields };
  });
}

async function targetOf(kubeconfig: Kubeconfig, contextName: string | undefined, means: Means): Promise<LoginTarget> {
  const file = kubeconfig.files.join(delimiter);
  if (contextName === undefined) throw new ConnectionError({ file, field: 'current-context' }, 'is not set');
  const context = find(kubeconfig.contexts, contextName, { file, field: 'contexts' });
  const at = `contexts.${contextName}`;
  const cluster = find(kubeconfig.clusters, text(context.fields, 'cluster') ?? '', { file, field: `${at}.cluster` });
  const userName = text(context.fields, 'user') ?? '';
  const user = userName === '' ? undefined : find(kubeconfig.users, userName, { file, field: `${at}.user` });
  const server = serverOf(cluster);
  return {
    place: { file: context.file, field: 'credentials' },
    server,
    proxyUrl: proxyOf(cluster) ?? environmentProxy(server),
    namespace: text(context.fields, 'namespace'),
    written: { cluster: clusterFields(cluster), user: user === undefined ? {} : userFields(user) },
    ...(user === undefined ? {} : loginOf(user, cluster, means)),
  };
}

function find(entries: readonly Entry[], name: string, place: Place): Entry {
  const found = entries.find((entry) => entry.name === name);
  if (found === undefined) throw new ConnectionError(place, `there is no "${name}"`);
  return found;
}

function serverOf(cluster: Entry): string {
  const place = { file: cluster.file, field: `clusters.${cluster.name}.server` };
  const server = text(cluster.fields, 'server');
  if (server === undefined) throw new ConnectionError(place, 'is missing');
  const url = URL.parse(server);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw new ConnectionError(place, `"${server}" is not an http or https address`);
  }
  return server.replace(/\/+$/, '');
}

function proxyOf(cluster: Entry): string | undefined {
  const proxy = text(cluster.fields, 'proxy-url');
  if (proxy === undefined || proxySchemes.includes(URL.parse(proxy)?.protocol ?? '')) return proxy;
  const place = { file: cluster.file, field: `clusters.${cluster.name}.proxy-url` };
  throw new ConnectionError(
    place,
    `"${withoutPassword(proxy)}" is not an address that begins with ${proxySchemes.join(', ')}`,
  );
}

/** A `proxy-url` is always used; the environment's proxy only where `NO_PROXY` lets it. */
function environmentProxy(server: string): string | undefined {
  const proxy = proxyFromEnvironment(new URL(server), process.env);
  if (proxy === undefined || proxySchemes.includes(URL.parse(proxy.url)?.protocol ?? '')) return proxy?.url;
  const place = { file: '(environment)', field: proxy.variable };
  throw new ConnectionError(
    place,
    `"${withoutPassword(proxy.url)}" is not an address that begins with ${proxySchemes.join(', ')}`,
  );
}

/** An error is read by more people than a kubeconfig is. */
function withoutPassword(address: string): string {
  return address.replace(/[^/]*@/, '***@');
}

function clusterFields(cluster: Entry): Fields {
  refuse(flawOfCluster(cluster.fields), cluster, 'clusters');
  return withAbsolutePaths(cluster, 'clusters', ['certificate-authority']);
}

/** Token files and plugins stand apart: they are read again by rules of their own. */
function userFields(user: Entry): Fields {
  refuse(flawOfUser(user.fields), user, 'users');
  requirePair(user);
  const fields = withAbsolutePaths(user, 'users', ['client-certificate', 'client-key']);
  const { tokenFile: _tokenFile, token, exec: _exec, ...rest } = fields;
  // A token file wins over a token (client-go).
  return text(fields, 'tokenFile') === undefined ? { ...rest, token } : rest;
}

function refuse(flaw: Flaw | undefined, { file, name }: Entry, list: string): void {
  if (flaw !== undefined) throw new ConnectionError({ file, field: `${list}.${name}.${flaw.name}` }, flaw.problem);
}

/** A token wins over a plugin (client-go refuses to have both). */
function loginOf(user: Entry, cluster: Entry, means: Means): Login {
  const file = text(withAbsolutePaths(user, 'users', ['tokenFile']), 'tokenFile');
  if (file !== undefined) {
    const place = { file: user.file, field: `users.${user.name}.tokenFile` };
    return { tokenFile: new TokenFile({ path: file, ...means }), place };
  }
  const { exec } = user.fields;
  if (!isFields(exec) || text(user.fields, 'token') !== undefined) return {};
  const place = { file: user.file, field: `users.${user.name}.exec` };
  return { plugin: new ExecPlugin(execSettings(exec, { user, cluster, place }), means.clock), place };
}

function execSettings(
  exec: Fields,
  { user, cluster, place }: { readonly user: Entry; readonly cluster: Entry; readonly place: Place },
): ExecSettings {
  const command = text(exec, 'command');
  if (command === undefined) throw new ConnectionError(place, 'has no command');
  // A name is looked up in PATH; a path is relative to the kubeconfig that names it.
  const isRelativePath = command.includes('/') && !isAbsolute(command);
  return {
    apiVersion: text(exec, 'apiVersion') ?? 'client.authentication.k8s.io/v1',
    command: isRelativePath ? join(dirname(user.file), command) : command,
    args: Array.isArray(exec['args']) ? exec['args'].map(String) : [],
    env: environmentOf(exec['env']),
    cluster: exec['provideClusterInfo'] === true ? cluster.fields : undefined,
  };
}

/** A list of `{name, value}`, as the kubeconfig has it. */
function environmentOf(list: unknown): Readonly<Record<string, string>> {
  const entries: readonly unknown[] = Array.isArray(list) ? list : [];
  return Object.fromEntries(entries.filter(isFields).map((entry) => [String(entry['name']), String(entry['value'])]));
}

function requirePair(user: Entry): void {
  const has = (name: string): boolean => (text(user.fields, name) ?? text(user.fields, `${name}-data`)) !== undefined;
  const missing = has('client-certificate') ? 'client-key' : 'client-certificate';
  if (has('client-certificate') === has('client-key')) return;
  throw new ConnectionError({ file: user.file, field: `users.${user.name}.${missing}` }, 'is missing');
}

/** Paths are relative to the kubeconfig that names them. Throws where such a file cannot be read. */
function withAbsolutePaths(entry: Entry, list: string, names: readonly string[]): Fields {
  const fields: Record<string, unknown> = { ...entry.fields };
  for (const name of names) {
    const path = text(entry.fields, name);
    if (path === undefined) continue;
    const absolute = isAbsolute(path) ? path : join(dirname(entry.file), path);
    readText({ file: entry.file, field: `${list}.${entry.name}.${name}` }, absolute);
    fields[name] = absolute;
  }
  return fields;
}

async function targetInCluster(root: string, means: Means): Promise<LoginTarget> {
  const folder = join(`${root}/`, serviceAccountFolder);
  const looked = 'no kubeconfig was given or found, and this is no pod';
  const [host = '', port = ''] = ['KUBERNETES_SERVICE_HOST', 'KUBERNETES_SERVICE_PORT'].map((field) => {
    const value = process.env[field] ?? '';
    if (value === '') throw new ConnectionError({ file: '(environment)', field }, looked);
    return value;
  });
  for (const field of ['token', 'ca.crt']) readText({ file: folder, field }, join(folder, field));
  const server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
  const place = { file: folder, field: 'token' };
  return {
    place,
    server,
    proxyUrl: environmentProxy(server),
    namespace: namespaceIn(folder),
    written: { cluster: { 'certificate-authority': join(folder, 'ca.crt') }, user: {} },
    tokenFile: new TokenFile({ path: join(folder, 'token'), ...means }),
  };
}

function namespaceIn(folder: string): string | undefined {
  const file = join(folder, 'namespace');
  return existsSync(file) ? readText({ file: folder, field: 'namespace' }, file).trim() : undefined;
}

function readText(place: Place, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new ConnectionError(place, `${file} cannot be read`, cause);
  }
}
