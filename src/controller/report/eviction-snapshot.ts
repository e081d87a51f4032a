// The current state of eviction mode, for explanations. Keeps no state.
import type { NodeView } from '../../machinery/api/node.ts';
import type { PodView } from '../../machinery/api/pod.ts';
import { estimateEvictionDueMs } from './estimate-hypotheses.ts';
import type { EvictedNodesReport, NodeEvictionReport, PodBrief } from './reports.ts';
import { graceOf, readyOf } from '../health/assess-node.ts';
import { toMonotonicMs, recordOf, type SnapshotSources } from './report-sources.ts';

type Evictor = NonNullable<SnapshotSources['stages']['podEvictor']>;

/** Which nodes are about to be evicted, and what happens to their pods. */
export class EvictionSnapshot {
  readonly #sources: SnapshotSources;
  readonly #evictor: Evictor;

  constructor(sources: SnapshotSources, evictor: Evictor) {
    this.#sources = sources;
    this.#evictor = evictor;
  }

  of(node: NodeView): NodeEvictionReport {
    const mark = this.#evictor.markOf(node.name);
    const dueMs = this.#dueMs(node);
    if (dueMs === undefined) return { mark, dueAtMs: undefined, beforeMs: [] };
    const beforeMs = this.#duesBefore(node, dueMs).map((atMs) => toMonotonicMs(atMs, this.#sources));
    return { mark, dueAtMs: toMonotonicMs(dueMs, this.#sources), beforeMs };
  }

  /** Why the pod, which is to be deleted, waits. */
  waitOf(pod: PodView): PodBrief['wait'] {
    return this.#evictor.waitOf(pod);
  }

  nodes(): EvictedNodesReport {
    return { timed: this.#evictor.notQueued().length, evicted: this.#evictor.evictedCount };
  }

  /** Whether the pod is already terminating, or kept because of this DaemonSet. */
  fateOf(pod: PodView): { readonly terminating: boolean; readonly daemonSet: string | undefined } {
    const fate = this.#evictor.fateOf(pod);
    return {
      terminating: fate.fate === 'terminating',
      daemonSet: fate.fate === 'spared' ? fate.daemonSet : undefined,
    };
  }

  /** Time at which a node is due, on the health clock, as are the times of the nodes before it. */
  #dueMs(node: NodeView): number | undefined {
    const { stages, options } = this.#sources;
    const record = recordOf(node, this.#sources);
    if (record === undefined) return undefined;
    const times = {
      timeoutMs: options.current().podEvictionTimeoutMs,
      silentFromMs: record.heartbeatAtMs + graceOf(record, options.current()).graceMs + 1,
      nowMs: stages.freshness.nowMs(),
    };
    return estimateEvictionDueMs({ ...record, ready: readyOf(node) }, times);
  }

  #duesBefore(node: NodeView, dueMs: number): readonly number[] {
    const others = this.#evictor.notQueued();
    const place = others.indexOf(node.name);
    const zone = this.#sources.stages.policies.zoneOf(node);
    return others
      .slice(0, place < 0 ? others.length : place)
      .filter((name) => this.#zoneOfNode(name) === zone)
      .flatMap((name) => this.#evictor.dueAtMs(name) ?? [])
      .filter((atMs) => atMs <= dueMs);
  }

  #zoneOfNode(name: string): string | undefined {
    const node = this.#sources.informers.nodes.store.get(name);
    return node && this.#sources.stages.policies.zoneOf(node);
  }
}
