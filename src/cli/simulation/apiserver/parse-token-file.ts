// Users of `--token-auth-file`, in the format of kube-apiserver: lines of token, user name, uid and, optionally, groups in
// quotes and separated by commas.
import type { TokenUser } from '../../../hollow-cluster/apiserver/http/static-tokens.ts';

type FileUser = Required<TokenUser>;

/** The users, or what is wrong with the file. Tokens are not part of the messages. */
export function parseTokenFile(text: string): { readonly users: readonly FileUser[] } | { readonly problem: string } {
  const users: FileUser[] = [];
  const lines = text.split(/\r?\n/);
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const user = parseUser(line);
    if (typeof user === 'string') return { problem: `line ${index + 1}: ${user}` };
    if (users.some(({ token }) => token === user.token)) return { problem: `line ${index + 1}: repeats a token` };
    users.push(user);
  }
  return { users };
}

/** The user, or the problem. */
function parseUser(line: string): FileUser | string {
  const values = parseValues(line);
  if (values === undefined) return 'a quote has no end';
  const [token = '', user = '', uid, groups = ''] = values;
  if (token === '' || user === '' || uid === undefined) {
    return 'must be token,user,uid or token,user,uid,"group1,group2"';
  }
  return { token, user, uid, groups: groups === '' ? [] : groups.split(',').map((group) => group.trim()) };
}

/** One line of comma-separated values (RFC 4180); undefined if a quoted value does not end. */
function parseValues(line: string): readonly string[] | undefined {
  const values: string[] = [];
  const pattern = /(?:\s*"((?:[^"]|"")*)"\s*|([^",]*))(?:,|$)/y;
  while (pattern.lastIndex < line.length) {
    const match = pattern.exec(line);
    if (match === null) return undefined;
    values.push(match[1]?.replaceAll('""', '"') ?? (match[2] ?? '').trim());
  }
  return line.endsWith(',') ? [...values, ''] : values;
}
