import { ownValue } from '../../machinery/api/json-map.ts';
import { findCondition } from '../../machinery/api/conditions.ts';
import type { LeaseView } from '../../machinery/api/lease.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import type { PodView } from '../../machinery/api/pod.ts';
import { taintKeys } from '../../machinery/api/taints.ts';
import { tolerates } from '../../machinery/api/tolerations.ts';
import type { Change } from '../../machinery/informer/informer.ts';
import { zoneLabel } from '../node-fields.ts';
import type { Toleration } from '../scenario/scenario.ts';
import type { TraceEnd, TraceHeader, TraceRecord } from './cluster-trace.ts';

interface ClusterRecorderOptions {
  /** Receives each line, with its newline. */
  readonly write: (line: string) => void;
  /** Monotonic. */
  readonly nowMs: () => number;
  readonly header: TraceHeader;
  /** Replaces names of nodes in the trace. */
  readonly nameOf: (node: string) => string;
  /** The trace ends with the line that would exceed this. */
  readonly bytesMax: number;
}

interface KnownNode {
  readonly zone: string;
  readonly ready: string;
  readonly bootID: string;
  readonly taints: string;
  /** Labels as JSON, because they are compared. */
  readonly labels: string;
}

/** Node of a pod, and the time that it tolerates an unreachable node. */
interface BoundPod {
  readonly node: string;
  readonly key: string;
}

interface Heartbeat {
  readonly renewTime: string | undefined;
  readonly atMs: number;
}

const unreachable = { key: taintKeys.unreachable, effect: 'NoExecute' } as const;
/** Reserved for the last line. */
const endBytes = 200;

/**
 * Writes what a simulation needs of a live cluster: heartbeats that come late, restarts of machines, changes of Ready, zones and taints, and for
 * each node the number of its pods by their toleration. Of labels only the wanted ones are recorded; names of pods and all
 * other fields are not.
 */
export class ClusterRecorder {
  readonly #options: ClusterRecorderOptions;
  readonly #startMs: number;
  readonly #nodes = new Map<string, KnownNode>();
  readonly #heartbeats = new Map<string, Heartbeat>();
  readonly #pods = new Map<string, BoundPod>();
  readonly #counts = new Map<string, Map<string, number>>();
  /** Nodes whose pods changed since {@link writePods}. */
  readonly #changed = new Set<string>();
  #bytes = 0;
  #isFull = false;

  constructor(options: ClusterRecorderOptions) {
    this.#options = options;
    this.#startMs = options.nowMs();
    this.#line(options.header);
  }

  /** Nothing more is recorded, because the trace has reached its maximum size. */
  get isFull(): boolean {
    return this.#isFull;
  }

  get bytes(): number {
    return this.#bytes;
  }

