/**
 * Merges the pods that a source sends with those that it sent before (kubelet `config.podStorage.merge`). Nothing is
 * changed in place: a changed pod is replaced, and objects that a source handed over are shared but never modified. So
 * a receiver never sees a pod change, and an informer's objects never get the kubelet's annotations.
 */
import { sameJson } from '../../../machinery/api/json-values.ts';
import type { Pod } from '../../../machinery/api/pod.ts';
import { configAnnotations, isTerminating, podFullName, uidOf } from './classify-pod.ts';
import type { PodOperation, PodSourceName, PodUpdate } from './pod-update.ts';

/** A pod of one source. `seen` is the object that was last compared: the same object again contains no change. */
interface StoredPod {
  readonly pod: Pod;
  readonly seen: Pod;
}

/** By uid. */
export type SourcePods = ReadonlyMap<string, StoredPod>;

/** Input from a source: everything it has (`SET`), some of it, or what it no longer has (`REMOVE`). */
export interface PodInput {
  readonly op: PodOperation;
  readonly source: PodSourceName;
  readonly pods: readonly Pod[];
}

/** The result of a merge; each pod is in at most one group. */
interface PodChanges {
  readonly removes: readonly Pod[];
  readonly adds: readonly Pod[];
  readonly updates: readonly Pod[];
  readonly deletes: readonly Pod[];
  readonly reconciles: readonly Pod[];
}

interface MergedPods extends PodChanges {
  /** All pods of the source after the merge. */
  readonly pods: SourcePods;
  /** Ignored: another pod of the same input has the same full name. */
  readonly duplicates: readonly Pod[];
}

interface MergeInput {
  readonly known: SourcePods;
  readonly input: PodInput;
  /** Set on new pods, as RFC 3339 text. */
  readonly seenAt: string;
}

/** The kubelet's local annotations: values of other clients neither count as a change nor are taken over. */
const localAnnotations: readonly string[] = [
  configAnnotations.source,
  configAnnotations.mirror,
  configAnnotations.seen,
];

/** Merges one input. `RECONCILE` is not an input: it changes nothing. */
export function mergePods({ known, input, seenAt }: MergeInput): MergedPods {
  switch (input.op) {
    case 'SET':
      return mergeSet(known, input, seenAt);
    case 'ADD':
    case 'UPDATE':
    case 'DELETE':
      return upsertPods(known, new Map(known), input, seenAt);
    case 'REMOVE':
      return removePods(known, input);
    case 'RECONCILE':
      return { ...nothing, pods: known };
  }
}

const nothing = { removes: [], adds: [], updates: [], deletes: [], reconciles: [], duplicates: [] } as const;

function mergeSet(known: SourcePods, input: PodInput, seenAt: string): MergedPods {
  const merged = upsertPods(known, new Map(), input, seenAt);
  const removes = [...known].filter(([uid]) => !merged.pods.has(uid)).map(([, { pod }]) => pod);
  return { ...merged, removes };
}

function removePods(known: SourcePods, { pods }: PodInput): MergedPods {
  const left = new Map(known);
  const removes = pods.flatMap((pod) => known.get(uidOf(pod)) ?? []).filter(({ pod }) => left.delete(uidOf(pod)));
  return { ...nothing, pods: left, removes: removes.map(({ pod }) => pod) };
}

type PodChangeKind = 'adds' | 'updates' | 'deletes' | 'reconciles' | 'same';

function upsertPods(known: SourcePods, target: Map<string, StoredPod>, input: PodInput, seenAt: string): MergedPods {
  const changes: Record<PodChangeKind, Pod[]> = { adds: [], updates: [], deletes: [], reconciles: [], same: [] };
  const duplicates: Pod[] = [];
  const names = new Set<string>();
  for (const pod of input.pods) {
    const name = podFullName(pod);
    if (names.has(name)) duplicates.push(pod);
    else {
      names.add(name);
      const { kind, stored } = mergePod(known.get(uidOf(pod)), pod, input.source, seenAt);
      target.set(uidOf(pod), stored);
      changes[kind].push(stored.pod);
    }
  }
  const { adds, updates, deletes, reconciles } = changes;
  return { ...nothing, pods: target, adds, updates, deletes, reconciles, duplicates };
}

