/** Parses `/api/v1/nodes/NAME/proxy/PATH`, whose last part is the path of a request to the kubelet. */

export interface ProxyPath {
  /** The name with scheme and port, as in `https:node-1:10250`. */
  readonly id: string;
  /** The start of the path that is not forwarded, as the client wrote it. */
  readonly prefix: string;
  /** The path for the kubelet; empty, or it begins with a slash. */
  readonly target: string;
}

interface NodeId {
  readonly scheme: string;
  readonly name: string;
  /** Empty if there is none. */
  readonly port: string;
}

const proxied = ['', 'api', 'v1', 'nodes'];
const schemes: ReadonlySet<string> = new Set(['', 'http', 'https']);

/** Undefined for another path. Parts are decoded before they are compared, as authorization does. */
export function parseProxyPath(path: string): ProxyPath | undefined {
  const parts = path.split('/');
  const decoded = parts.map(decode);
  const [id = '', subresource] = decoded.slice(proxied.length);
  if (!proxied.every((part, index) => decoded[index] === part) || id === '' || subresource !== 'proxy')
    return undefined;
  const start = proxied.length + 2;
  const target = decoded.length > start ? encode(clean(decoded.slice(start).join('/'))) : '';
  return { id, prefix: parts.slice(0, start).join('/'), target };
}

/** `NAME`, `NAME:PORT` or `SCHEME:NAME:PORT` (upstream `net.SplitSchemeNamePort`); undefined for anything else. */
export function parseNodeId(id: string): NodeId | undefined {
  const parts = id.split(':');
  if (parts.length > 3) return undefined;
  const [scheme = '', name = '', port = ''] = parts.length === 3 ? parts : ['', ...parts];
  return name !== '' && schemes.has(scheme) ? { scheme, name, port } : undefined;
}

/** Without empty parts, `.` and `..`, as Go's `path.Join`; a slash at the end stays. */
function clean(path: string): string {
  const kept: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') kept.pop();
    else if (part !== '' && part !== '.') kept.push(part);
  }
  const joined = `/${kept.join('/')}`;
  return path.endsWith('/') && !joined.endsWith('/') ? `${joined}/` : joined;
}

/** As Go encodes a path. */
function encode(path: string): string {
  return encodeURI(path).replace(/[?#!*'()]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    if (error instanceof URIError) return part;
    throw error;
  }
}
