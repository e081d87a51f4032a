import { pressureSetter } from '../../src/hollow-cluster/kubelet/node-status/condition-setters.ts';
import type { StatusSetter } from '../../src/hollow-cluster/kubelet/node-status/setter-context.ts';

interface DiskMountPressureOptions {
  /** Mounts to watch, by path. */
  readonly mounts: readonly string[];
  /** The node is under pressure if a mount is at least this full, in percent. */
  readonly thresholdPercent: number;
}

/**
 * An example of a custom condition: DiskMountPressure holds while any of the mounts is at least as full as the
 * threshold, and after that for the transition period of the kubelet's own pressures.
 *
 * Three properties of custom conditions: if the kubelet stops reporting, a node lifecycle controller sets Ready and the
 * three pressures to Unknown, and no other condition: this one keeps its last status. No taint follows from it unless a
 * controller is written to set one. And a kubelet never removes a condition: when the setter is removed, the last
 * reported condition stays.
 */
export function diskMountPressure({ mounts, thresholdPercent }: DiskMountPressureOptions): StatusSetter {
  return pressureSetter({
    type: 'DiskMountPressure',
    isUnderPressure({ machine, hold }) {
      const isFull = mounts.some((path) => machine.mountUsage(path) >= thresholdPercent);
      return hold('DiskMountPressure', isFull);
    },
  });
}
