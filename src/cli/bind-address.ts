/** Where a server listens. An empty host is every interface; port 0 takes a free one. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** `off` is written `0`, as every controller-runtime manager has it. */
export type BindAddress = ListenAddress | 'off';

const portMax = 65_535;
const hostAndPort = /^(?:\[([\w:.%]+)\]|([^:[\]\s]*)):(\d{1,5})$/;

/** Reads `host:port`, `:port`, `[v6]:port` or `0`; undefined for anything else. */
export function parseBindAddress(text: string): BindAddress | undefined {
  if (text === '0') return 'off';
  const match = hostAndPort.exec(text);
  if (match === null) return undefined;
  const port = Number(match[3]);
  return port > portMax ? undefined : { host: match[1] ?? match[2] ?? '', port };
}

/** The inverse of {@link parseBindAddress}. */
export function formatBindAddress(address: BindAddress): string {
  if (address === 'off') return '0';
  return address.host.includes(':') ? `[${address.host}]:${address.port}` : `${address.host}:${address.port}`;
}
