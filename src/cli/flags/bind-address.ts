/** The address of a server. An empty host means all interfaces; port 0 selects a free port. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** `off` is written `0`, as in controller-runtime. */
export type BindAddress = ListenAddress | 'off';

/** The accepted texts. The largest port is 65535. */
export const bindAddressText =
  /^(?:0|(?:\[([\w:.%]+)\]|([^:[\]\s]*)):(\d{1,4}|[0-5]\d{4}|6[0-4]\d{3}|65[0-4]\d{2}|655[0-2]\d|6553[0-5]))$/;

/** Parses `host:port`, `:port`, `[v6]:port` or `0`; undefined for any other text. */
export function parseBindAddress(text: string): BindAddress | undefined {
  if (text === '0') return 'off';
  const match = bindAddressText.exec(text);
  return match === null ? undefined : { host: match[1] ?? match[2] ?? '', port: Number(match[3]) };
}

export function isBindAddress(value: unknown): value is BindAddress {
  if (typeof value !== 'object' || value === null) return value === 'off';
  return 'host' in value && typeof value.host === 'string' && 'port' in value && typeof value.port === 'number';
}

/** The inverse of {@link parseBindAddress}. */
export function formatBindAddress(address: BindAddress): string {
  if (address === 'off') return '0';
  return address.host.includes(':') ? `[${address.host}]:${address.port}` : `${address.host}:${address.port}`;
}
