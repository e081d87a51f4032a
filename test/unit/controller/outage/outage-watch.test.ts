import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aZonedWorld, names } from '../../../support/zoned-world.ts';
import type { ControlPlaneEvidence } from '../../../../src/controller/model/decisions.ts';
import { planHoldMsMax } from '../../../../src/controller/outage/outage-watch.ts';

test('a zone that failed and vanished leaves no state', async () => {
  await using world = aZonedWorld({ a: 3, b: 12 }).start();
  await world.silentFor(55, ...names(3, 'a-'));
  assert.equal(world.lifecycle.stages.outage.announced, 1);
  for (const name of names(3, 'a-')) world.removeNode(name);
  await world.advance(400);
  assert.equal(world.lifecycle.stages.outage.announced, 0);
});

type Case = readonly [
  zones: number,
  evidence: ControlPlaneEvidence,
  configuredMs: number | undefined,
  expectedMs: number,
];

const cases: readonly Case[] = [
  [3, 'none', undefined, 300_000],
  [3, 'renewing', undefined, 300_000],
  [3, 'silent', undefined, 300_000],
  [1, 'none', undefined, 60_000],
  [1, 'renewing', undefined, 60_000],
  [1, 'partly-silent', undefined, 60_000],
  [1, 'silent', undefined, 300_000],
  [1, 'none', 120_000, 120_000],
  [1, 'silent', 30_000, 30_000],
  [3, 'none', 120_000, 120_000],
  [3, 'silent', 0, 0],
  [1, 'none', -1_000, Infinity],
];

for (const [zones, evidence, configuredMs, expectedMs] of cases) {
  test(`a hold in ${zones} zones, control plane ${evidence}, flag ${configuredMs}: ${expectedMs} ms at most`, () => {
    const controlPlane = { together: 0, of: 0, evidence };
    assert.equal(planHoldMsMax({ zones, controlPlane }, configuredMs), expectedMs);
  });
}
