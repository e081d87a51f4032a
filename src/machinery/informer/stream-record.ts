import type { Clock } from '../ports/clock.ts';
import type { InformerStatus } from './informer.ts';

/** State of the stream behind an informer, updated by its reflector. */
export class StreamRecord implements InformerStatus {
  readonly #clock: Clock;
  state: InformerStatus['state'] = 'idle';
  synced = false;
  lastFrameAtMs: number | undefined;
  lastListAtMs: number | undefined;
  lastListSentAtMs: number | undefined;
  consecutiveFailures = 0;
  resourceVersion = '';
  lastError: string | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records a received frame: server and connection are alive. */
  frameReceived(): void {
    this.lastFrameAtMs = this.#clock.monotonicMs();
    this.consecutiveFailures = 0;
  }

  /** `sentAtMs` is undefined if the server may have sent an older state than its most recent. */
  listed(resourceVersion: string, sentAtMs: number | undefined): void {
    this.lastListAtMs = this.#clock.monotonicMs();
    this.lastListSentAtMs = sentAtMs;
    this.synced = true;
    this.resourceVersion = resourceVersion;
    this.state = 'watching';
  }

  /** Milliseconds since the last complete state; infinite before the first. */
  listAgeMs(): number {
    return this.lastListAtMs === undefined ? Infinity : this.#clock.monotonicMs() - this.lastListAtMs;
  }

  failed(message: string): void {
    this.consecutiveFailures += 1;
    this.lastError = message;
  }
}
