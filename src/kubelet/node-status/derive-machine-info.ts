import type { Node, NodeImage } from '../../api/node.ts';
import { formatBinary, formatDecimal, parseQuantity } from '../../api/quantity.ts';
import type { Machine, MachineImage } from '../profile.ts';

/** Name as in the API, then the value. */
type Quantities = Readonly<Record<string, string>>;

const bytesPerMiB = 1_024 * 1_024;
/** Names that one image may have in a status (upstream `MaxNamesPerImageInNodeStatus`). */
const namesPerImageMax = 5;

/** One address as an InternalIP, a second one of the machine beside it, and the hostname (kubelet setter `NodeAddress`). */
export function deriveAddresses(
  machine: Machine,
  hostname: string,
): readonly { readonly type: string; readonly address: string }[] {
  const { address, secondAddress } = machine;
  const internal = secondAddress === undefined ? [address] : [address, secondAddress];
  return [...internal.map((one) => ({ type: 'InternalIP', address: one })), { type: 'Hostname', address: hostname }];
}

export interface CapacityFacts {
  /** Undefined when the machine does not say. */
  readonly machine: Machine | undefined;
  readonly podsMax: number;
  readonly podsPerCore: number;
  readonly extended: ReadonlyMap<string, { readonly capacity: number; readonly allocatable?: number }>;
}

/**
 * Capacity and allocatable (kubelet setter `MachineInfo`). What others put there stays, but for extended resources that
 * are allocatable without any capacity. A machine that does not say what it is has nothing, and room for pods.
 */
export function deriveCapacity(node: Node, facts: CapacityFacts): Node {
  const capacity = { ...node.status?.capacity, ...ownCapacity(facts), ...extendedAmounts(facts, false) };
  const kept = Object.entries(node.status?.allocatable ?? {}).filter(
    ([name]) => name in capacity || !isExtendedResource(name),
  );
  const allocatable = {
    ...Object.fromEntries(kept),
    ...deriveAllocatable(capacity, facts.machine),
    ...extendedAmounts(facts, true),
  };
  return { ...node, status: { ...node.status, capacity, allocatable } };
}

function ownCapacity({ machine, podsMax, podsPerCore }: CapacityFacts): Quantities {
  if (machine === undefined) return { cpu: '0', memory: '0', pods: String(podsMax) };
  const pods = podsPerCore > 0 ? Math.min(machine.cpuCores * podsPerCore, podsMax) : podsMax;
  const hugePages = Object.entries(machine.hugePages ?? {}).map(([name, mebibytes]) => [
    name,
    binaryQuantity(mebibytes),
  ]);
  return {
    cpu: String(machine.cpuCores),
    'ephemeral-storage': binaryQuantity(machine.ephemeralStorageMiB),
    memory: binaryQuantity(machine.memoryMiB),
    pods: String(pods),
    ...Object.fromEntries(hugePages),
  };
}

function extendedAmounts({ machine, extended }: CapacityFacts, healthy: boolean): Quantities {
  if (machine === undefined) return {};
  const amounts = [...extended].map(([name, { capacity, allocatable = capacity }]) => [
    name,
    formatDecimal(healthy ? allocatable : capacity),
  ]);
  return Object.fromEntries(amounts);
}

/** What is left after the reservations, never less than nothing; huge pages are memory that is spoken for. */
function deriveAllocatable(capacity: Quantities, machine: Machine | undefined): Quantities {
  const reserved = machine?.reserved ?? {};
  const hugeBytes = Object.keys(capacity)
    .filter(isHugePages)
    .map((name) => parseQuantity(capacity[name] ?? '') ?? 0);
  const huge = hugeBytes.reduce((sum, bytes) => sum + bytes, 0);
  const less: Readonly<Record<string, number>> = {
    cpu: reserved.cpu ?? 0,
    memory: (reserved.memory ?? 0) * bytesPerMiB + huge,
    'ephemeral-storage': (reserved['ephemeral-storage'] ?? 0) * bytesPerMiB,
  };
  const left = Object.entries(capacity).map(([name, amount]) => [name, subtract(name, amount, less[name] ?? 0)]);
  return Object.fromEntries(left);
}

function subtract(name: string, amount: string, less: number): string {
  if (less === 0) return amount;
  const left = Math.max(0, (parseQuantity(amount) ?? 0) - less);
  return name === 'cpu' ? formatDecimal(left) : formatBinary(left);
}

/** One that a device plugin or an operator brought: its name has a domain of its own (upstream `IsExtendedResourceName`). */
export function isExtendedResource(name: string): boolean {
  return name.includes('/') && !name.includes('kubernetes.io/') && !name.startsWith('requests.');
}

export function isHugePages(name: string): boolean {
  return name.startsWith('hugepages-');
}

/** The largest images first, as many as may be told, each with its digests and then its tags (kubelet setter `Images`). */
export function deriveImages(images: readonly MachineImage[], imagesMax: number): readonly NodeImage[] {
  const sorted = images.toSorted((a, b) => b.sizeBytes - a.sizeBytes);
  return (imagesMax < 0 ? sorted : sorted.slice(0, imagesMax)).map(({ digests, tags, sizeBytes }) => ({
    names: [...digests, ...tags].slice(0, namesPerImageMax),
    sizeBytes,
  }));
}

/** The shortest exact form, as the API server writes it back. */
export function binaryQuantity(mebibytes: number): string {
  return formatBinary(mebibytes * bytesPerMiB);
}
