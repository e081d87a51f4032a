import type { Machine } from '../profile.ts';

/**
 * The machine of the fleet's node number `index`, from 0: all are alike except for their addresses. Nodes take
 * 10.64.0.0/10, pods 10.128.0.0/9 with a /24 per node; above 32768 nodes the pod subnets repeat.
 */
export function buildMachine(index: number): Machine {
  const high = (index >> 16) & 0x3f;
  const middle = (index >> 8) & 0xff;
  const low = index & 0xff;
  return {
    cpuCores: 8,
    memoryMiB: 32 * 1_024,
    ephemeralStorageMiB: 100 * 1_024,
    podsMax: 110,
    address: `10.${64 + high}.${middle}.${low}`,
    podSubnet: `10.${128 + (middle & 0x7f)}.${low}`,
  };
}
