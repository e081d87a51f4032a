import { forget, type WorkOutcome } from '../../machinery/queueing/work-queue.ts';
import type { WriteOutcome } from './commands.ts';

/**
 * The next step for the key of a level-triggered loop after this write. A failed write is retried; `ifUnwanted` decides
 * for one that was not wanted; a key is dropped after a completed write, or without leadership.
 */
export function nextAfterWrite(outcome: WriteOutcome, ifUnwanted: WorkOutcome): WorkOutcome {
  switch (outcome.result) {
    case 'written':
    case 'gone':
    case 'not-leader':
      return forget;
    case 'unwanted':
      return ifUnwanted;
    case 'held':
      return evaluateAfterHold(outcome.forMs);
    case 'failed':
    case 'refused':
      return retryLater(outcome);
  }
}

/** A write that failed is tried again. After a conflict the newest version is known: no earlier failure delays that attempt. */
export function retryLater(outcome: Extract<WriteOutcome, { result: 'failed' | 'refused' }>): WorkOutcome {
  const isConflict = outcome.result === 'failed' && outcome.reason === 'conflict';
  return { next: 'backoff', atLeastMs: outcome.retryAfterMs, isConflict };
}

/**
 * A change of policies, of the node's labels or of its pause, and a breaker that closes, evaluate the node again; the end of
 * a time does not.
 */
export function evaluateAfterHold(forMs: number): WorkOutcome {
  return Number.isFinite(forMs) ? { next: 'requeue', afterMs: Math.max(0, forMs) } : forget;
}
