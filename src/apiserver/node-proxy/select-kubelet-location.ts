/** Where a request to `nodes/proxy` goes (upstream `node.ResourceLocation`). */
import { mapsAt, numberAt, textAt } from '../select-field.ts';

export interface KubeletLocation {
  readonly host: string;
  readonly port: number;
  readonly secure: boolean;
  /** The endpoint of the kubelet itself: with the client certificate, and with verification if there is a CA. */
  readonly isKubelet: boolean;
}

interface Requested {
  readonly scheme: string;
  readonly port: string;
}

type Selected =
  | { readonly location: KubeletLocation }
  | { readonly problem: 'no address'; readonly message: string }
  | { readonly problem: 'wrong port' | 'no such port' };

/** Upstream `ports.KubeletPort`: of nodes that state none. */
const defaultPort = 10_250;
const portMax = 65_535;

/** `status` is that of the node. The first address of type InternalIP counts. */
export function selectKubeletLocation(status: unknown, { scheme, port }: Requested): Selected {
  const addresses = mapsAt(status, 'addresses');
  const internal = addresses.find((address) => textAt(address, 'type') === 'InternalIP');
  if (internal === undefined) return { problem: 'no address', message: describeMissing(addresses) };
  const host = textAt(internal, 'address');
  const stated = numberAt(status, 'daemonEndpoints', 'kubeletEndpoint', 'Port');
  const kubeletPort = stated > 0 ? stated : defaultPort;
  if (port === '' || port === String(kubeletPort)) {
    return { location: { host, port: kubeletPort, secure: true, isKubelet: true } };
  }
  if (!/^\d+$/.test(port) || Number(port) < 1) return { problem: 'wrong port' };
  if (Number(port) > portMax) return { problem: 'no such port' };
  return { location: { host, port: Number(port), secure: scheme === 'https', isKubelet: false } };
}

function describeMissing(addresses: readonly unknown[]): string {
  const known = addresses.map((address) => `{${textAt(address, 'type')} ${textAt(address, 'address')}}`);
  return `no preferred addresses found; known addresses: [${known.join(' ')}]`;
}
