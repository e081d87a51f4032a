import assert from 'node:assert/strict';
import type { Estimate } from '../../src/controller/report/pages.ts';
import type { ControllerWorld } from './controller-world.ts';

export function secondsOf(estimate: Estimate | null | undefined): number {
  assert.ok(estimate && estimate.inSeconds !== null, 'a time is predicted');
  return estimate.inSeconds;
}

/**
 * The predicted event has not happened just before its time, and has just after. `slack`: queues are served ten times
 * per second, and each slot before may be late by one pass.
 */
export async function comesTrue(
  world: ControllerWorld,
  inSeconds: number,
  slack: number,
  happened: () => boolean,
): Promise<void> {
  await world.advance(inSeconds - 0.05);
  assert.equal(happened(), false, `not before ${inSeconds} s`);
  await world.advance(0.05 + slack);
  assert.equal(happened(), true, `after ${inSeconds} s`);
}
