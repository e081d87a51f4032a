// Finds the API server and our credentials as kubectl does. `@kubernetes/client-node` knows the credentials (tokens and
// their files, exec plugins, OIDC); it is loaded only when there is a kubeconfig or a cluster around us, since it costs
// a third of a second and 60 MB. Which file counts, what its paths are relative to and what is missing is settled here.
import { existsSync, readFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { parse } from 'yaml';
import type { Connection, Headers, TlsOptions } from './http-connection.ts';

const serviceAccountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';
const proxySchemes = ['http:', 'https:', 'socks5:'];

export interface LoadConnectionOptions {
  /** This file and no other. */
  readonly kubeconfig?: string;
  /** Another context than the current one. */
  readonly context?: string;
  /** Stands before the folder of the service account. */
  readonly root?: string;
}

/** We do not know how to reach a server, or as whom: which file, which field of it, and what is wrong there. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly file: string;
  readonly field: string;

  constructor(place: Place, problem: string, cause?: unknown) {
    super(`${place.file}: ${place.field}: ${problem}`, cause === undefined ? undefined : { cause });
    this.file = place.file;
    this.field = place.field;
  }
}

interface Place {
  readonly file: string;
  readonly field: string;
}

type Fields = Readonly<Record<string, unknown>>;

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

/** What was chosen, before the credentials are read. */
interface Target {
  readonly file: string;
  readonly server: string;
  readonly proxyUrl: string | undefined;
  readonly namespace: string | undefined;
  readonly config: KubeConfig;
}

/**
 * The given kubeconfig; else those that `KUBECONFIG` lists, or `~/.kube/config`; else the cluster that we run in. Reads
 * the credentials once, so that what is missing shows now. Rejects with a {@link ConnectionError}.
 */
export async function loadConnection(options: LoadConnectionOptions = {}): Promise<Connection> {
  const kubeconfig = readKubeconfigs(options.kubeconfig);
  const target =
    kubeconfig === undefined
      ? await targetInCluster(options.root ?? '')
      : await targetOf(kubeconfig, options.context ?? kubeconfig.currentContext);
  return new Credentials(target).connect();
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

async function targetOf(kubeconfig: Kubeconfig, contextName: string | undefined): Promise<Target> {
  const file = kubeconfig.files.join(delimiter);
  if (contextName === undefined) throw new ConnectionError({ file, field: 'current-context' }, 'is not set');
  const context = find(kubeconfig.contexts, contextName, { file, field: 'contexts' });
  const at = `contexts.${contextName}`;
  const cluster = find(kubeconfig.clusters, text(context.fields, 'cluster') ?? '', { file, field: `${at}.cluster` });
  const userName = text(context.fields, 'user') ?? '';
  const user = userName === '' ? undefined : find(kubeconfig.users, userName, { file, field: `${at}.user` });
  const server = serverOf(cluster);
  return {
    file: context.file,
    server,
    proxyUrl: proxyOf(cluster),
    namespace: text(context.fields, 'namespace'),
    config: await createConfig(clusterFields(cluster, server), user === undefined ? {} : userFields(user)),
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
  throw new ConnectionError(place, `"${proxy}" is not an address that begins with ${proxySchemes.join(', ')}`);
}

/** The proxy is ours to use; and client-node would refuse plain http unless TLS is not to be verified anyway. */
function clusterFields(cluster: Entry, server: string): Fields {
  const { 'proxy-url': _proxy, ...fields } = withAbsolutePaths(cluster, 'clusters', ['certificate-authority']);
  return server.startsWith('http:') ? { ...fields, 'insecure-skip-tls-verify': true } : fields;
}

/** client-node reads a token file again only where it is an auth provider's; it wins over a token (client-go). */
function userFields(user: Entry): Fields {
  const fields = withAbsolutePaths(user, 'users', ['client-certificate', 'client-key', 'tokenFile']);
  requirePair(user, fields);
  const { tokenFile, token, ...rest } = fields;
  if (tokenFile === undefined) return token === undefined ? rest : { ...rest, token };
  return { ...rest, 'auth-provider': { name: 'tokenFile', config: { tokenFile } } };
}

function requirePair(user: Entry, fields: Fields): void {
  const has = (name: string): boolean => fields[name] !== undefined || fields[`${name}-data`] !== undefined;
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

async function createConfig(cluster: Fields, user: Fields): Promise<KubeConfig> {
  const config = await emptyConfig();
  const name = 'chosen';
  const document = {
    'current-context': name,
    contexts: [{ name, context: { cluster: name, user: name } }],
    clusters: [{ name, cluster }],
    users: [{ name, user }],
  };
  config.loadFromString(JSON.stringify(document));
  return config;
}

/** Only the module that has KubeConfig: the package's own entry loads every generated API as well. */
async function emptyConfig(): Promise<KubeConfig> {
  const module = await import('@kubernetes/client-node/dist/config.js');
  return new module.KubeConfig();
}

async function targetInCluster(root: string): Promise<Target> {
  const folder = `${root}${serviceAccountFolder}`;
  const looked = 'no kubeconfig was given or found, and this is no pod';
  for (const name of ['KUBERNETES_SERVICE_HOST', 'KUBERNETES_SERVICE_PORT']) {
    if ((process.env[name] ?? '') === '') throw new ConnectionError({ file: '(environment)', field: name }, looked);
  }
  for (const field of ['token', 'ca.crt']) readText({ file: folder, field }, join(folder, field));
  const config = await emptyConfig();
  config.loadFromCluster(root);
  const server = config.getCurrentCluster()?.server ?? '';
  const namespace = config.getContextObject(config.getCurrentContext())?.namespace?.trim();
  return { file: folder, server, proxyUrl: undefined, namespace, config };
}

/** What client-node makes of a target's credentials. */
class Credentials {
  readonly #target: Target;
  #reading: Promise<{ readonly headers: Headers; readonly tls: TlsOptions }> | undefined;

  constructor(target: Target) {
    this.#target = target;
  }

  async connect(): Promise<Connection> {
    const { server, proxyUrl, namespace } = this.#target;
    const first = await this.#read();
    const fixed = !this.#changes();
    return {
      server,
      proxyUrl,
      namespace,
      tls: first.tls,
      authorization: async () => (fixed ? first.headers : (await this.#read()).headers),
      reloadTls: async () => (await this.#read()).tls,
    };
  }

  /** Tokens from files, plugins and identity providers change; what stands in the kubeconfig does not. */
  #changes(): boolean {
    const user = this.#target.config.getCurrentUser();
    return Boolean(user?.authProvider ?? user?.exec);
  }

  /** One reading at a time, whoever asks: an expired token must not start a plugin for every request that waits. */
  async #read(): Promise<{ readonly headers: Headers; readonly tls: TlsOptions }> {
    this.#reading ??= this.#readOnce().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readOnce(): Promise<{ readonly headers: Headers; readonly tls: TlsOptions }> {
    const options: RequestOptions = {};
    try {
      await this.#target.config.applyToHTTPSOptions(options);
    } catch (cause) {
      throw new ConnectionError({ file: this.#target.file, field: 'credentials' }, 'cannot be obtained', cause);
    }
    return { headers: headersOf(options), tls: tlsOf(options) };
  }
}

function headersOf({ headers, auth }: RequestOptions): Headers {
  const said: Record<string, string> = {};
  if (typeof auth === 'string') said['authorization'] = `Basic ${Buffer.from(auth).toString('base64')}`;
  for (const [name, value] of Object.entries(headers ?? {})) {
    // A token file ends with a newline more often than not.
    said[name.toLowerCase()] = String(value).trim();
  }
  return said;
}

function tlsOf({ ca, cert, key, servername, rejectUnauthorized }: RequestOptions): TlsOptions {
  return { ca: bytes(ca), cert: bytes(cert), key: bytes(key), servername, rejectUnauthorized };
}

/** client-node gives a file's bytes or a text; the other forms that TLS would take do not come from it. */
function bytes(value: RequestOptions['ca'] | RequestOptions['key']): string | Buffer | undefined {
  return typeof value === 'string' || Buffer.isBuffer(value) ? value : undefined;
}

function readText(place: Place, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new ConnectionError(place, `${file} cannot be read`, cause);
  }
}

function text(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