interface MergedPod {
  readonly kind: PodChangeKind;
  readonly stored: StoredPod;
}

function mergePod(known: StoredPod | undefined, pod: Pod, source: PodSourceName, seenAt: string): MergedPod {
  if (known === undefined) return { kind: 'adds', stored: { pod: annotated(pod, source, seenAt), seen: pod } };
  if (known.seen === pod) return { kind: 'same', stored: known };
  if (differs(known.pod, pod)) {
    const stored = { pod: renewed(known.pod, pod), seen: pod };
    return { kind: isTerminating(pod) ? 'deletes' : 'updates', stored };
  }
  if (sameJson(known.pod.status ?? {}, pod.status ?? {})) {
    return { kind: 'same', stored: { pod: known.pod, seen: pod } };
  }
  return { kind: 'reconciles', stored: { pod: withStatus(known.pod, pod), seen: pod } };
}

function annotated(pod: Pod, source: PodSourceName, seenAt: string): Pod {
  const own = { [configAnnotations.source]: source, [configAnnotations.seen]: seenAt };
  return { ...pod, metadata: { ...pod.metadata, annotations: { ...pod.metadata.annotations, ...own } } };
}

function differs(known: Pod, pod: Pod): boolean {
  return !sameJson(comparable(known), comparable(pod));
}

/**
 * The fields that count as a change; finalizers, owners and resourceVersion do not (kubelet `podsDifferSemantically`).
 */
function comparable({ metadata, spec }: Pod): object {
  const { labels, deletionTimestamp, deletionGracePeriodSeconds, annotations } = metadata;
  const deletion = withoutUndefined({ deletionTimestamp, deletionGracePeriodSeconds });
  return { spec: spec ?? {}, labels: labels ?? {}, deletion, annotations: foreign(annotations ?? {}) };
}

/**
 * The known pod with the fields of the new one: spec, labels, deletion, status, and the generation, which the status
 * refers to. The kubelet's local annotations stay (kubelet `checkAndUpdatePod`).
 */
function renewed(known: Pod, pod: Pod): Pod {
  const { labels: _labels, deletionTimestamp: _at, deletionGracePeriodSeconds: _grace, ...kept } = known.metadata;
  const { labels, deletionTimestamp, deletionGracePeriodSeconds, generation } = pod.metadata;
  const updated = { labels, deletionTimestamp, deletionGracePeriodSeconds, generation };
  const annotations = { ...foreign(pod.metadata.annotations ?? {}), ...own(known.metadata.annotations ?? {}) };
  const metadata = { ...kept, ...withoutUndefined(updated), annotations };
  const { spec: _spec, ...rest } = known;
  return withStatus({ ...rest, metadata, ...(pod.spec === undefined ? {} : { spec: pod.spec }) }, pod);
}

function withStatus(known: Pod, { status }: Pod): Pod {
  const { status: _status, ...rest } = known;
  return status === undefined ? rest : { ...rest, status };
}

type Annotations = Readonly<Record<string, string>>;

function foreign(annotations: Annotations): Annotations {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => !localAnnotations.includes(key)));
}

function own(annotations: Annotations): Annotations {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => localAnnotations.includes(key)));
}

type Defined<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined | null> };

function withoutUndefined<T extends object>(fields: T): Defined<T>;
function withoutUndefined(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));
}

/**
 * Mode in which changes are delivered (kubelet `config.PodConfigNotificationMode`). `incremental`, the only mode that the
 * sync loop supports: each group of changes as one update. `snapshot`: all pods of all sources, whenever anything but a
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
