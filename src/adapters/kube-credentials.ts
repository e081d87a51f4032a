// What a kubeconfig says of a cluster's certificates and of a user, read anew each time it is asked: files change while we
// run. Only identity providers, which nobody else knows, are asked through `@kubernetes/client-node`: the module is 80 MB
// of memory and a third of a second, so it is loaded only for them.
import { readFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import type { Headers, TlsOptions } from './http-connection.ts';
import { type Fields, isFields, textField } from './kube-fields.ts';

/** A cluster and a user as a kubeconfig has them, the paths in them absolute. */
export interface Written {
  readonly cluster: Fields;
  readonly user: Fields;
}

export interface Known {
  readonly headers: Headers;
  readonly tls: TlsOptions;
}

/** A field that cannot be what it is meant to be, and why. */
export interface Flaw {
  readonly name: string;
  readonly problem: string;
}

const certificateTexts = (name: string): readonly string[] => [name, `${name}-data`];
const clusterTexts = ['tls-server-name', ...certificateTexts('certificate-authority')];
const userTexts = [
  'token',
  'tokenFile',
  'username',
  'password',
  'as',
  'as-uid',
  ...['client-certificate', 'client-key'].flatMap(certificateTexts),
];
const otherImpersonations = ['as-uid', 'as-groups', 'as-user-extra'];

/**
 * A text that is none would be left out, and other authorities believed than are named. To name one and to believe anybody
 * contradict each other (client-go `rest.TLSConfigFor`).
 */
export function flawOfCluster(cluster: Fields): Flaw | undefined {
  const insecure = 'insecure-skip-tls-verify';
  const named = certificateTexts('certificate-authority').find((name) => textField(cluster, name) !== undefined);
  const contradiction =
    cluster[insecure] === true && named !== undefined
      ? { name: insecure, problem: `is true, and there is a ${named}` }
      : undefined;
  return notText(cluster, clusterTexts) ?? contradiction;
}

/** Whoever leaves out what is written here acts as somebody else than is named. */
export function flawOfUser(user: Fields): Flaw | undefined {
  const asked = otherImpersonations.find((name) => saysSomething(user[name]));
  const impersonation =
    asked === undefined ? undefined : { name: asked, problem: 'is not supported: only as, the name of a user, is' };
  return notText(user, userTexts) ?? impersonation;
}

function notText(fields: Fields, names: readonly string[]): Flaw | undefined {
  const name = names.find((each) => typeof (fields[each] ?? '') !== 'string');
  return name === undefined ? undefined : { name, problem: 'is not a text' };
}

function saysSomething(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return (value ?? '') !== '';
}

/** How the credentials are read; throws what the file system says, or rejects with what an identity provider says. */
export type ReadCredentials = () => Promise<Known>;

/** True where a token comes from an identity provider, and may be another one the next time. */
export function hasIdentityProvider({ user }: Written): boolean {
  return isFields(user['auth-provider']);
}

/** Who reads the credentials. */
export async function credentialsReader(written: Written): Promise<ReadCredentials> {
  return hasIdentityProvider(written) ? providerReader(written) : async () => readWritten(written);
}

function readWritten({ cluster, user }: Written): Known {
  return { headers: headersOf(user), tls: { ...authorityOf(cluster), ...certificateOf(user) } };
}

/** Data wins over a file, and a token over a password (client-go `clientcmd`). */
function headersOf(user: Fields): Headers {
  const [token, username] = [textField(user, 'token'), textField(user, 'username')];
  const as = textField(user, 'as');
  const password = textField(user, 'password') ?? '';
  const basic = username === undefined ? undefined : `Basic ${base64(`${username}:${password}`)}`;
  const authorization = token === undefined ? basic : `Bearer ${token.trim()}`;
  return {
    ...(authorization === undefined ? {} : { authorization }),
    ...(as === undefined ? {} : { 'impersonate-user': as }),
  };
}

function authorityOf(cluster: Fields): TlsOptions {
  return {
    ca: bytesOf(cluster, 'certificate-authority'),
    servername: textField(cluster, 'tls-server-name'),
    rejectUnauthorized: cluster['insecure-skip-tls-verify'] === true ? false : undefined,
  };
}

function certificateOf(user: Fields): TlsOptions {
  return { cert: bytesOf(user, 'client-certificate'), key: bytesOf(user, 'client-key') };
}

function bytesOf(fields: Fields, name: string): Buffer | undefined {
  const data = textField(fields, `${name}-data`);
  if (data !== undefined) return Buffer.from(data, 'base64');
  const file = textField(fields, name);
  return file === undefined ? undefined : readFileSync(file);
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** The module that has KubeConfig, not the package's own entry, which loads every generated API as well. */
async function providerReader({ cluster, user }: Written): Promise<ReadCredentials> {
  const { KubeConfig } = await import('@kubernetes/client-node/dist/config.js');
  const config = new KubeConfig();
  const name = 'chosen';
  const document = {
    'current-context': name,
    contexts: [{ name, context: { cluster: name, user: name } }],
    // The connection is ours to make: of the cluster it asks for no more than this.
    clusters: [{ name, cluster: { server: 'https://localhost' } }],
    users: [{ name, user }],
  };
  config.loadFromString(JSON.stringify(document));
  return async () => {
    const options: RequestOptions = {};
    await config.applyToHTTPSOptions(options);
    const known = readWritten({ cluster, user });
    return { tls: known.tls, headers: { ...known.headers, ...providedHeaders(options) } };
  };
}

function providedHeaders({ headers }: RequestOptions): Headers {
  const entries = Object.entries(headers ?? {});
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), String(value).trim()]));
}
