import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControlPlaneEvidence } from '../../../../src/controller/model/decisions.ts';
import { planHoldMsMax } from '../../../../src/controller/outage/plan-hold.ts';

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
