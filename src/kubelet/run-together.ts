/**
 * Runs loops side by side until the signal aborts. When one fails the others are ended too. Resolves, or rejects with
 * the first failure as its cause, only when none of them runs any more.
 */
export async function runTogether(
  signal: AbortSignal,
  loops: readonly ((signal: AbortSignal) => Promise<void>)[],
): Promise<void> {
  const group = new AbortController();
  const stop = (): void => {
    group.abort();
  };
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  const outcomes = await Promise.allSettled(loops.map((loop) => stopOnFailure(loop, group)));
  signal.removeEventListener('abort', stop);
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed !== undefined) throw new Error('a loop of the hollow nodes failed', { cause: failed.reason });
}

async function stopOnFailure(loop: (signal: AbortSignal) => Promise<void>, group: AbortController): Promise<void> {
  try {
    await loop(group.signal);
  } catch (error) {
    group.abort();
    throw error;
  }
}
