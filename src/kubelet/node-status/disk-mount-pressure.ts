import { pressureSetter } from './condition-setters.ts';
import type { StatusSetter } from './setter-context.ts';

export interface DiskMountPressureOptions {
  /** Mounts to watch, by path. */
  readonly mounts: readonly string[];
  /** From this share of a mount on the node is under pressure. */
  readonly thresholdPercent: number;
}

/**
 * A condition of one's own, as an example of how to add one: DiskMountPressure holds while any of the mounts is as full
 * as the threshold says, and for as long after that as the kubelet's own pressures do.
 *
 * Whoever adds such a condition should know three things. A node lifecycle controller that has lost contact turns Ready
 * and the three pressures to Unknown, and no other condition: this one goes on saying what it last said. No taint follows
 * from it unless somebody teaches a controller to set one. And a kubelet never takes a condition away: when the setter
 * is left out again, its last word stays.
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
