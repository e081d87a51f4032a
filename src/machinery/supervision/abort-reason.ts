/**
 * The reason of aborts that only end a wait or a call: a reason of its own for each would take a stack trace, which costs more
 * than the wait.
 */
export const abortReason = new DOMException('aborted', 'AbortError');
