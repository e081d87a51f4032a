import type { NodeView } from '../../machinery/api/node.ts';
import { formatTime } from '../../machinery/api/timestamps.ts';
import type { Live } from '../../machinery/ports/live.ts';
import type { Meter } from '../../machinery/ports/meter.ts';
import type { NodeSource } from '../model/commands.ts';
import type { NodePolicy } from '../model/policy.ts';
import { PolicyCounters } from '../model/policy-counters.ts';
import type { LastHeartbeat } from '../model/renewals.ts';
import { earlyDetections, earlySeconds } from './metrics.ts';
import type { ProbedNode } from './probed-nodes.ts';

interface ProvenSilencesOptions {
  readonly options: Live<{ readonly policies: readonly NodePolicy[] }>;
  readonly nodes: NodeSource;
  readonly heartbeatOf: (node: NodeView) => LastHeartbeat | undefined;
  readonly healthNowMs: () => number;
  readonly meter: Meter;
}

type Proven = ProbedNode & { readonly provenAtMs: number };
/** `withdrawn`: the silence begins again, as after a full disruption, or the node is another one. */
type End = (typeof ends)[number];
const ends = ['confirmed', 'heartbeat', 'withdrawn'] as const;

/** Nodes that were silent by probes, until their grace period shows whether that was right. */
export class ProvenSilences {
  readonly #options: ProvenSilencesOptions;
  readonly #proven = new Map<string, Proven>();
  readonly #counters: PolicyCounters;

  constructor(options: ProvenSilencesOptions) {
    this.#options = options;
    this.#counters = new PolicyCounters({
      meter: options.meter,
      policies: () => options.options.current().policies.flatMap(({ name, detection }) => (detection ? name : [])),
      series: [...ends.map((end) => [earlyDetections, { end }] as const), [earlySeconds, {}]],
    });
  }

  get size(): number {
    return this.#proven.size;
  }

  forgetAll(): void {
    this.#proven.clear();
  }

  has({ node, heartbeatAtMs }: Pick<ProbedNode, 'node' | 'heartbeatAtMs'>): boolean {
    return this.#proven.get(node)?.heartbeatAtMs === heartbeatAtMs;
  }

  add(one: ProbedNode): void {
    this.#proven.set(one.node, { ...one, provenAtMs: this.#options.healthNowMs() });
  }

  /** Counts and forgets those whose grace period has ended, or that sent a heartbeat within it. */
  review(): void {
    for (const proven of this.#proven.values()) {
      const end = this.#endOf(proven);
      if (end !== undefined) this.#end(proven, end);
    }
  }

  #endOf({ node: name, heartbeat, heartbeatAtMs, graceMs }: Proven): End | undefined {
    const node = this.#options.nodes.get(name);
    const last = node && this.#options.heartbeatOf(node);
    if (last === undefined) return 'withdrawn';
    if (formatTime(last.wallMs) !== heartbeat) return 'heartbeat';
    if (last.atMs !== heartbeatAtMs) return 'withdrawn';
    return this.#options.healthNowMs() - heartbeatAtMs > graceMs ? 'confirmed' : undefined;
  }

  #end({ node, policy, heartbeatAtMs, graceMs, provenAtMs }: Proven, end: End): void {
    this.#proven.delete(node);
    this.#counters.add(earlyDetections, 1, { policy, end });
    if (end !== 'confirmed') return;
    this.#counters.add(earlySeconds, (heartbeatAtMs + graceMs - provenAtMs) / 1_000, { policy });
  }
}
