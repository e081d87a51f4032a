import type { Node } from '../../../machinery/api/node.ts';
import { formatBinary } from '../../../machinery/api/quantity.ts';
import type { Machine } from '../profile.ts';

const bytesPerMiB = 1_024 * 1_024;

/** One address as an InternalIP, and the hostname (kubelet setter `NodeAddress`). */
export function buildAddresses(
  { address }: Machine,
  hostname: string,
): readonly { readonly type: string; readonly address: string }[] {
  return [
    { type: 'InternalIP', address },
    { type: 'Hostname', address: hostname },
  ];
}

/** Capacity and allocatable, which are equal here (kubelet setter `MachineInfo`). Entries of other clients stay. */
export function buildCapacity(
  { status = {} }: Node,
  { cpuCores, memoryMiB, ephemeralStorageMiB, podsMax }: Machine,
): Pick<NonNullable<Node['status']>, 'capacity' | 'allocatable'> {
  const capacity = {
    ...status.capacity,
    cpu: String(cpuCores),
    'ephemeral-storage': binaryQuantity(ephemeralStorageMiB),
    memory: binaryQuantity(memoryMiB),
    pods: String(podsMax),
  };
  return { capacity, allocatable: { ...status.allocatable, ...capacity } };
}

/** The shortest exact form, as the API server writes it back. */
export function binaryQuantity(mebibytes: number): string {
  return formatBinary(mebibytes * bytesPerMiB);
}
