import { ownValue } from '../../../machinery/api/json-map.ts';
import type { Node, NodeImage } from '../../../machinery/api/node.ts';
import { formatBinary, formatDecimal, parseQuantity } from '../../../machinery/api/quantity.ts';
import type { Machine, MachineImage } from '../profile.ts';

/** Name as in the API, then the value. */
type Quantities = Readonly<Record<string, string>>;

const bytesPerMiB = 1_024 * 1_024;
/** Names that one image may have in a status (upstream `MaxNamesPerImageInNodeStatus`). */
const namesPerImageMax = 5;

/** One address as an InternalIP, an optional second one, and the hostname (kubelet setter `NodeAddress`). */
export function buildAddresses(
  machine: Machine,
  hostname: string,
): readonly { readonly type: string; readonly address: string }[] {
  return [
    ...internalAddresses(machine).map((one) => ({ type: 'InternalIP', address: one })),
    { type: 'Hostname', address: hostname },
  ];
}

/** Primary first. */
export function internalAddresses({ address, secondAddress }: Machine): readonly string[] {
  return secondAddress === undefined ? [address] : [address, secondAddress];
}

interface CapacityFacts {
  /** Undefined if the machine info is not available. */
  readonly machine: Machine | undefined;
  readonly podsMax: number;
  readonly podsPerCore: number;
  readonly extended: ReadonlyMap<string, { readonly capacity: number; readonly allocatable?: number }>;
}

/**
 * Capacity and allocatable (kubelet setter `MachineInfo`). Entries of other clients stay, except for extended resources
 * that are allocatable without a capacity. Without machine info, CPU and memory are 0 and only the pod capacity is set.
 */
export function buildCapacity(
  node: Node,
  facts: CapacityFacts,
): Pick<NonNullable<Node['status']>, 'capacity' | 'allocatable'> {
  const capacity = { ...node.status?.capacity, ...ownCapacity(facts), ...extendedAmounts(facts, false) };
  const allocatable = {
    ...withoutForeignExtended(node.status?.allocatable ?? {}, capacity),
    ...buildAllocatable(capacity, facts.machine),
    ...extendedAmounts(facts, true),
  };
  return { capacity, allocatable };
}

/** Extended resources of other clients are allocatable only with a capacity. */
function withoutForeignExtended(allocatable: Quantities, capacity: Quantities): Quantities {
  const isKept = (name: string): boolean => Object.hasOwn(capacity, name) || !isExtendedResource(name);
  if (Object.keys(allocatable).every(isKept)) return allocatable;
  return Object.fromEntries(Object.entries(allocatable).filter(([name]) => isKept(name)));
}

function ownCapacity({ machine, podsMax, podsPerCore }: CapacityFacts): Quantities {
  if (machine === undefined) return { cpu: '0', memory: '0', pods: String(podsMax) };
  const pods = podsPerCore > 0 ? Math.min(machine.cpuCores * podsPerCore, podsMax) : podsMax;
  return {
    cpu: String(machine.cpuCores),
    'ephemeral-storage': binaryQuantity(machine.ephemeralStorageMiB),
    memory: binaryQuantity(machine.memoryMiB),
    pods: String(pods),
    ...hugePagesOf(machine),
  };
}

function hugePagesOf({ hugePages }: Machine): Quantities {
  if (hugePages === undefined) return {};
  return Object.fromEntries(Object.entries(hugePages).map(([name, mebibytes]) => [name, binaryQuantity(mebibytes)]));
}

function extendedAmounts({ machine, extended }: CapacityFacts, healthy: boolean): Quantities {
  if (machine === undefined || extended.size === 0) return {};
  const amounts = [...extended].map(([name, { capacity, allocatable = capacity }]) => [
    name,
    formatDecimal(healthy ? allocatable : capacity),
  ]);
  return Object.fromEntries(amounts);
}

/** Capacity minus reservations, at least 0; huge pages are subtracted from memory. */
function buildAllocatable(capacity: Quantities, machine: Machine | undefined): Quantities {
  const reserved = machine?.reserved ?? {};
  const hugeBytes = Object.keys(capacity)
    .filter(isHugePages)
    .map((name) => parseQuantity(ownValue(capacity, name) ?? '') ?? 0);
  const huge = hugeBytes.reduce((sum, bytes) => sum + bytes, 0);
  const less: Readonly<Record<string, number>> = {
    cpu: reserved.cpu ?? 0,
    memory: (reserved.memory ?? 0) * bytesPerMiB + huge,
    'ephemeral-storage': (reserved['ephemeral-storage'] ?? 0) * bytesPerMiB,
  };
  const left = Object.entries(capacity).map(([name, amount]) => [
    name,
    subtract(name, amount, ownValue(less, name) ?? 0),
  ]);
  return Object.fromEntries(left);
}

function subtract(name: string, amount: string, less: number): string {
  if (less === 0) return amount;
  const left = Math.max(0, (parseQuantity(amount) ?? 0) - less);
  return name === 'cpu' ? formatDecimal(left) : formatBinary(left);
}

/** A resource of a device plugin or an operator: its name has a domain (upstream `IsExtendedResourceName`). */
function isExtendedResource(name: string): boolean {
  return name.includes('/') && !name.includes('kubernetes.io/') && !name.startsWith('requests.');
}

export function isHugePages(name: string): boolean {
  return name.startsWith('hugepages-');
}

/** The largest images first, up to the limit, each with its digests and then its tags (kubelet setter `Images`). */
export function buildImages(images: readonly MachineImage[], imagesMax: number): readonly NodeImage[] {
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
