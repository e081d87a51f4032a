/** The headers of a request and of its response as a proxy forwards them (Go's `httputil.ReverseProxy`, upstream `proxy.Transport`). */

/** By name in lower case. */
export type ForwardedHeaders = Readonly<Record<string, string | readonly string[]>>;

/** They concern one connection, not the request. */
const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'proxy-connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]);
/** They are for the API server, which has used them: the kubelet must not receive credentials of a client. */
const consumed = /^(?:authorization|expect|impersonate-.*)$/;
const crossOrigin = /^access-control-allow-(?:credentials|headers|methods|origin)$/;

interface RequestOrigin {
  readonly host: string;
  readonly remoteAddress: string;
  /** The path with which the client requested it. */
  readonly uri: string;
}

/** `raw` has names and values by turns; HTTP/2 has the method and the path among them. */
export function buildRequestHeaders(raw: readonly string[], origin: RequestOrigin): ForwardedHeaders {
  const lists = listsOf(raw);
  const kept = [...lists].filter(([name]) => !name.startsWith(':') && !consumed.test(name));
  const forwarded = [...(lists.get('x-forwarded-for') ?? []), origin.remoteAddress].filter((part) => part !== '');
  return {
    ...headersOf(endToEnd(kept, lists)),
    ...(lists.has('cookie') ? { cookie: (lists.get('cookie') ?? []).join('; ') } : {}),
    host: origin.host,
    'x-forwarded-for': forwarded.join(', '),
    'x-forwarded-uri': origin.uri,
  };
}

interface ResponseContext {
  /** Of the path of the request that was not forwarded. */
  readonly prefix: string;
  /** `host:port` of the server that answered, and of this server as the client reached it. */
  readonly hosts: readonly string[];
}

/** A redirect to a path of the same server leads through the proxy again. */
export function buildResponseHeaders(raw: readonly string[], context: ResponseContext): ForwardedHeaders {
  const lists = listsOf(raw);
  const kept = endToEnd([...lists], lists).filter(([name]) => !crossOrigin.test(name));
  const location = lists.get('location')?.[0];
  return {
    ...headersOf(kept),
    ...(location === undefined ? {} : { location: forwardedLocation(location, context) }),
  };
}

function forwardedLocation(location: string, { prefix, hosts }: ResponseContext): string {
  const [, authority, path = ''] = /^(?:(?:https?:)?\/\/([^/?#]*))?(.*)$/is.exec(location) ?? [];
  const isOther = authority !== undefined && !hosts.includes(authority);
  if (isOther || !path.startsWith('/')) return location;
  return path.startsWith(prefix) ? path : prefix + path;
}

type HeaderList = readonly [name: string, values: readonly string[]];

function listsOf(raw: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const lists = new Map<string, string[]>();
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = (raw[index] ?? '').toLowerCase();
    const value = raw[index + 1] ?? '';
    const values = lists.get(name);
    if (values === undefined) lists.set(name, [value]);
    else values.push(value);
  }
  return lists;
}

/** Also without the headers that `Connection` names. */
function endToEnd(headers: readonly HeaderList[], all: ReadonlyMap<string, readonly string[]>): readonly HeaderList[] {
  const named = new Set(
    (all.get('connection') ?? []).flatMap((value) =>
      value
        .toLowerCase()
        .split(',')
        .map((name) => name.trim()),
    ),
  );
  return headers.filter(([name]) => !hopByHop.has(name) && !named.has(name));
}

function headersOf(headers: readonly HeaderList[]): ForwardedHeaders {
  return Object.fromEntries(headers.map(([name, values]) => [name, values.length === 1 ? (values[0] ?? '') : values]));
}
