import { setTimeout as sleep } from 'node:timers/promises';
import type { Scene } from '../scene.ts';

const pollMs = 50;

/** Seconds until the condition holds; undefined if it does not within this time. */
export async function secondsUntil(
  limitMs: number,
  isSo: () => Promise<boolean> | boolean,
): Promise<number | undefined> {
  const fromMs = performance.now();
  while (!(await isSo())) {
    if (performance.now() - fromMs >= limitMs) return undefined;
    await sleep(pollMs);
  }
  return (performance.now() - fromMs) / 1_000;
}

/** Seconds until the node is Unknown; undefined if it is not within this time. */
export function secondsUntilUnknown(scene: Scene, node: string, limitMs: number): Promise<number | undefined> {
  return secondsUntil(limitMs, async () => (await scene.readyOf(node)) === 'Unknown');
}
