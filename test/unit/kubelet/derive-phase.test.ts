import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { deriveJittered, derivePhase } from '../../../src/kubelet/derive-phase.ts';

describe('the phase of a node', () => {
  it('is a share, and the same each time', () => {
    fc.assert(
      fc.property(fc.string(), (name) => {
        const phase = derivePhase(name);
        assert.ok(phase >= 0 && phase < 1);
        assert.equal(derivePhase(name), phase);
      }),
    );
  });

  it('spreads numbered names evenly: no tenth of the period has a quarter more or less than its part', () => {
    const tenths = Array.from({ length: 10 }, () => 0);
    for (let index = 0; index < 5_000; index++) {
      const tenth = Math.floor(derivePhase(`node-${index}`) * 10);
      tenths[tenth] = (tenths[tenth] ?? 0) + 1;
    }
    for (const count of tenths) assert.ok(count > 375 && count < 625, tenths.join(' '));
  });
});

describe('a jittered period', () => {
  it('is stretched by no more than the share', () => {
    assert.equal(deriveJittered(10_000, 0.04, 0), 10_000);
    assert.equal(deriveJittered(10_000, 0.04, 0.5), 10_200);
  });
});
