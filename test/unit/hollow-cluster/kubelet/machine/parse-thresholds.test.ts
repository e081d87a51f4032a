import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { amountOf, parseThresholds } from '../../../../../src/hollow-cluster/kubelet/machine/parse-thresholds.ts';
import { profileV136 } from '../../../../../src/hollow-cluster/kubelet/profile.ts';

describe('the thresholds of a configuration', () => {
  it('are the five hard defaults, none of them for process ids', () => {
    const thresholds = parseThresholds(profileV136);
    const seen = thresholds.map(({ signal, isHard, graceMs }) => `${signal} ${isHard} ${graceMs}`);
    assert.deepEqual(seen, [
      'memory.available true 0',
      'nodefs.available true 0',
      'nodefs.inodesFree true 0',
      'imagefs.available true 0',
      'imagefs.inodesFree true 0',
    ]);
    const [memory, disk] = thresholds;
    assert.equal(amountOf(memory?.limit ?? { share: 0 }, 1), 100 * 1_024 ** 2);
    assert.equal(amountOf(disk?.limit ?? { share: 0 }, 1_005), 100, 'truncated to an integer');
  });

  it('names the invalid entry in the error', () => {
    const wrong = (config: Partial<typeof profileV136>) => () => parseThresholds({ ...profileV136, ...config });
    assert.throws(wrong({ evictionHard: { 'memory.left': '1' } }), /must be for a known signal \(got memory\.left\)/);
    assert.throws(
      wrong({ evictionHard: { 'memory.available': 'much' } }),
      /memory\.available: must be a quantity >= 0 or a percentage \(got much\)/,
    );
    assert.throws(
      wrong({ evictionHard: { 'memory.available': '-1' } }),
      /memory\.available: must be a quantity >= 0 or a percentage \(got -1\)/,
    );
    assert.throws(
      wrong({ evictionSoft: { 'memory.available': '1' } }),
      /evictionSoft memory\.available: must have an entry in evictionSoftGracePeriod/,
    );
  });
});
