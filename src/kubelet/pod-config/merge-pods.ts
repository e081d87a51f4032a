/**
 * What a source says, merged with what it said before (kubelet `config.podStorage.merge`). Nothing is changed in place:
 * a pod that changes is replaced, and what a source handed over stays as it is, shared where it is only read. So nobody
 * who was given a pod sees it change, and no informer's object gets our annotations.
 */
import type { Pod } from '../../api/pod.ts';
import { sameJson } from '../diff-json.ts';
import { configAnnotations, podFullName } from './classify-pod.ts';
import type { PodOperation, PodSourceName } from './pod-update.ts';

/** A pod of one source. `seen` is the very object that was last compared: met again, it has nothing new to say. */
export interface StoredPod {
  readonly pod: Pod;
  readonly seen: Pod;
}

/** By uid. */
export type SourcePods = ReadonlyMap<string, StoredPod>;

/** What a source sends: everything it has (`SET`), some of it, or what it no longer has (`REMOVE`). */
export interface PodInput {
  readonly op: PodOperation;
  readonly source: PodSourceName;
  readonly pods: readonly Pod[];
}

/** What a merge found, each pod in one group at most. */
export interface PodChanges {
  readonly removes: readonly Pod[];
  readonly adds: readonly Pod[];
  readonly updates: readonly Pod[];
  readonly deletes: readonly Pod[];
  readonly reconciles: readonly Pod[];
}

export interface MergedPods extends PodChanges {
  /** What the source has now. */
  readonly pods: SourcePods;
  /** Left out: another pod of the same input bears the same full name. */
  readonly duplicates: readonly Pod[];
}

export interface MergeInput {
  readonly known: SourcePods;
  readonly input: PodInput;
  /** Written onto pods that were not there before, as RFC 3339 text. */
  readonly seenAt: string;
}

/** Our own annotations: what others write there neither counts as a change nor is taken over. */
const localAnnotations: readonly string[] = [
  configAnnotations.source,
  configAnnotations.mirror,
  configAnnotations.seen,
];

/** Merges one input. `RECONCILE` is no input: then nothing happens. */
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

type Verdict = 'adds' | 'updates' | 'deletes' | 'reconciles' | 'same';

function upsertPods(known: SourcePods, target: Map<string, StoredPod>, input: PodInput, seenAt: string): MergedPods {
  const changes: Record<Verdict, Pod[]> = { adds: [], updates: [], deletes: [], reconciles: [], same: [] };
  const duplicates: Pod[] = [];
  const names = new Set<string>();
  for (const pod of input.pods) {
    const name = podFullName(pod);
    if (names.has(name)) duplicates.push(pod);
    else {
      names.add(name);
      const { verdict, stored } = mergePod(known.get(uidOf(pod)), pod, input.source, seenAt);
      target.set(uidOf(pod), stored);
      changes[verdict].push(stored.pod);
    }
  }
  const { adds, updates, deletes, reconciles } = changes;
  return { ...nothing, pods: target, adds, updates, deletes, reconciles, duplicates };
}

interface MergedPod {
  readonly verdict: Verdict;
  readonly stored: StoredPod;
}

function mergePod(known: StoredPod | undefined, pod: Pod, source: PodSourceName, seenAt: string): MergedPod {
  if (known === undefined) return { verdict: 'adds', stored: { pod: annotated(pod, source, seenAt), seen: pod } };
  if (known.seen === pod) return { verdict: 'same', stored: known };
  if (differs(known.pod, pod)) {
    const stored = { pod: renewed(known.pod, pod), seen: pod };
    return { verdict: isDeleted(pod) ? 'deletes' : 'updates', stored };
  }
  if (sameJson(known.pod.status ?? {}, pod.status ?? {})) {
    return { verdict: 'same', stored: { pod: known.pod, seen: pod } };
  }
  return { verdict: 'reconciles', stored: { pod: withStatus(known.pod, pod), seen: pod } };
}

function annotated(pod: Pod, source: PodSourceName, seenAt: string): Pod {
  const own = { [configAnnotations.source]: source, [configAnnotations.seen]: seenAt };
  return { ...pod, metadata: { ...pod.metadata, annotations: { ...pod.metadata.annotations, ...own } } };
}

function differs(known: Pod, pod: Pod): boolean {
  return !sameJson(comparable(known), comparable(pod));
}

/** Only this counts as a change; finalizers, owners and versions do not (kubelet `podsDifferSemantically`). */
function comparable({ metadata, spec }: Pod): object {
  const { labels, deletionTimestamp, deletionGracePeriodSeconds, annotations } = metadata;
  const deletion = withoutUndefined({ deletionTimestamp, deletionGracePeriodSeconds });
  return { spec: spec ?? {}, labels: labels ?? {}, deletion, annotations: foreign(annotations ?? {}) };
}

/**
 * The known pod with what the new one says: spec, labels, deletion, status, and the generation, which tells the status
 * what it is a status of. Our own annotations stay (kubelet `checkAndUpdatePod`).
 */
function renewed(known: Pod, pod: Pod): Pod {
  const { labels: _labels, deletionTimestamp: _at, deletionGracePeriodSeconds: _grace, ...kept } = known.metadata;
  const { labels, deletionTimestamp, deletionGracePeriodSeconds, generation } = pod.metadata;
  const said = { labels, deletionTimestamp, deletionGracePeriodSeconds, generation };
  const annotations = { ...foreign(pod.metadata.annotations ?? {}), ...own(known.metadata.annotations ?? {}) };
  const metadata = { ...kept, ...withoutUndefined(said), annotations };
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

function isDeleted(pod: Pod): boolean {
  return (pod.metadata.deletionTimestamp ?? '') !== '';
}

function uidOf(pod: Pod): string {
  return pod.metadata.uid ?? '';
}
