// As whom `nlc status` and `nlc explain` ask, and whom they take for the controller. What is shown goes to `--server`, so
// nothing is shown that was not named, but for one thing: in a pod, where there is nobody else to be, its own account, and
// that to the same pod only: it may do far more than read pages.
import { existsSync, readFileSync } from 'node:fs';
import { ConnectionError } from '../adapters/connection-error.ts';
import type { Headers, TlsOptions } from '../adapters/http-connection.ts';
import { loadConnection } from '../adapters/kube-connection.ts';
import type { explainFlags } from './explain-flags.ts';
import type { FlagValues } from './flag-definition.ts';
import { isLoopback } from './hollow-nodes/control-access.ts';

export type AskingValues = FlagValues<typeof explainFlags>;

export interface PageAccess {
  readonly headers: Headers;
  readonly tls: TlsOptions;
}

const podTokenFile = '/var/run/secrets/kubernetes.io/serviceaccount/token';

const secureOnly = {
  token: 'token',
  'token-file': 'tokenFile',
  kubeconfig: 'kubeconfig',
  'certificate-authority': 'certificateAuthority',
  'tls-server-name': 'tlsServerName',
} as const;

/** Everything about the flags that does not go together. */
export function accessProblems(values: AskingValues): readonly string[] {
  const { server, token, tokenFile, kubeconfig, context, certificateAuthority, insecureSkipTlsVerify } = values;
  const isPlain = server.startsWith('http:');
  const given = Object.entries(secureOnly).filter(([, key]) => values[key] !== undefined);
  const problems = isPlain
    ? given.map(([flag]) => `--${flag}: accepted: only where --server begins with https://`)
    : [];
  const who = [token, tokenFile, kubeconfig].filter((credential) => credential !== undefined);
  if (who.length > 1) problems.push('--token, --token-file, --kubeconfig: accepted: one of them');
  if (context !== undefined && kubeconfig === undefined) problems.push('--context: accepted: only with --kubeconfig');
  if (insecureSkipTlsVerify && certificateAuthority !== undefined) {
    problems.push('--insecure-skip-tls-verify: accepted: only without --certificate-authority');
  }
  return problems;
}

/** Rejects with a ConnectionError where what was named cannot be read. */
export async function pageAccess(values: AskingValues, ownTokenFile = podTokenFile): Promise<PageAccess> {
  if (values.server.startsWith('http:')) return { headers: {}, tls: {} };
  const who = await credentials(values, ownTokenFile);
  const { certificateAuthority, tlsServerName, insecureSkipTlsVerify } = values;
  const ca = certificateAuthority === undefined ? undefined : readAuthority(certificateAuthority);
  return {
    headers: who.headers,
    tls: { ...who.tls, ca, servername: tlsServerName, rejectUnauthorized: !insecureSkipTlsVerify },
  };
}

async function credentials(values: AskingValues, ownTokenFile: string): Promise<PageAccess> {
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

/** The cluster's authority says nothing about the controller's certificate, so it stays behind. */
async function userOf(kubeconfig: string, context: string | undefined): Promise<PageAccess> {
  const connection = await loadConnection({ kubeconfig, ...(context === undefined ? {} : { context }) });
  const { cert, key } = connection.tls;
  const headers = await connection.authorization();
  if (headers['impersonate-user'] !== undefined) {
    throw new ConnectionError({ file: kubeconfig, field: 'as' }, 'nobody can be taken on for a page');
  }
  return { headers, tls: { cert, key } };
}

/** TLS takes what is empty for no authority, and then believes those of Node.js. */
function readAuthority(file: string): string {
  const field = '--certificate-authority';
  const pem = readText(field, file);
  if (pem.includes('-----BEGIN CERTIFICATE-----')) return pem;
  throw new ConnectionError({ file, field }, 'holds no certificate');
}

function readText(field: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new ConnectionError({ file, field }, 'cannot be read', cause);
  }
}
