import { customConditions, diskPressure, memoryPressure, outOfDisk, pidPressure, ready } from './condition-setters.ts';
import { declaredFeatures, machineSetters } from './machine-setters.ts';
import type { StatusSetter } from './setter-context.ts';

/** Only written once it is known what is in use: a kubelet that just started would wipe what it has to find again. */
const volumesInUse: StatusSetter = {
  name: 'VolumesInUse',
  set(node, { volumes }) {
    if (!volumes.hasSynced()) return node;
    const { volumesInUse: _, ...status } = node.status ?? {};
    const inUse = volumes.volumesInUse();
    return { ...node, status: inUse.length === 0 ? status : { ...status, volumesInUse: inUse } };
  },
};

/** Writes nothing: it tells when somebody has closed the node to new pods, or opened it again. */
const schedulable: StatusSetter = {
  name: 'Schedulable',
  set(node, { memory, recordNodeStatusEvent }) {
    const unschedulable = node.spec?.unschedulable === true;
    if (unschedulable === memory.unschedulable) return node;
    memory.unschedulable = unschedulable;
    recordNodeStatusEvent('Normal', unschedulable ? 'NodeNotSchedulable' : 'NodeSchedulable');
    return node;
  },
};

const chains: Readonly<Record<'classic' | 'modern', readonly StatusSetter[]>> = {
  classic: [
    ...machineSetters.classic,
    outOfDisk,
    memoryPressure,
    diskPressure,
    customConditions,
    ready,
    volumesInUse,
    schedulable,
  ],
  modern: [
    ...machineSetters.modern,
    memoryPressure,
    diskPressure,
    pidPressure,
    customConditions,
    ready,
    volumesInUse,
    schedulable,
    declaredFeatures,
  ],
};

/**
 * The chain, in the order that is a promise to readers of old: the machine, the pressures, conditions of one's own
 * (those set by hand and `extra`), Ready as the last condition, then what is not a condition (kubelet
 * `defaultNodeStatusFuncs`). Throws a RangeError for one of one's own that wants to stand before a setter that is not there.
 */
export function statusSetters(
  kind: 'classic' | 'modern' = 'modern',
  extra: readonly StatusSetter[] = [],
): readonly StatusSetter[] {
  if (extra.length === 0) return chains[kind];
  const chain = [...chains[kind]];
  for (const setter of extra) {
    const anchor = setter.before ?? 'Ready';
    const place = chain.findIndex(({ name }) => name === anchor);
    if (place < 0) throw new RangeError(`no status setter of this name: ${anchor}`);
    chain.splice(place, 0, setter);
  }
  return chain;
}
