/** Waits for the promise, but no longer than until the signal aborts. Rejects as the promise does; leaves no listener. */
export async function untilSettledOrAborted(promise: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const left = Promise.withResolvers<void>();
  const leave = (): void => {
    left.resolve();
  };
  signal.addEventListener('abort', leave);
  if (signal.aborted) leave();
  try {
    await Promise.race([promise, left.promise]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}
