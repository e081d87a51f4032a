// The users of a kube-apiserver that this process runs, in the files that it reads at its start.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A user with a token. RBAC decides its permissions; `system:masters` has all. */
export interface User {
  readonly name: string;
  readonly groups?: readonly string[];
}

const admin: User = { name: 'admin', groups: ['system:masters'] };

export interface Credentials {
  readonly adminToken: string;
  /** For `--token-auth-file`. */
  readonly tokenFile: string;
  /** The private key that signs and verifies service account tokens, PEM. */
  readonly serviceAccountKeyFile: string;
  readonly tokens: ReadonlyMap<string, string>;
}

/** Generates a token for each user and the administrator, and a signing key, and writes them to the folder. */
export function writeCredentials(folder: string, users: readonly User[]): Credentials {
  const newToken = (): string => randomBytes(16).toString('hex');
  const adminToken = newToken();
  const tokens = new Map([...users.map(({ name }) => [name, newToken()] as const), [admin.name, adminToken]]);
  const tokenFile = join(folder, 'tokens.csv');
  const lines = [admin, ...users].map((user) => tokenLine(user, tokens.get(user.name) ?? ''));
  writeFileSync(tokenFile, lines.join(''), { mode: 0o600 });
  const serviceAccountKeyFile = join(folder, 'service-account.key');
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  writeFileSync(serviceAccountKeyFile, privateKey.export({ type: 'sec1', format: 'pem' }), { mode: 0o600 });
  return { adminToken, tokenFile, serviceAccountKeyFile, tokens };
}

function tokenLine(user: User, token: string): string {
  return `${token},${user.name},${user.name},"${(user.groups ?? []).join(',')}"\n`;
}

interface KubeconfigContext {
  readonly url: string;
  readonly ca: string;
  readonly token: string;
}

/** A self-contained kubeconfig with one context, as JSON. */
export function kubeconfigText({ url, ca, token }: KubeconfigContext): string {
  const name = 'control-plane';
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server: url, 'certificate-authority-data': Buffer.from(ca).toString('base64') } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}
