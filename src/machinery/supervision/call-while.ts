import type { Clock } from '../ports/clock.ts';
import { abortReason } from './abort-reason.ts';

interface Condition {
  readonly clock: Clock;
  /** Time between two checks. */
  readonly everyMs: number;
  /** Must not throw. */
  readonly isWanted: () => boolean;
}

/** The result of the call. Its signal aborts when a check finds that it is not wanted any more. */
export async function callWhile<T>(condition: Condition, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const ended = new AbortController();
  const unwanted = new AbortController();
  void abortWhenUnwanted(condition, unwanted, ended.signal);
  try {
    return await call(unwanted.signal);
  } finally {
    ended.abort(abortReason);
  }
}

async function abortWhenUnwanted(condition: Condition, unwanted: AbortController, ended: AbortSignal): Promise<void> {
  const { clock, everyMs, isWanted } = condition;
  while (!ended.aborted && !unwanted.signal.aborted) {
    await clock.sleep(everyMs, ended);
    if (!ended.aborted && !isWanted()) unwanted.abort(abortReason);
  }
}
