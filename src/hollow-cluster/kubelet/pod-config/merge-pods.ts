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
  readonly source: PodSourceName;
  /** Everything that the source has. */
  readonly pods: readonly Pod[];
  /** Set on new pods, as RFC 3339 text. */
  readonly seenAt: string;
}

/** The kubelet's local annotations: values of other clients neither count as a change nor are taken over. */
const localAnnotations: readonly string[] = [
  configAnnotations.source,
  configAnnotations.mirror,
  configAnnotations.seen,
];

type PodChangeKind = 'adds' | 'updates' | 'deletes' | 'reconciles' | 'same';

/** Merges the complete list of a source with the last one. */
export function mergePods({ known, source, pods, seenAt }: MergeInput): MergedPods {
  const changes: Record<PodChangeKind, Pod[]> = { adds: [], updates: [], deletes: [], reconciles: [], same: [] };
  const merged = new Map<string, StoredPod>();
  const duplicates: Pod[] = [];
  const names = new Set<string>();
  for (const pod of pods) {
    const name = podFullName(pod);
    if (names.has(name)) duplicates.push(pod);
    else {
      names.add(name);
      const { kind, stored } = mergePod(known.get(uidOf(pod)), pod, source, seenAt);
      merged.set(uidOf(pod), stored);
      changes[kind].push(stored.pod);
    }
  }
  const { adds, updates, deletes, reconciles } = changes;
  const removes = [...known].filter(([uid]) => !merged.has(uid)).map(([, { pod }]) => pod);
  return { pods: merged, removes, adds, updates, deletes, reconciles, duplicates };
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

interface DeliveryInput {
  readonly source: PodSourceName;
  readonly changes: PodChanges;
  /** True for the first complete list of the source. */
  readonly firstSet: boolean;
}

/**
 * The updates that result from one merge, in order; empty groups are omitted. Removals come first: a static pod that was
 * edited must stop under its old uid before it starts under its new one.
 */
export function planDeliveries({ source, changes, firstSet }: DeliveryInput): readonly PodUpdate[] {
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

function updateOf(op: PodOperation, source: PodSourceName, pods: readonly Pod[]): readonly PodUpdate[] {
  return pods.length === 0 ? [] : [{ op, source, pods }];
}
