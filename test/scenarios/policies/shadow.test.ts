// Shadow mode compares with the policies in force.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPolicy } from '../../support/builders.ts';
import { ShadowWorld } from '../../support/shadow-world.ts';

/** The cluster has no policies. */
async function outcomesOf(policy: Parameters<typeof aPolicy>[0], seconds: number): Promise<readonly string[]> {
  await using shadow = new ShadowWorld({ policies: [aPolicy(policy)] });
  shadow.populate({ now: undefined });
  shadow.world.start();
  shadow.start();
  await shadow.silentFor(seconds, 'a0');
  return shadow.outcomes();
}

test('a longer grace period of a policy: the cluster marks the node first', async () => {
  const outcomes = await outcomesOf({ nodeMonitorGracePeriodMs: 120_000 }, 200);
  assert.ok(outcomes.includes('node-unknown node/a0 later 70 s'), outcomes.join('; '));
});

test('mode Observe: the acts are of the cluster only', async () => {
  const outcomes = await outcomesOf({ mode: 'Observe' }, 700);
  assert.ok(outcomes.includes('node-unknown node/a0 only_cluster'), outcomes.join('; '));
});
