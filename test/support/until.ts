import assert from 'node:assert/strict';

const pollMs = 5;

/** Waits until a condition holds, for tests over real sockets. Fails after `limitMs`. */
export async function until(isSo: () => boolean, limitMs = 10_000): Promise<void> {
  const giveUpAtMs = performance.now() + limitMs;
  while (!isSo()) {
    assert.ok(performance.now() < giveUpAtMs, `not so within ${limitMs} ms: ${isSo.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}
