import type { Clock } from '../ports/clock.ts';
import type { InformerStatus } from './informer.ts';

/** What is known about the stream behind an informer, kept up to date by its list-watch. */
export class StreamRecord {
  readonly #clock: Clock;
  state: InformerStatus['state'] = 'idle';
  resourceVersion = '';
  consecutiveFailures = 0;
  #synced = false;
  #lastFrameAtMs: number | undefined;
  #lastListAtMs: number | undefined;
  #lastError: string | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get synced(): boolean {
    return this.#synced;
  }

  /** Bytes arrived: the server is there and so is the way to it. */
  heard(): void {
    this.#lastFrameAtMs = this.#clock.monotonicMs();
    this.consecutiveFailures = 0;
  }

  listed(resourceVersion: string): void {
    this.#lastListAtMs = this.#clock.monotonicMs();
    this.#synced = true;
    this.resourceVersion = resourceVersion;
    this.state = 'watching';
  }

  /** Milliseconds since the last complete state; infinite before the first. */
  listAgeMs(): number {
    return this.#lastListAtMs === undefined ? Infinity : this.#clock.monotonicMs() - this.#lastListAtMs;
  }

  failed(message: string): void {
    this.consecutiveFailures += 1;
    this.#lastError = message;
  }

  snapshot(): InformerStatus {
    return {
      state: this.state,
      synced: this.#synced,
      lastFrameAtMs: this.#lastFrameAtMs,
      lastListAtMs: this.#lastListAtMs,
      consecutiveFailures: this.consecutiveFailures,
      resourceVersion: this.resourceVersion,
      lastError: this.#lastError,
    };
  }
}
