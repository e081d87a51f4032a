import { type Loop, LoopGroup } from './loop-group.ts';

/**
 * Runs loops concurrently until the signal aborts. When one fails the others are stopped too. Resolves, or rejects with
 * the first failure as the cause, only when none of them runs any more.
 */
export async function runTogether(signal: AbortSignal, loops: readonly Loop[]): Promise<void> {
  try {
    await new LoopGroup().run(signal, loops);
  } catch (cause) {
    throw new Error('a loop of the hollow nodes failed', { cause });
  }
}
