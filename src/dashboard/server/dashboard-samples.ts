import { formatTime } from '../../machinery/api/timestamps.ts';
import type { Sample } from '../protocol.ts';
import { AgeHistogram } from './age-histogram.ts';
import { Sweep } from './sweep.ts';
import type { NotedDecision } from '../../controller/decision-log/decision-log.ts';
import type { Now } from '../../controller/model/node-state.ts';
import { type DashboardSources, readSilence } from './dashboard-sources.ts';

/** Time between two points of the plots. */
export const samplesEverySeconds = 10;

const evictionKinds: ReadonlySet<string> = new Set(['pod-evicted', 'pod-evicted-with-node']);

/**
 * Takes the points of the plots. The heartbeats of all nodes are read once for each point, a part of the nodes with each
 * call, so that no call takes long.
 */
export class DashboardSamples {
  readonly #sources: DashboardSources;
  readonly #nodes: Sweep;
  readonly #ages = new AgeHistogram();
  #silent = 0;
  #evictions = 0;
  #requests: number | undefined;
  #nextAtMs: number | undefined;

  constructor(sources: DashboardSources) {
    this.#sources = sources;
    const { store } = sources.informers.nodes;
    this.#nodes = new Sweep({ names: () => store.keys(), size: () => store.size, steps: samplesEverySeconds });
  }

  note({ decision }: NotedDecision): void {
    if (evictionKinds.has(decision.kind)) this.#evictions += 1;
  }

  /** To be called once a second. Returns a point if its time has come. `onRead`: called for each node that was read. */
  step(now: Now, onRead: (node: string, isSilent: boolean) => void): Sample | undefined {
    if (this.#nextAtMs === undefined) this.#begin(now);
    const healthNowMs = this.#sources.stages.freshness.nowMs();
    for (const name of this.#nodes.next()) this.#read(name, healthNowMs, onRead);
    if (now.monotonicMs < (this.#nextAtMs ?? Infinity)) return undefined;
    // Steps may have been late.
    for (const name of this.#nodes.rest()) this.#read(name, healthNowMs, onRead);
    const sample = this.#take(now);
    this.#begin(now);
    return sample;
  }

  #begin({ monotonicMs }: Now): void {
    const plannedMs = (this.#nextAtMs ?? monotonicMs) + samplesEverySeconds * 1_000;
    // After a pause of the process no points are made up.
    this.#nextAtMs = plannedMs > monotonicMs ? plannedMs : monotonicMs + samplesEverySeconds * 1_000;
    this.#nodes.restart();
    this.#ages.clear();
    this.#silent = 0;
    this.#evictions = 0;
    this.#requests = this.#sources.requestsTotal?.();
  }

  #read(name: string, healthNowMs: number, onRead: (node: string, isSilent: boolean) => void): void {
    const silence = readSilence(name, this.#sources, healthNowMs);
    if (silence === undefined) return;
    if (silence.isSilent) this.#silent += 1;
    else this.#ages.add(silence.ageMs);
    onRead(name, silence.isSilent);
  }

  #take({ wallMs }: Now): Sample {
    const requests = this.#sources.requestsTotal?.();
    return {
      at: formatTime(wallMs),
      silent: this.#silent,
      evictions: this.#evictions,
      requests: requests === undefined ? null : requests - (this.#requests ?? requests),
      heartbeatP50: this.#ages.quantileSeconds(0.5),
      heartbeatP99: this.#ages.quantileSeconds(0.99),
    };
  }
}
