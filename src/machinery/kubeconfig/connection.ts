// Finds the API server and the credentials as kubectl does: which file is used, what its paths are relative to, and what
// is missing.
import { existsSync, readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import { ConnectionError, type ConfigLocation } from './connection-error.ts';
import { obtainCredential, type PluginCredential } from './exec-credential.ts';
import { ExecPlugin } from './exec-plugin.ts';
import { execSettings } from './exec-settings.ts';
import type { Connection } from '../kube-client/connection.ts';
import { type Problem, problemOfCluster, problemOfUser, textField as text } from './credentials.ts';
import { isMap, type JsonMap, ownValue, setOwn } from '../api/json-map.ts';
import { withoutTrailing } from '../api/without-trailing.ts';
import { readYaml } from '../yaml/yaml-reader.ts';
import { type Login, type LoginTarget, openLogin } from './login.ts';
import { proxyFromEnvironment } from './proxy-environment.ts';
import { SystemClock } from '../adapters/system-clock.ts';
import { TokenFile } from './token-file.ts';

const serviceAccountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';
const proxySchemes = ['http:', 'https:', 'socks5:'];

export interface LoadConnectionOptions {
  /** Only this file. */
  readonly kubeconfig?: string | undefined;
  /** Defaults to the current context. */
  readonly context?: string | undefined;
  /** Prefix of the service account directory. */
  readonly root?: string;
  /** Defaults to the system clock. */
  readonly clock?: Clock;
  /** Logs credentials that cannot be reloaded. */
  readonly logger?: Logger;
}

/** A named entry of a kubeconfig, and its file. */
interface KubeconfigEntry {
  readonly name: string;
  readonly file: string;
  readonly fields: JsonMap;
}

interface Kubeconfig {
  readonly files: readonly string[];
  readonly clusters: readonly KubeconfigEntry[];
  readonly users: readonly KubeconfigEntry[];
  readonly contexts: readonly KubeconfigEntry[];
  readonly currentContext: string | undefined;
}

/** Dependencies of the credential readers. */
interface Dependencies {
  readonly clock: Clock;
  readonly logger: Logger | undefined;
}

/**
 * The given kubeconfig; else those in `KUBECONFIG`, or `~/.kube/config`; else the in-cluster configuration. Reads the
 * credentials once, so that missing ones are reported now. Rejects with a {@link ConnectionError}.
 */
export async function loadConnection(options: LoadConnectionOptions = {}): Promise<Connection> {
  const kubeconfig = readKubeconfigs(options.kubeconfig);
  const dependencies: Dependencies = { clock: options.clock ?? new SystemClock(), logger: options.logger };
  const target =
    kubeconfig === undefined
      ? await targetInCluster(options.root ?? '', dependencies)
      : await targetOf(kubeconfig, options.context ?? kubeconfig.currentContext, dependencies);
  return openLogin(target);
}

/** Undefined if no file exists and none was given by name. */
function readKubeconfigs(path: string | undefined): Kubeconfig | undefined {
  const listed = process.env['KUBECONFIG'] ?? '';
  const candidates = listed === '' ? [join(homedir(), '.kube', 'config')] : listed.split(delimiter);
  const files = path === undefined ? candidates.filter((file) => file !== '' && existsSync(file)) : [path];
  if (files.length === 0) return undefined;
  return files.map(readKubeconfig).reduce(mergeTwo);
}

/** The first file that sets a value takes precedence (client-go `ClientConfigLoadingRules`). */
function mergeTwo(a: Kubeconfig, b: Kubeconfig): Kubeconfig {
  const firsts = (x: readonly KubeconfigEntry[], y: readonly KubeconfigEntry[]): readonly KubeconfigEntry[] => [
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

function parseFile(file: string): JsonMap {
  const place = { file, field: '(file)' };
  const text = readText(place, file);
  let document: unknown;
  try {
    document = readYaml(text, 'kubernetes').value;
  } catch (cause) {
    throw new ConnectionError(place, 'is not YAML', cause);
  }
  if (!isMap(document)) throw new ConnectionError(place, 'is not a kubeconfig');
  return document;
}

function entriesOf(
  document: JsonMap,
  file: string,
  words: { list: string; entry: string },
): readonly KubeconfigEntry[] {
  const list = ownValue(document, words.list) ?? [];
  if (!Array.isArray(list)) throw new ConnectionError({ file, field: words.list }, 'is not a list');
  return list.map((item: unknown, at) => {
    const name = isMap(item) ? item['name'] : undefined;
    const field = `${words.list}[${at}]`;
    if (!isMap(item) || typeof name !== 'string') throw new ConnectionError({ file, field }, 'has no name');
    const fields = ownValue(item, words.entry) ?? {};
    if (!isMap(fields)) throw new ConnectionError({ file, field }, `has no ${words.entry}`);
    return { name, file, fields };
  });
}

async function targetOf(
  kubeconfig: Kubeconfig,
  contextName: string | undefined,
  dependencies: Dependencies,
): Promise<LoginTarget> {
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
    ...(user === undefined ? {} : loginOf(user, cluster, dependencies)),
  };
}

function find(entries: readonly KubeconfigEntry[], name: string, place: ConfigLocation): KubeconfigEntry {
  const found = entries.find((entry) => entry.name === name);
  if (found === undefined) throw new ConnectionError(place, `"${name}" not found`);
  return found;
}

function serverOf(cluster: KubeconfigEntry): string {
  const place = { file: cluster.file, field: `clusters.${cluster.name}.server` };
  const server = text(cluster.fields, 'server');
  if (server === undefined) throw new ConnectionError(place, 'is missing');
  const url = URL.parse(server);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw new ConnectionError(place, `"${server}" is not an http or https URL`);
  }
  return withoutTrailing(server, '/');
}

function proxyOf({ file, name, fields }: KubeconfigEntry): string | undefined {
  return checkedProxy(text(fields, 'proxy-url'), { file, field: `clusters.${name}.proxy-url` });
}

/** A `proxy-url` is always used; the environment's proxy unless `NO_PROXY` excludes the server. */
function environmentProxy(server: string): string | undefined {
  const proxy = proxyFromEnvironment(new URL(server), process.env);
  return checkedProxy(proxy?.url, { file: '(environment)', field: proxy?.variable ?? '' });
}

function checkedProxy(proxy: string | undefined, place: ConfigLocation): string | undefined {
  if (proxy === undefined || proxySchemes.includes(URL.parse(proxy)?.protocol ?? '')) return proxy;
  const schemes = proxySchemes.join(', ');
  throw new ConnectionError(place, `"${withoutPassword(proxy)}" is not a URL with one of the schemes ${schemes}`);
}

/** Errors are logged, so they must not contain the kubeconfig's passwords. */
function withoutPassword(address: string): string {
  const scheme = address.indexOf('//') + 1;
  const end = address.lastIndexOf('@');
  return end < 0 ? address : `${scheme === 0 ? '' : address.slice(0, scheme + 1)}***${address.slice(end)}`;
}

function clusterFields(cluster: KubeconfigEntry): JsonMap {
  assertSupported(problemOfCluster(cluster.fields), cluster, 'clusters');
  return withAbsolutePaths(cluster, 'clusters', ['certificate-authority']);
}

/** Token files and plugins are handled separately: they have their own reload rules. */
function userFields(user: KubeconfigEntry): JsonMap {
  assertSupported(problemOfUser(user.fields), user, 'users');
  requirePair(user);
  const fields = withAbsolutePaths(user, 'users', ['client-certificate', 'client-key']);
  const { tokenFile: _tokenFile, token, exec: _exec, ...rest } = fields;
  // A token file takes precedence over a token (client-go).
  return text(fields, 'tokenFile') === undefined ? { ...rest, token } : rest;
}

function assertSupported(problem: Problem | undefined, { file, name }: KubeconfigEntry, list: string): void {
  if (problem !== undefined)
    throw new ConnectionError({ file, field: `${list}.${name}.${problem.name}` }, problem.problem);
}

/** A token takes precedence over a plugin (client-go rejects both together). */
function loginOf(user: KubeconfigEntry, cluster: KubeconfigEntry, dependencies: Dependencies): Login {
  const file = text(withAbsolutePaths(user, 'users', ['tokenFile']), 'tokenFile');
  if (file !== undefined) {
    const place = { file: user.file, field: `users.${user.name}.tokenFile` };
    return { tokenFile: new TokenFile({ path: file, ...dependencies }), place };
  }
  const exec = user.fields['exec'] ?? undefined;
  if (exec === undefined || text(user.fields, 'token') !== undefined) return {};
  const place = { file: user.file, field: `users.${user.name}.exec` };
  if (!isMap(exec)) throw new ConnectionError(place, 'is not a mapping');
  return { plugin: pluginOf(exec, place, { cluster: clusterFields(cluster), dependencies }), place };
}

function pluginOf(
  exec: JsonMap,
  place: ConfigLocation,
  { cluster, dependencies }: { readonly cluster: JsonMap; readonly dependencies: Dependencies },
): ExecPlugin {
  const settings = execSettings({ ...place, exec, cluster });
  const obtain = (): Promise<PluginCredential> => obtainCredential(settings, dependencies.clock);
  return new ExecPlugin({ command: settings.command, obtain, ...dependencies });
}

function requirePair(user: KubeconfigEntry): void {
  const has = (name: string): boolean => (text(user.fields, name) ?? text(user.fields, `${name}-data`)) !== undefined;
  const missing = has('client-certificate') ? 'client-key' : 'client-certificate';
  if (has('client-certificate') === has('client-key')) return;
  throw new ConnectionError({ file: user.file, field: `users.${user.name}.${missing}` }, 'is missing');
}

/** Paths are relative to their kubeconfig. Throws if such a file cannot be read. */
function withAbsolutePaths(entry: KubeconfigEntry, list: string, names: readonly string[]): JsonMap {
  const fields: Record<string, unknown> = { ...entry.fields };
  for (const name of names) {
    const path = text(entry.fields, name);
    if (path === undefined) continue;
    const absolute = isAbsolute(path) ? path : join(dirname(entry.file), path);
    readText({ file: entry.file, field: `${list}.${entry.name}.${name}` }, absolute);
    setOwn(fields, name, absolute);
  }
  return fields;
}

async function targetInCluster(root: string, dependencies: Dependencies): Promise<LoginTarget> {
  const folder = join(`${root}/`, serviceAccountFolder);
  const notFound = 'no kubeconfig found, and not running in a pod: set --kubeconfig or KUBECONFIG';
  const [host = '', port = ''] = ['KUBERNETES_SERVICE_HOST', 'KUBERNETES_SERVICE_PORT'].map((field) => {
    const value = ownValue(process.env, field) ?? '';
    if (value === '') throw new ConnectionError({ file: '(environment)', field }, notFound);
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
    tokenFile: new TokenFile({ path: join(folder, 'token'), ...dependencies }),
  };
}

function namespaceIn(folder: string): string | undefined {
  const file = join(folder, 'namespace');
  return existsSync(file) ? readText({ file: folder, field: 'namespace' }, file).trim() : undefined;
}

function readText(place: ConfigLocation, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new ConnectionError(place, `${file} cannot be read`, cause);
  }
}
