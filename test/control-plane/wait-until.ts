// Polls for a condition.
import { setTimeout as sleep } from 'node:timers/promises';

interface Waiting {
  readonly timeoutMs: number;
  readonly pollMs?: number;
}

const pollMsDefault = 50;

/** Calls `ask` until it returns a value other than false. Throws the errors of `ask`, and after the timeout. */
export async function waitUntil<T>(
  what: string,
  { timeoutMs, pollMs = pollMsDefault }: Waiting,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
): Promise<T> {
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() >= deadlineMs) throw new Error(`${what}: not within ${timeoutMs} ms`);
    await sleep(pollMs);
  }
}
