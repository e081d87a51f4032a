import type { Ambient } from '../ports/ambient.ts';
import type { EventRecorder } from '../ports/event-recorder.ts';
import type { Random } from '../ports/random.ts';
import type { EventNames } from './event-name.ts';
import type { EventApi } from './event-sink.ts';

/** Options of every broadcaster. */
export interface BroadcasterOptions extends Ambient {
  /** Events need a client with a rate limit of its own; the broadcaster itself does not limit its rate. */
  readonly api: EventApi;
  readonly random: Random;
  /** `source.host` of recorders that are made without a host. */
  readonly host?: string;
  /** Maximum number of queued events; absent or 0: `eventQueueMax`. */
  readonly queueMax?: number;
  /** Shared by broadcasters that record events about the same objects; its own when absent. */
  readonly names?: EventNames;
}

/** Delivers recorded events to the API server, in core/v1 or in events.k8s.io/v1. */
export interface Broadcaster {
  /** Number of events that are recorded and neither written nor dropped yet. */
  readonly pending: number;

  /**
   * A recorder for this component and host. As light as an object: correlation state is kept per source (component and
   * host), and recorders of one source share it.
   */
  recorder(component: string, host?: string): EventRecorder;

  /**
   * Writes recorded events until the signal aborts, then stops at once, even between two tries. No failure of a write
   * rejects it; running it twice at a time does.
   */
  run(signal: AbortSignal): Promise<void>;

  /**
   * Waits until every recorded event is written, at most `timeoutMs`, and resolves with the number of events left. While
   * {@link run} runs it only waits. After that it writes by itself, one try for each event, and closes the broadcaster:
   * events left are dropped, and so are events recorded later.
   */
  flush(timeoutMs: number): Promise<number>;
}
