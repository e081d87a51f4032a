import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deriveAmount, deriveThresholds } from '../../../../src/kubelet/machine/derive-thresholds.ts';
import { modernProfile } from '../../../../src/kubelet/profile.ts';

describe('the thresholds of a configuration', () => {
  it('are five hard ones where nothing is said, none for process ids', () => {
    const thresholds = deriveThresholds(modernProfile);
    assert.deepEqual(
      thresholds.map(({ signal, isHard, graceMs }) => [signal, isHard, graceMs]),
      [
        ['memory.available', true, 0],
        ['nodefs.available', true, 0],
        ['nodefs.inodesFree', true, 0],
        ['imagefs.available', true, 0],
        ['imagefs.inodesFree', true, 0],
      ],
    );
    const [memory, disk] = thresholds;
    assert.equal(deriveAmount(memory?.limit ?? { share: 0 }, 1), 100 * 1_024 ** 2);
    assert.equal(deriveAmount(disk?.limit ?? { share: 0 }, 1_005), 100, 'whole, as it is counted');
  });

  it('name what cannot be read', () => {
    const wrong = (config: Partial<typeof modernProfile>) => () => deriveThresholds({ ...modernProfile, ...config });
    assert.throws(wrong({ evictionHard: { 'memory.left': '1' } }), /no such eviction signal: memory\.left/);
    assert.throws(wrong({ evictionHard: { 'memory.available': 'much' } }), /memory\.available: got much/);
    assert.throws(wrong({ evictionHard: { 'memory.available': '-1' } }), /memory\.available: got -1/);
    assert.throws(wrong({ evictionSoft: { 'memory.available': '1' } }), /grace period: memory\.available/);
  });
});
