// Eviction mode at this moment, for whoever explains it. Nothing is remembered here.
import type { NodeView } from '../api/node.ts';
import type { PodView } from '../api/pod.ts';
import { zoneOf } from '../api/topology.ts';
import { deriveEvictionDueMs } from './derive-hypotheses.ts';
import type { EvictedNodesFacts, NodeEvictionFacts } from './explain/facts.ts';
import { graceOf, readyOf } from './health/assess-node.ts';
import { onOurClock, recordOf, type SnapshotSources } from './snapshot-sources.ts';

type Evictor = NonNullable<SnapshotSources['stages']['podEvictor']>;

/** How far nodes are on their way to losing their pods, and what becomes of their pods then. */
export class EvictionSnapshot {
  readonly #sources: SnapshotSources;
  readonly #evictor: Evictor;

  constructor(sources: SnapshotSources, evictor: Evictor) {
    this.#sources = sources;
    this.#evictor = evictor;
  }

  of(node: NodeView): NodeEvictionFacts {
    const mark = this.#evictor.markOf(node.name);
    const dueMs = this.#dueMs(node);
    if (dueMs === undefined) return { mark, dueAtMs: undefined, beforeMs: [] };
    const beforeMs = this.#duesBefore(node, dueMs).map((atMs) => onOurClock(atMs, this.#sources));
    return { mark, dueAtMs: onOurClock(dueMs, this.#sources), beforeMs };
  }

  nodes(): EvictedNodesFacts {
    return { timed: this.#evictor.notInLine().length, evicted: this.#evictor.evictedCount };
  }

  /** Deleted by somebody already, or spared on account of this DaemonSet. */
  fateOf(pod: PodView): { readonly terminating: boolean; readonly daemonSet: string | undefined } {
    const fate = this.#evictor.fateOf(pod);
    return {
      terminating: fate.fate === 'terminating',
      daemonSet: fate.fate === 'spared' ? fate.daemonSet : undefined,
    };
  }

  /** On health's clock, as are the times of those before it. */
  #dueMs(node: NodeView): number | undefined {
    const { stages, options } = this.#sources;
    const record = recordOf(node, this.#sources);
    if (record === undefined) return undefined;
    const times = {
      timeoutMs: options.podEvictionTimeoutMs,
      silentFromMs: record.heardAtMs + graceOf(record, options).graceMs + 1,
      nowMs: stages.sight.nowMs(),
    };
    return deriveEvictionDueMs({ ...record, ready: readyOf(node) }, times);
  }

  #duesBefore(node: NodeView, dueMs: number): readonly number[] {
    const others = this.#evictor.notInLine();
    const place = others.indexOf(node.name);
    const zone = zoneOf(node.labels);
    return others
      .slice(0, place < 0 ? others.length : place)
      .filter((name) => this.#zoneOfNode(name) === zone)
      .flatMap((name) => this.#evictor.dueAtMs(name) ?? [])
      .filter((atMs) => atMs <= dueMs);
  }

  #zoneOfNode(name: string): string | undefined {
    const node = this.#sources.informers.nodes.store.get(name);
    return node && zoneOf(node.labels);
  }
}
