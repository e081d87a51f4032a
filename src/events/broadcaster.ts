import type { Clock } from '../ports/clock.ts';
import type { EventRecorder } from '../ports/event-recorder.ts';
import type { Logger } from '../ports/logger.ts';
import type { Meter } from '../ports/meter.ts';
import type { Random } from '../ports/random.ts';
import type { EventNames } from './event-name.ts';
import type { EventApi } from './event-sink.ts';
import type { EventHandler, EventWatchers } from './event-watchers.ts';

/** What every broadcaster needs. */
export interface BroadcasterOptions {
  /** Its rate is its own business: give events a client with a lane of its own. */
  readonly api: EventApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly meter: Meter;
  /** The machine that recorders speak for if they do not say which. */
  readonly host?: string;
  /** Events that may wait to be written; absent or 0: `eventQueueMax`. */
  readonly queueMax?: number;
  /** To be shared by broadcasters that tell of the same objects; its own when absent. */
  readonly names?: EventNames;
  /** To be shared by broadcasters that are one to those who watch; its own when absent. */
  readonly watchers?: EventWatchers;
}

/** Carries events from those who record them to the API server, in whichever of its APIs. */
export interface Broadcaster {
  /** Events that were recorded and are not yet written or dropped. */
  readonly pending: number;

  /**
   * A recorder that speaks in this component's name, for this machine where there is one. As light as an object: what is
   * remembered about a source is kept under its name, whoever holds a recorder for it.
   */
  recorder(component: string, host?: string): EventRecorder;

  /** The handler hears of each event that is recorded from now on, told or not. Returns the way to leave. */
  watch(handler: EventHandler, queueMax?: number): () => void;

  /** Hands each event recorded from now on to `write`, as the line that the reference logs. Returns the way to end it. */
  startLogging(write: (line: string) => void): () => void;

  /**
   * Writes what was recorded until the signal aborts, then stops at once, even between two tries. Nothing that happens to
   * an event makes it reject; running it twice at a time does.
   */
  run(signal: AbortSignal): Promise<void>;

  /**
   * Waits until everything recorded is written, `timeoutMs` at most, and resolves with the number of events left. While
   * {@link run} runs it merely waits. After that it writes by itself, one try for each, and is the end: what is left then
   * is forgotten, and what is recorded later is dropped.
   */
  flush(timeoutMs: number): Promise<number>;
}
