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
  /** Tells one queue from another, on every metric. */
  readonly name: string;
  readonly meter: Meter;
}

/** Counts what goes through one work loop (client-go `workqueue` metrics). Without a meter it does nothing. */
export class LoopMeasure {
  readonly #meter: Meter | undefined;
  readonly #labels: Labels;
  readonly #startedAtMs = new Map<string, number>();

  constructor(measured: Measured | undefined) {
    this.#meter = measured?.meter;
    this.#labels = { name: measured?.name ?? '' };
    this.show(0, 0);
  }

  added(): void {
    this.#meter?.add(queueAdds, 1, this.#labels);
  }

  /** A worker took the key, which was due for `waitedMs`. */
  taken(key: string, waitedMs: number, nowMs: number): void {
    this.#startedAtMs.set(key, nowMs);
    this.#meter?.observe(queueDuration, Math.max(0, waitedMs) / 1_000, this.#labels);
  }

  /** `again`: it goes back to wait. */
  done(key: string, again: boolean, nowMs: number): void {
    const tookMs = nowMs - (this.#startedAtMs.get(key) ?? nowMs);
    this.#startedAtMs.delete(key);
    this.#meter?.observe(workDuration, tookMs / 1_000, this.#labels);
    if (!again) return;
    this.#meter?.add(queueRetries, 1, this.#labels);
    this.added();
  }

  /** How it stands now. */
  show(depth: number, nowMs: number): void {
    const runningMs = [...this.#startedAtMs.values()].map((startedAtMs) => nowMs - startedAtMs);
    const sumMs = runningMs.reduce((sum, ms) => sum + ms, 0);
    this.#meter?.set(queueDepth, depth, this.#labels);
    this.#meter?.set(unfinishedWork, sumMs / 1_000, this.#labels);
    this.#meter?.set(longestRunning, Math.max(0, ...runningMs) / 1_000, this.#labels);
  }
}
