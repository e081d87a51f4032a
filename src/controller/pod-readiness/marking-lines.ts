import type { Clock } from '../../ports/clock.ts';
import type { Meter } from '../../ports/meter.ts';
import { RateLimitedLines } from '../../queueing/rate-limited-lines.ts';
import type { RateLimitedQueue } from '../../queueing/rate-limited-queue.ts';
import { markingLineLength, markingLineOldest } from './metrics.ts';

export interface MarkingLinesOptions {
  /** Nodes a second and zone whose pods may be marked; one second's worth at once. Read at each turn. */
  readonly podMarkingRate: number;
  readonly zoneOf: (node: string) => string;
  /** While this is true nobody gets a turn. */
  readonly isHeld: () => boolean;
  readonly clock: Clock;
  readonly meter: Meter;
}

/**
 * Marking the pods of a silent node takes them out of every service, and a storm of it can take a service down that was
 * well. So nodes wait here for their turn, zone by zone; a node that had its turn keeps it until it is heard again.
 */
export class MarkingLines {
  readonly #options: MarkingLinesOptions;
  readonly #lines: RateLimitedLines;
  readonly #admitted = new Set<string>();

  constructor(options: MarkingLinesOptions) {
    this.#options = options;
    const { meter } = options;
    this.#lines = new RateLimitedLines({
      get ratePerSecond() {
        return options.podMarkingRate;
      },
      get burst() {
        return burstOf(options);
      },
      onLength: (zone, length) => {
        if (length === undefined || length === 0) {
          meter.forget(markingLineLength, { zone });
          meter.forget(markingLineOldest, { zone });
        } else meter.set(markingLineLength, length, { zone });
      },
    });
    meter.onRead(() => this.#showOldest());
  }

  /** Who waits for a turn now. */
  waiting(): readonly string[] {
    return this.#lines.keys();
  }

  #showOldest(): void {
    const { clock, meter } = this.#options;
    for (const zone of this.#lines.zones()) {
      const sinceMs = this.#lines.get(zone)?.oldestSinceMs();
      if (sinceMs !== undefined) meter.set(markingLineOldest, (clock.monotonicMs() - sinceMs) / 1_000, { zone });
    }
  }

  admits(node: string): boolean {
    return this.#admitted.has(node);
  }

  waits(node: string): boolean {
    return this.#lines.zoneOf(node) !== undefined;
  }

  /** Puts the node into its zone's line; one that waits keeps its place. */
  join(node: string): void {
    this.#lines.add(node, this.#options.zoneOf(node), this.#options.clock.monotonicMs());
  }

  /** The node is heard again, or is no more: its next silence needs a turn of its own. */
  leave(node: string): void {
    this.#admitted.delete(node);
    this.#lines.remove(node);
  }

  /** Hands out turns as far as the tokens go. Whoever has nothing to mark any more steps out and spends none. */
  serve(wants: (node: string) => boolean, takeTurn: (node: string) => void): void {
    if (this.#options.isHeld()) return;
    for (const zone of this.#lines.zones()) {
      const line = this.#lines.get(zone);
      if (line !== undefined) this.#serveLine(line, wants, takeTurn);
    }
  }

  #serveLine(line: RateLimitedQueue, wants: (node: string) => boolean, takeTurn: (node: string) => void): void {
    const nowMs = this.#options.clock.monotonicMs();
    line.resize(this.#options.podMarkingRate, burstOf(this.#options), nowMs);
    for (let node = line.peekDue(nowMs); node !== undefined; node = line.peekDue(nowMs)) {
      const wanted = wants(node);
      if (wanted && !line.tryTakeToken(nowMs)) return;
      this.#lines.remove(node);
      if (!wanted) continue;
      this.#admitted.add(node);
      takeTurn(node);
    }
  }
}

function burstOf({ podMarkingRate }: Pick<MarkingLinesOptions, 'podMarkingRate'>): number {
  return Math.max(1, podMarkingRate);
}
