import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import {
  incomparableKeepMsMax,
  mutationKeepMsMax,
  mutationEntriesMax,
  MutationCache,
} from '../../../../src/machinery/informer/mutation-cache.ts';

interface View {
  readonly name: string;
  readonly resourceVersion: string;
}

const at = (version: number | string, name = 'a'): View => ({ name, resourceVersion: String(version) });

describe('the mutation cache', () => {
  let store: Map<string, View>;
  let nowMs: number;
  let listSentAtMs: number | undefined;
  let cache: MutationCache<View>;

  beforeEach(() => {
    store = new Map();
    nowMs = 0;
    listSentAtMs = undefined;
    cache = new MutationCache((name) => store.get(name), { nowMs: () => nowMs, listSentAtMs: () => listSentAtMs });
  });

  const show = (version: number | string): Map<string, View> => store.set('a', at(version));
  const version = (): string | undefined => cache.get('a')?.resourceVersion;

  test('returns an entry for every version in between, until the store has its version', () => {
    show(9);
    assert.equal(cache.remember(at(9), at(100)), true);
    for (const between of [9, 10, 50, 99]) {
      show(between);
      assert.equal(version(), '100', `the store has ${between}`);
    }
    show(100);
    assert.equal(version(), '100');
    assert.equal(cache.size, 0);
    show(101);
    assert.equal(version(), '101');
  });

  test('drops an entry when the store was listed since: a restore of etcd undid the write', () => {
    show(9);
    nowMs = 1_000;
    cache.remember(at(9), at(100));
    listSentAtMs = 1_000;
    assert.equal(version(), '100', 'the list may have been answered before the write');
    listSentAtMs = 1_001;
    assert.equal(version(), '9');
    nowMs = 2_000;
    cache.remember(at(9), at(10));
    assert.equal(version(), '10');
  });

  test('drops entries that the store has passed', () => {
    show(120);
    assert.equal(cache.remember(at(9), at(100)), false);
    assert.equal(version(), '120');
    cache.remember(undefined, at(120));
    assert.equal(cache.size, 0);
  });

  test('returns the most recent of entries added out of order', () => {
    show(9);
    cache.remember(at(9), at(100));
    cache.remember(at(9), at(90));
    assert.equal(version(), '100');
    cache.remember(at(100), at(110));
    assert.equal(version(), '110');
  });

  test('does not restore a deleted object', () => {
    show(9);
    cache.remember(at(9), at(100));
    store.delete('a');
    assert.equal(version(), undefined);
    cache.remember(at(9), at(100));
    assert.equal(version(), undefined, 'the response to a write before the deletion');
    assert.equal(cache.size, 0);
  });

  test('returns objects that the store never had, until they expire or are removed', () => {
    cache.remember(undefined, at(100));
    assert.equal(version(), '100');
    nowMs += mutationKeepMsMax + 1;
    assert.equal(version(), undefined);
    cache.remember(undefined, at(100));
    cache.forget('a');
    assert.equal(version(), undefined);
  });

  test('drops entries when the store is rolled back, as after a restore from a backup', () => {
    show(90);
    cache.remember(at(90), at(100));
    assert.equal(version(), '100');
    show(40);
    assert.equal(version(), '40');
  });

  test('with versions that are not numbers, drops an entry at the first version not known to be older', () => {
    show('x');
    cache.remember(at('x'), at('y'));
    cache.remember(at('y'), at('z'));
    assert.equal(version(), 'z');
    show('y');
    assert.equal(version(), 'z');
    show('w');
    assert.equal(version(), 'w');
  });

  test('with versions that are not numbers, takes the later read, whatever was known before it', () => {
    show('x');
    assert.equal(cache.remember(at('w'), at('y')), true);
    assert.equal(version(), 'y', 'the store has gone on since the request');
    assert.equal(cache.remember(at('x'), at('z')), true);
    show('y');
    assert.equal(version(), 'z', 'an earlier response was older too');
    assert.equal(cache.remember(at('y'), at('v')), true);
    assert.equal(version(), 'v');
    show('v');
    assert.deepEqual([version(), cache.size], ['v', 0]);
    assert.equal(cache.remember(at('u'), at('v')), false, 'nothing new');
  });

  test('with versions that are not numbers, an answer that was older after all is dropped soon', () => {
    show('x');
    cache.remember(at('x'), at('old'));
    nowMs += incomparableKeepMsMax;
    assert.equal(version(), 'old');
    nowMs += 1;
    assert.equal(version(), 'x');
    show(9);
    cache.remember(at(9), at(100));
    nowMs += incomparableKeepMsMax + 1;
    assert.equal(version(), '100');
  });

  test('is bounded in size', () => {
    for (let index = 0; index < mutationEntriesMax + 5; index += 1) cache.remember(undefined, at(5, `n${index}`));
    assert.equal(cache.size, mutationEntriesMax);
    assert.equal(cache.get('n0'), undefined);
    assert.equal(cache.get(`n${mutationEntriesMax}`)?.resourceVersion, '5');
  });
});
