import { hostname } from 'node:os';

/** Names of a server without TLS, besides loopback names. */
interface OwnHosts {
  /** The address that the connection came to, as its socket has it. */
  readonly localAddress: string | undefined;
  /** The host that it listens on, and names that are configured. */
  readonly names: readonly string[];
}

/**
 * Whether a `Host` header names this server: a loopback name, the address that the connection came to, the name of this
 * machine or pod, or one of `names`. A browser sends another name for a page of another site whose name now resolves to
 * this server (DNS rebinding), and would give that page the answer.
 */
export function isOwnHost(header: string, { localAddress = '', names }: OwnHosts): boolean {
  const host = hostOf(header);
  if (host === undefined) return false;
  const own = [addressText(localAddress), hostname().toLowerCase(), ...names.map((name) => name.toLowerCase())];
  return isLoopback({ host }) || own.includes(host);
}

/** In lower case, without the port; an IPv6 address in brackets. */
function hostOf(header: string): string | undefined {
  const host = URL.parse(`http://${header}`)?.hostname.replace(/\.$/, '');
  return host === '' ? undefined : host;
}

function addressText(address: string): string {
  // An IPv4 connection to a socket that listens on all addresses of both families.
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  return plain.includes(':') ? `[${plain}]` : plain;
}

const loopbackName = /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i;

/** Whether this is a name of the loopback interface, without a port. */
export function isLoopback({ host }: { readonly host: string }): boolean {
  return loopbackName.test(host);
}
