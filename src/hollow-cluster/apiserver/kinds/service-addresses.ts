/**
 * Addresses and node ports of Services (upstream `pkg/registry/core/service/ipallocator`, `portallocator`). The next free one
 * is taken, above the part of each range that is for those that users choose.
 */
import type { WriteContext } from '../registry/strategy.ts';
import { mapsAt } from '../select-field.ts';

/** The service network, 10.96.0.0/16, and its first addresses, which are not allocated. */
const network = [10, 96] as const;
const chosenAddresses = 256;
const addressesMax = 65_534;
const nodePorts = { first: 30_000, allocatedFrom: 30_086, last: 32_767 } as const;

/** The address of the Service `kubernetes`, which exists from the start. */
export const kubernetesAddress = addressAt(1);

/** What the stored Services use. */
export class ServiceAllocations {
  readonly #addresses = new Set<string>();
  readonly #ports = new Set<number>();
  /** The protocols of ports that were taken here. */
  readonly #own = new Map<number, Set<string>>();

  constructor({ objects }: WriteContext, exceptUid: string | undefined) {
    for (const stored of objects.table('services').now().from('')) {
      if (stored.uid === exceptUid) continue;
      const { spec } = stored.content;
      const addresses = spec?.['clusterIPs'];
      if (Array.isArray(addresses)) for (const address of addresses) this.#addresses.add(String(address));
      for (const { nodePort } of mapsAt(spec, 'ports')) if (typeof nodePort === 'number') this.#ports.add(nodePort);
      const health = spec?.['healthCheckNodePort'];
      if (typeof health === 'number') this.#ports.add(health);
    }
  }

  /** Undefined if all are used. */
  nextAddress(): string | undefined {
    for (let offset = chosenAddresses; offset <= addressesMax; offset += 1) {
      const address = addressAt(offset);
      if (!this.#addresses.has(address)) {
        this.#addresses.add(address);
        return address;
      }
    }
    return undefined;
  }

  /** Why the address that a user chose cannot be used; undefined if it can. */
  takeAddress(address: string): string | undefined {
    if (!isInNetwork(address)) {
      const range = `${network.join('.')}.0.0/16`;
      return `the provided IP (${address}) is not in the valid range. The range of valid IPs is ${range}`;
    }
    if (this.#addresses.has(address)) return 'provided IP is already allocated';
    this.#addresses.add(address);
    return undefined;
  }

  /** Undefined if all are used. */
  nextPort(): number | undefined {
    for (let port: number = nodePorts.allocatedFrom; port <= nodePorts.last; port += 1) {
      if (!this.#ports.has(port)) {
        this.#ports.add(port);
        return port;
      }
    }
    return undefined;
  }

  /** As {@link takeAddress}. Ports of one Service may be one port of the node, for different protocols. */
  takePort(port: number, protocol: string): string | undefined {
    if (port < nodePorts.first || port > nodePorts.last) {
      return `provided port is not in the valid range. The range of valid ports is ${nodePorts.first}-${nodePorts.last}`;
    }
    const own = this.#own.get(port);
    if (this.#ports.has(port) && (own === undefined || own.has(protocol))) return 'provided port is already allocated';
    this.#ports.add(port);
    this.#own.set(port, new Set([...(own ?? []), protocol]));
    return undefined;
  }
}

function addressAt(offset: number): string {
  return [...network, Math.floor(offset / 256), offset % 256].join('.');
}

function isInNetwork(address: string): boolean {
  return /^\d+(\.\d+){3}$/.test(address) && address.startsWith(`${network.join('.')}.`);
}
