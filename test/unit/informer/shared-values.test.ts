import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SharedValues, sharedStructuresMax, sharedTextsMax } from '../../../src/informer/shared-values.ts';

describe('shared values', () => {
  it('gives the first of equal structures for each later one', () => {
    const values = new SharedValues();
    const first = [{ key: 'a', operator: 'Exists' }];
    assert.equal(values.share(first), first);
    assert.equal(values.share([{ key: 'a', operator: 'Exists' }]), first);
    const other = [{ key: 'b', operator: 'Exists' }];
    assert.equal(values.share(other), other);
  });

  it('keeps the names of more nodes than it keeps structures, and of neither more than its bound', () => {
    const values = new SharedValues();
    for (let index = 0; index < sharedTextsMax + 5; index++) values.share(`node-${index}`);
    assert.equal(values.size, sharedTextsMax);
    for (let index = 0; index < sharedStructuresMax + 5; index++) values.share([index]);
    assert.equal(values.size, sharedTextsMax + sharedStructuresMax);
    const late = [sharedStructuresMax + 1];
    assert.equal(values.share(late), late);
    assert.notEqual(values.share([sharedStructuresMax + 1]), late, 'what was passed through is not kept');
  });

  it('leaves what is neither text nor structure as it is', () => {
    const values = new SharedValues();
    assert.deepEqual([values.share(7), values.share(null), values.share(undefined)], [7, null, undefined]);
    assert.equal(values.size, 0);
  });
});
