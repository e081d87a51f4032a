import type { Problem } from './describe-problem.ts';
import type { StreamEvent } from './parse-event-stream.ts';

/** What a stream of events is for. */
export interface StreamListener {
  /** The server answers. `date`: the header of its answer. */
  opened(date: string | null): void;
  received(event: StreamEvent): void;
  /** The stream ended; the next attempt is in `retryMs`. */
  lost(problem: Problem, retryMs: number): void;
}
