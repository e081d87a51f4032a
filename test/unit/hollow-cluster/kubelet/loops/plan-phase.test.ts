import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { planJittered, planPhase } from '../../../../../src/hollow-cluster/kubelet/loops/plan-phase.ts';

describe('the phase of a node', () => {
  it('is in [0, 1) and the same each time', () => {
    fc.assert(
      fc.property(fc.string(), (name) => {
        const phase = planPhase(name);
        assert.ok(phase >= 0 && phase < 1);
        assert.equal(planPhase(name), phase);
      }),
    );
  });

  it('is evenly distributed for numbered names: each tenth has between 75 % and 125 % of its share', () => {
    const tenths = Array.from({ length: 10 }, () => 0);
    for (let index = 0; index < 5_000; index++) {
      const tenth = Math.floor(planPhase(`node-${index}`) * 10);
      tenths[tenth] = (tenths[tenth] ?? 0) + 1;
    }
    for (const count of tenths) assert.ok(count > 375 && count < 625, tenths.join(' '));
  });
});

describe('a jittered period', () => {
  it('is extended by at most the jitter share', () => {
    assert.equal(planJittered(10_000, 0.04, 0), 10_000);
    assert.equal(planJittered(10_000, 0.04, 0.5), 10_200);
  });
});
