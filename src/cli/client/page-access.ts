// Credentials and TLS settings of `nlc status`, `nlc explain` and `nlc shadow`. Credentials are sent to `--server`, so only
// explicitly named ones are used. Exception: in a pod and on loopback, the pod's service account token; it grants far more
// than reading pages, so it is never sent to another host.
import { isLoopback } from '../../machinery/page-server/own-host.ts';
import { existsSync, readFileSync } from 'node:fs';
import { ConnectionError } from '../../machinery/kubeconfig/connection-error.ts';
import type { Headers, TlsOptions } from '../../machinery/kube-client/connection.ts';
import type { serverFlags } from './flags.ts';
import { type FlagValues, keyOf } from '../flags/flag-definition.ts';

export type ClientValues = FlagValues<typeof serverFlags>;

export interface PageAccess {
  readonly headers: Headers;
  readonly tls: TlsOptions;
}

const podTokenFile = '/var/run/secrets/kubernetes.io/serviceaccount/token';

const secureOnly = ['token', 'token-file', 'kubeconfig', 'certificate-authority', 'tls-server-name'] as const;

/** Invalid combinations of flags. */
export function accessProblems(values: ClientValues): readonly string[] {
  const { server, token, tokenFile, kubeconfig, context, certificateAuthority, insecureSkipTlsVerify } = values;
  const isPlain = server.startsWith('http:');
  const given = secureOnly.filter((flag) => values[keyOf(flag)] !== undefined);
  const problems = isPlain ? given.map((flag) => `--${flag}: requires a --server that begins with https://`) : [];
  const sources = [token, tokenFile, kubeconfig].filter((source) => source !== undefined);
  if (sources.length > 1) problems.push('--token, --token-file, --kubeconfig: only one of them may be set');
  if (context !== undefined && kubeconfig === undefined) problems.push('--context: requires --kubeconfig');
  if (insecureSkipTlsVerify && certificateAuthority !== undefined) {
    problems.push('--insecure-skip-tls-verify: cannot be combined with --certificate-authority');
  }
  return problems;
}

/** Rejects with a ConnectionError if a named file cannot be read. */
export async function pageAccess(values: ClientValues, ownTokenFile = podTokenFile): Promise<PageAccess> {
  if (values.server.startsWith('http:')) return { headers: {}, tls: {} };
  const client = await credentials(values, ownTokenFile);
  const { certificateAuthority, tlsServerName, insecureSkipTlsVerify } = values;
  const ca = certificateAuthority === undefined ? undefined : readAuthority(certificateAuthority);
  return {
    headers: client.headers,
    tls: { ...client.tls, ca, servername: tlsServerName, rejectUnauthorized: !insecureSkipTlsVerify },
  };
}

async function credentials(values: ClientValues, ownTokenFile: string): Promise<PageAccess> {
  const { server, token, tokenFile, kubeconfig, context } = values;
  if (token !== undefined) return bearer(token);
  if (tokenFile !== undefined) return bearer(readText('--token-file', tokenFile));
  if (kubeconfig !== undefined) return userOf(kubeconfig, context);
  const isOwn = isLoopback({ host: new URL(server).hostname }) && existsSync(ownTokenFile);
  return isOwn ? bearer(readText('(service account)', ownTokenFile)) : { headers: {}, tls: {} };
}

function bearer(token: string): PageAccess {
  return { headers: { authorization: `Bearer ${token.trim()}` }, tls: {} };
}

/** The user of a kubeconfig. Its cluster CA is not used: it does not sign the controller's serving certificate. */
async function userOf(kubeconfig: string, context: string | undefined): Promise<PageAccess> {
  // Loaded only here: plain pages need no credentials.
  const { loadConnection } = await import('../../machinery/kubeconfig/connection.ts');
  const connection = await loadConnection({ kubeconfig, context });
  const { cert, key } = connection.tls;
  const headers = await connection.authorization();
  if (headers['impersonate-user'] !== undefined) {
    throw new ConnectionError({ file: kubeconfig, field: 'as' }, 'impersonation is not supported');
  }
  return { headers, tls: { cert, key } };
}

/** Checked here, because Node.js treats an empty `ca` as unset and falls back to its own CAs. */
export function readAuthority(file: string): string {
  const field = '--certificate-authority';
  const pem = readText(field, file);
  if (pem.includes('-----BEGIN CERTIFICATE-----')) return pem;
  throw new ConnectionError({ file, field }, 'contains no certificate');
}

function readText(field: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new ConnectionError({ file, field }, 'cannot be read', cause);
  }
}
