// The certificates and user credentials of a kubeconfig, read each time they are needed: files change while the process
// runs.
import { readFileSync } from 'node:fs';
import { isMap, type JsonMap, ownValue } from '../api/json-map.ts';
import type { Headers, TlsOptions } from '../kube-client/connection.ts';

/** A cluster and a user of a kubeconfig, with absolute paths. */
export interface Written {
  readonly cluster: JsonMap;
  readonly user: JsonMap;
}

/** An invalid field, and what is wrong with it. */
export interface Problem {
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
 * A field that is not a string would be ignored, so that another CA than the configured one would be used. A CA and
 * `insecure-skip-tls-verify` contradict each other (client-go `rest.TLSConfigFor`).
 */
export function problemOfCluster(cluster: JsonMap): Problem | undefined {
  const insecure = 'insecure-skip-tls-verify';
  const caField = certificateTexts('certificate-authority').find((name) => textField(cluster, name) !== undefined);
  const contradiction =
    cluster[insecure] === true && caField !== undefined
      ? { name: insecure, problem: `must not be true together with ${caField}` }
      : undefined;
  return nonStringField(cluster, clusterTexts) ?? contradiction;
}

/** Ignoring an unsupported field would authenticate as another user than the configured one. */
export function problemOfUser(user: JsonMap): Problem | undefined {
  const unsupported = otherImpersonations.find((name) => isNonEmpty(ownValue(user, name)));
  const impersonation =
    unsupported === undefined
      ? undefined
      : { name: unsupported, problem: 'is not supported; accepted: as (a user name)' };
  return nonStringField(user, userTexts) ?? impersonation ?? problemOfProvider(user);
}

/** Only the provider's name is repeated: its other fields contain secrets. */
function problemOfProvider({ 'auth-provider': provider }: JsonMap): Problem | undefined {
  if (!isNonEmpty(provider)) return undefined;
  const prefix = isMap(provider) ? `"${textField(provider, 'name') ?? ''}" ` : '';
  const problem = `${prefix}is not supported; accepted: exec (a credential plugin), tokenFile, token, client-certificate`;
  return { name: 'auth-provider', problem };
}

function nonStringField(fields: JsonMap, names: readonly string[]): Problem | undefined {
  const name = names.find((each) => typeof (ownValue(fields, each) ?? '') !== 'string');
  return name === undefined ? undefined : { name, problem: 'is not a string' };
}

function isNonEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return (value ?? '') !== '';
}

/** The certificates as currently in the files. Throws file system errors. */
export function readTls({ cluster, user }: Written): TlsOptions {
  return { ...authorityOf(cluster), ...certificateOf(user) };
}

/** A token takes precedence over a password (client-go `clientcmd`). */
export function headersOf(user: JsonMap): Headers {
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

function authorityOf(cluster: JsonMap): TlsOptions {
  return {
    ca: bytesOf(cluster, 'certificate-authority'),
    servername: textField(cluster, 'tls-server-name'),
    rejectUnauthorized: cluster['insecure-skip-tls-verify'] === true ? false : undefined,
  };
}

function certificateOf(user: JsonMap): TlsOptions {
  return { cert: bytesOf(user, 'client-certificate'), key: bytesOf(user, 'client-key') };
}

/** Data takes precedence over a file (client-go `clientcmd`). */
function bytesOf(fields: JsonMap, name: string): Buffer | undefined {
  const data = textField(fields, `${name}-data`);
  if (data !== undefined) return Buffer.from(data, 'base64');
  const file = textField(fields, name);
  return file === undefined ? undefined : readFileSync(file);
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** Undefined if absent or empty. */
export function textField(fields: JsonMap, name: string): string | undefined {
  const value = ownValue(fields, name);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
