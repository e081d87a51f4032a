import type { Pod } from '../../api/pod.ts';
import type { PodChanges } from './merge-pods.ts';
import type { PodOperation, PodSourceName, PodUpdate } from './pod-update.ts';

/**
 * How changes are told (kubelet `config.PodConfigNotificationMode`). `incremental`, the one that the sync loop
 * understands: each group of changes by itself. `snapshot`: all that all sources have, whenever anything but a status
 * changed. `snapshot-and-updates`: all of it where pods came or went, else what changed.
 */
export type NotificationMode = 'incremental' | 'snapshot' | 'snapshot-and-updates';

export interface DeliveryInput {
  readonly mode: NotificationMode;
  readonly source: PodSourceName;
  readonly changes: PodChanges;
  /** The source has never sent everything it has before this. */
  readonly firstSet: boolean;
  /** What all sources have now; asked for only where it is told. */
  readonly all: () => readonly Pod[];
}

/** The messages that one merge leads to, in their order. Groups in which there is nothing are not told. */
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

/** Removals come first: a static pod that was edited has to stop under its old uid before it starts under its new one. */
function planIncremental({ source, changes, firstSet }: DeliveryInput): readonly PodUpdate[] {
  const { removes, adds, updates, deletes, reconciles } = changes;
  const silent = adds.length + updates.length + deletes.length === 0;
  return [
    ...told('REMOVE', source, removes),
    ...told('ADD', source, adds),
    ...told('UPDATE', source, updates),
    ...told('DELETE', source, deletes),
    // A source that has nothing says so once, or the loop would wait for it for ever.
    ...(firstSet && silent ? [{ op: 'ADD', source, pods: [] } as const] : []),
    ...told('RECONCILE', source, reconciles),
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
    ...told('UPDATE', source, updates),
    ...told('DELETE', source, deletes),
  ];
}

function told(op: PodOperation, source: PodSourceName, pods: readonly Pod[]): readonly PodUpdate[] {
  return pods.length === 0 ? [] : [{ op, source, pods }];
}
