// Waiting for something that tells nobody when it happens.
import { setTimeout as sleep } from 'node:timers/promises';

export interface Waiting {
  readonly timeoutMs: number;
  readonly pollMs?: number;
}

const pollMsDefault = 50;

/** Asks until the answer is not `undefined`. Throws what a question throws, and when time is up. */
export async function waitUntil<T>(
  what: string,
  { timeoutMs, pollMs = pollMsDefault }: Waiting,
  ask: () => Promise<T | undefined> | T | undefined,
): Promise<T> {
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() >= deadlineMs) throw new Error(`${what}: not within ${timeoutMs} ms`);
    await sleep(pollMs);
  }
}
