import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Semaphore } from '../../../../../src/hollow-cluster/kubelet/loops/semaphore.ts';
import { settled } from '../../../../support/manual-clock.ts';

describe('a semaphore', () => {
  it('limits concurrency, keeps the order of waiting calls, and continues after a failure', async () => {
    const semaphore = new Semaphore(2);
    const inside: string[] = [];
    const acts = ['a', 'b', 'c', 'd'].map((name) => ({ name, end: Promise.withResolvers<string>() }));
    const passed = acts.map(({ name, end }) =>
      semaphore.pass(() => {
        inside.push(name);
        return end.promise;
      }),
    );
    const outcomes = Promise.allSettled(passed);
    await settled();
    assert.deepEqual(inside, ['a', 'b']);
    acts[1]?.end.reject(new Error('b failed'));
    await settled();
    assert.deepEqual(inside, ['a', 'b', 'c']);
    for (const { name, end } of acts) end.resolve(name);
    const statuses = (await outcomes).map(({ status }) => status);
    assert.deepEqual(statuses, ['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    assert.deepEqual(inside, ['a', 'b', 'c', 'd']);
  });
});
