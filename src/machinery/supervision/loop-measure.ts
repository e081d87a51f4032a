import type { Labels, Meter } from '../ports/meter.ts';
import {
  longestRunning,
  queueAdds,
  queueDepth,
  queueDuration,
  queueRetries,
  unfinishedWork,
  workDuration,
} from './metrics.ts';

export interface Measured {
  /** Value of the `name` label of every metric. */
  readonly name: string;
  readonly meter: Meter;
}

/** Records the metrics of one work loop (client-go `workqueue` metrics). Does nothing without a meter. */
export class LoopMeasure {
  readonly #meter: Meter | undefined;
  readonly #labels: Labels;
  readonly #startedAtMs = new Map<string, number>();

  constructor(measured: Measured | undefined) {
    this.#meter = measured?.meter;
    this.#labels = { name: measured?.name ?? '' };
    this.setGauges(0, 0);
  }

  added(): void {
    this.#meter?.add(queueAdds, 1, this.#labels);
  }

  /** A worker took the key `waitedMs` after it became due. */
  taken(key: string, waitedMs: number, nowMs: number): void {
    this.#startedAtMs.set(key, nowMs);
    this.#meter?.observe(queueDuration, Math.max(0, waitedMs) / 1_000, this.#labels);
  }

  /** `again`: the key is queued again. */
  done(key: string, again: boolean, nowMs: number): void {
    const tookMs = nowMs - (this.#startedAtMs.get(key) ?? nowMs);
    this.#startedAtMs.delete(key);
    this.#meter?.observe(workDuration, tookMs / 1_000, this.#labels);
    if (!again) return;
    this.#meter?.add(queueRetries, 1, this.#labels);
    this.added();
  }

  /** Sets the gauges. */
  setGauges(depth: number, nowMs: number): void {
    const runningMs = [...this.#startedAtMs.values()].map((startedAtMs) => nowMs - startedAtMs);
    const sumMs = runningMs.reduce((sum, ms) => sum + ms, 0);
    this.#meter?.set(queueDepth, depth, this.#labels);
    this.#meter?.set(unfinishedWork, sumMs / 1_000, this.#labels);
    this.#meter?.set(longestRunning, Math.max(0, ...runningMs) / 1_000, this.#labels);
  }
}
