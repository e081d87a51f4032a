import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Turnstile } from '../../../src/kubelet/turnstile.ts';
import { settled } from '../../support/manual-clock.ts';

describe('a turnstile', () => {
  it('lets so many in at once, the others in order, and goes on after a failure', async () => {
    const turnstile = new Turnstile(2);
    const inside: string[] = [];
    const acts = ['a', 'b', 'c', 'd'].map((name) => ({ name, end: Promise.withResolvers<string>() }));
    const passed = acts.map(({ name, end }) =>
      turnstile.pass(() => {
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
    assert.deepEqual(
      (await outcomes).map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
    );
    assert.deepEqual(inside, ['a', 'b', 'c', 'd']);
  });
});