  onNode(change: Change<NodeView>): void {
    const { name } = change.object;
    if (change.kind === 'deleted') {
      this.#nodes.delete(name);
      this.#heartbeats.delete(name);
      return this.#record({ node: name, gone: true });
    }
    const known = this.#nodes.get(name);
    const now = describeNode(change.object, this.#options.header.labels ?? []);
    this.#nodes.set(name, now);
    const changed = diffNodes(known, now);
    if (Object.keys(changed).length > 0) this.#record({ node: name, ...changed });
  }

  onLease(change: Change<LeaseView>): void {
    if (change.kind === 'deleted') return;
    const { name, renewTime } = change.object;
    const known = this.#heartbeats.get(name);
    if (known?.renewTime === renewTime) return;
    const atMs = this.#options.nowMs();
    this.#heartbeats.set(name, { renewTime, atMs });
    if (known !== undefined) this.#noteGap(name, atMs - known.atMs);
  }

  onPod(change: Change<PodView>): void {
    const before = this.#pods.get(change.key);
    const now = change.kind === 'deleted' ? undefined : placeOf(change.object);
    if (before?.node === now?.node && before?.key === now?.key) return;
    if (before !== undefined) this.#count(before, -1);
    if (now === undefined) {
      this.#pods.delete(change.key);
      return;
    }
    this.#pods.set(change.key, now);
    this.#count(now, 1);
  }

  /** Records the pods of each node on which they changed; to be called from time to time. */
  writePods(): void {
    for (const node of this.#changed) {
      if (!this.#nodes.has(node)) continue;
      const counts = [...(this.#counts.get(node) ?? [])].filter(([, count]) => count > 0);
      this.#record({ node, pods: Object.fromEntries(counts) });
      this.#changed.delete(node);
    }
  }

  /** The last lines: gaps that have not ended, and why the recording ends. */
  end(why: TraceEnd['end']): void {
    this.writePods();
    const nowMs = this.#options.nowMs();
    for (const [node, { atMs }] of this.#heartbeats) this.#noteGap(node, nowMs - atMs, true);
    this.#options.write(`${JSON.stringify({ t: this.#seconds(), end: this.#isFull ? 'size' : why })}\n`);
  }

  #noteGap(node: string, gapMs: number, isOpen = false): void {
    if (gapMs <= this.#options.header.gapSeconds * 1_000) return;
    this.#record({ node, gap: Math.round(gapMs) / 1_000, ...(isOpen ? { open: true } : {}) });
  }

  #count({ node, key }: BoundPod, by: number): void {
    const counts = this.#counts.get(node) ?? new Map<string, number>();
    this.#counts.set(node, counts);
    counts.set(key, (counts.get(key) ?? 0) + by);
    this.#changed.add(node);
  }

  #record({ node, ...record }: Omit<TraceRecord, 't'>): void {
    this.#line({ t: this.#seconds(), node: this.#options.nameOf(node), ...record });
  }

  #line(content: object): void {
    if (this.#isFull) return;
    const line = `${JSON.stringify(content)}\n`;
    if (this.#bytes + line.length + endBytes > this.#options.bytesMax) {
      this.#isFull = true;
      return;
    }
    this.#bytes += line.length;
    this.#options.write(line);
  }

  #seconds(): number {
    return Math.round(this.#options.nowMs() - this.#startMs) / 1_000;
  }
}

const noLabels = '{}';

function diffNodes(known: KnownNode | undefined, now: KnownNode): Omit<TraceRecord, 't' | 'node'> {
  const differs = (field: keyof KnownNode, absent?: string): boolean => (known?.[field] ?? absent) !== now[field];
  return {
    ...(differs('zone') ? { zone: now.zone } : {}),
    ...(differs('ready') ? { ready: now.ready } : {}),
    ...(known !== undefined && known.bootID !== '' && differs('bootID') ? { rebooted: true } : {}),
    ...(differs('taints') ? { taints: now.taints === '' ? [] : now.taints.split(' ') } : {}),
    ...(differs('labels', noLabels) ? { labels: parseLabels(now.labels) } : {}),
  };
}

function parseLabels(text: string): Readonly<Record<string, string>> {
  const labels: Readonly<Record<string, string>> = JSON.parse(text);
  return labels;
}

/** `keys`: of the labels to be recorded. */
function describeNode({ labels, conditions, taints, bootID }: NodeView, keys: readonly string[]): KnownNode {
  const chosen = keys.flatMap((key) =>
    ownValue(labels, key) === undefined ? [] : [[key, ownValue(labels, key)] as const],
  );
  return {
    labels: JSON.stringify(Object.fromEntries(chosen)),
    zone: labels[zoneLabel] ?? '',
    ready: findCondition(conditions, 'Ready')?.status ?? 'Unknown',
    bootID,
    taints: taints
      .map(({ key, effect }) => `${key}:${effect}`)
      .sort()
      .join(' '),
  };
}

/** Undefined for a pod that is not bound, or is being deleted. */
function placeOf(pod: PodView): BoundPod | undefined {
  if (pod.nodeName === '' || pod.terminating) return undefined;
  return { node: pod.nodeName, key: String(toleratedBy(pod)) };
}

/** The first matching toleration decides. */
function toleratedBy({ tolerations }: PodView): Toleration {
  const found = tolerations.find((toleration) => tolerates(toleration, unreachable));
  if (found === undefined) return 'none';
  return found.tolerationSeconds ?? 'forever';
}
