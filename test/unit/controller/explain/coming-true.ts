import assert from 'node:assert/strict';
import type { Estimate } from '../../../../src/controller/explain/outlook.ts';
import type { ControllerWorld } from '../../../support/controller-world.ts';

export function secondsOf(estimate: Estimate | null | undefined): number {
  assert.ok(estimate && estimate.inSeconds !== null, 'it has a time');
  return estimate.inSeconds;
}

/**
 * What is said to happen then has not happened just before, and has just after. `slack`: the pass over the lines comes ten
 * times a second, and each turn before ours may wait for one.
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
