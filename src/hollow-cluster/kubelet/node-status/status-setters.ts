import { customConditions, diskPressure, memoryPressure, outOfDisk, pidPressure, ready } from './condition-setters.ts';
import { declaredFeatures, machineSetters } from './machine-setters.ts';
import { mergeStatus, type StatusSetter, withoutField } from './setter-context.ts';

/**
 * Written only after the volumes in use are known: a kubelet that just started would remove entries that it has yet to
 * find.
 */
const volumesInUse: StatusSetter = {
  name: 'VolumesInUse',
  set(node, { volumes }) {
    if (!volumes.hasSynced()) return node;
    const inUse = volumes.volumesInUse();
    return inUse.length === 0 ? withoutField(node, 'volumesInUse') : mergeStatus(node, { volumesInUse: inUse });
  },
};

/** Changes nothing: records an Event when the node becomes unschedulable or schedulable. */
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

const chains: Readonly<Record<'v1.8' | 'v1.36', readonly StatusSetter[]>> = {
  'v1.8': [
    ...machineSetters['v1.8'],
    outOfDisk,
    memoryPressure,
    diskPressure,
    customConditions,
    ready,
    volumesInUse,
    schedulable,
  ],
  'v1.36': [
    ...machineSetters['v1.36'],
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
 * The chain, in an order that clients rely on: machine facts, pressures, custom conditions (forced ones and `extra`),
 * Ready as the last condition, then what is not a condition (kubelet `defaultNodeStatusFuncs`). Throws a RangeError for
 * a custom setter whose `before` names no setter.
 */
export function statusSetters(
  kind: 'v1.8' | 'v1.36' = 'v1.36',
  extra: readonly StatusSetter[] = [],
): readonly StatusSetter[] {
  if (extra.length === 0) return chains[kind];
  const chain = [...chains[kind]];
  for (const setter of extra) {
    const anchor = setter.before ?? 'Ready';
    const index = chain.findIndex(({ name }) => name === anchor);
    if (index < 0) throw new RangeError(`status setter: before must name a setter of the chain (got ${anchor})`);
    chain.splice(index, 0, setter);
  }
  return chain;
}
