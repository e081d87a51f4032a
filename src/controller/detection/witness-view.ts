import { ApiError } from '../../machinery/api/api-error.ts';
import type { Clock } from '../../machinery/ports/clock.ts';
import { callWithin } from '../../machinery/supervision/call-within.ts';
import type { WitnessReport, WitnessReports } from '../model/detection.ts';
import type { ProbedNode } from './probed-nodes.ts';

const readMsMax = 2_000;
/** A standby writes its report again within 10 s: an older one is of a process that has ended, or cannot reach the API server. */
const countsForMs = 15_000;

interface WitnessViewOptions {
  readonly reports: WitnessReports;
  readonly clock: Clock;
}

/** What the leader knows of the report of a standby. */
export class WitnessView {
  readonly #options: WitnessViewOptions;
  #report: WitnessReport | undefined;
  /** Who wrote the last report that was read, and when by its own clock. */
  #version: string | undefined;
  /** When it was first read, on the monotonic clock; undefined: it may be older. */
  #newAtMs: number | undefined;
  #readAtMs = -Infinity;

  constructor(options: WitnessViewOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#report?.unanswered.size ?? 0;
  }

  forgetAll(): void {
    this.#report = undefined;
  }

  /** An error proves nothing. */
  async read(signal: AbortSignal): Promise<void> {
    const { clock, reports } = this.#options;
    this.#report = undefined;
    try {
      this.#report = await callWithin({ clock, ms: readMsMax, signal }, (within) => reports.read(within));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return;
    }
    if (this.#report !== undefined) this.#noteAge(this.#report);
    this.#readAtMs = clock.monotonicMs();
  }

  /** One that was not there at the last read is as old as that at most; else the clocks of both must agree that it is not old. */
  #noteAge({ identity, reportedAtMs }: WitnessReport): void {
    const { clock } = this.#options;
    const version = `${identity} ${reportedAtMs}`;
    if (version === this.#version) return;
    const nowMs = clock.monotonicMs();
    const isNew = nowMs - this.#readAtMs <= countsForMs || Math.abs(clock.nowMs() - reportedAtMs) <= countsForMs;
    this.#newAtMs = isNew ? nowMs : undefined;
    this.#version = version;
  }

  /** Another replica, on another node, has found now that the node does not answer since this heartbeat. */
  confirms({ node, heartbeat }: ProbedNode): boolean {
    const { own } = this.#options.reports;
    const report = this.#report;
    if (report === undefined || report.identity === own.identity || !arePlaces(report.place, own.place)) return false;
    const isFresh = this.#newAtMs !== undefined && this.#options.clock.monotonicMs() - this.#newAtMs <= countsForMs;
    return isFresh && report.unanswered.get(node) === heartbeat;
  }
}

/** Two different nodes. A replica that does not know on which node it runs is no second witness. */
function arePlaces(a: string, b: string): boolean {
  return a !== '' && b !== '' && a !== b;
}
