import type { Pod } from '../../../machinery/api/pod.ts';
import type { PodChanges } from './merge-pods.ts';
import type { PodOperation, PodSourceName, PodUpdate } from './pod-update.ts';

/**
 * How changes are delivered (kubelet `config.PodConfigNotificationMode`). `incremental`, the only mode that the sync
 * loop supports: each group of changes as one update. `snapshot`: all pods of all sources, whenever anything but a
 * status changed. `snapshot-and-updates`: all pods if some were added or removed, otherwise the changes.
 */
export type NotificationMode = 'incremental' | 'snapshot' | 'snapshot-and-updates';

interface DeliveryInput {
  readonly mode: NotificationMode;
  readonly source: PodSourceName;
  readonly changes: PodChanges;
  /** True for the first complete list of the source. */
  readonly firstSet: boolean;
  /** All pods of all sources; called only if they are delivered. */
  readonly all: () => readonly Pod[];
}

/** The updates that result from one merge, in order. Empty groups are omitted. */
export function planDeliveries(input: DeliveryInput): readonly PodUpdate[] {
  switch (input.mode) {
    case 'incremental':
      return planIncremental(input);
    case 'snapshot':
      return planSnapshot(input);
    case 'snapshot-and-updates':
      return planSnapshotAndUpdates(input);
  }
}

/** Removals come first: a static pod that was edited must stop under its old uid before it starts under its new one. */
function planIncremental({ source, changes, firstSet }: DeliveryInput): readonly PodUpdate[] {
  const { removes, adds, updates, deletes, reconciles } = changes;
  const silent = adds.length + updates.length + deletes.length === 0;
  return [
    ...updateOf('REMOVE', source, removes),
    ...updateOf('ADD', source, adds),
    ...updateOf('UPDATE', source, updates),
    ...updateOf('DELETE', source, deletes),
    // A source without pods sends one empty ADD, so that the sync loop counts it as ready.
    ...(firstSet && silent ? [{ op: 'ADD', source, pods: [] } as const] : []),
    ...updateOf('RECONCILE', source, reconciles),
  ];
}

function planSnapshot({ source, changes, firstSet, all }: DeliveryInput): readonly PodUpdate[] {
  const { removes, adds, updates, deletes } = changes;
  const changed = removes.length + adds.length + updates.length + deletes.length > 0;
  return changed || firstSet ? [{ op: 'SET', source, pods: all() }] : [];
}

function planSnapshotAndUpdates({ source, changes, firstSet, all }: DeliveryInput): readonly PodUpdate[] {
  const { removes, adds, updates, deletes } = changes;
  const moved = removes.length + adds.length > 0;
  return [
    ...(moved || firstSet ? [{ op: 'SET', source, pods: all() } as const] : []),
    ...updateOf('UPDATE', source, updates),
    ...updateOf('DELETE', source, deletes),
  ];
}

function updateOf(op: PodOperation, source: PodSourceName, pods: readonly Pod[]): readonly PodUpdate[] {
  return pods.length === 0 ? [] : [{ op, source, pods }];
}
