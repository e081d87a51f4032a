import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeEvaluator } from '../../../../src/apiserver/quota/evaluators.ts';
import { amountsAsJson } from '../../../../src/apiserver/quota/merge-amounts.ts';
import { noMeasurement } from '../../../../src/apiserver/quota/select-scopes.ts';
import { UsageSum } from '../../../../src/apiserver/quota/usage-sum.ts';
import { buildStored } from '../../../../src/apiserver/registry/stored-version.ts';
import { makeStrategies } from '../../../../src/apiserver/registry/strategies.ts';
import type { Draft, StoredObject } from '../../../../src/apiserver/storage/stored-object.ts';
import { VersionedStore } from '../../../../src/apiserver/storage/versioned-store.ts';
import { SeededRandom } from '../../../support/fakes.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const strategy = makeStrategies(300).get('pods');
const evaluator = makeEvaluator('pods');
const subject = { namespace: 'a', names: ['pods', 'count/pods', 'requests.cpu'], selectors: [] };

function open(eventsMax = 1_000) {
  const store = new VersionedStore({
    clock: new ManualClock(),
    resources: ['pods'],
    window: { eventsMin: eventsMax, eventsMax },
  });
  const put = (draft: Draft): StoredObject => {
    assert.ok(strategy);
    return store.put('pods', (revision) => buildStored(strategy, draft, revision, []));
  };
  const remove = (draft: Draft): StoredObject => {
    assert.ok(strategy);
    return store.remove('pods', (revision) => buildStored(strategy, draft, revision, []));
  };
  const measured: string[] = [];
  const sum = (): UsageSum =>
    new UsageSum(store.table('pods'), subject, (object) => {
      measured.push(object.key);
      return evaluator?.measure(object.content) ?? noMeasurement;
    });
  return { store, put, remove, sum, measured };
}

function pod(namespace: string, name: string, cpu: number, more: Partial<Draft> = {}): Draft {
  const resources = { requests: { cpu: String(cpu) } };
  return { spec: { containers: [{ name: 'c', resources }] }, ...more, metadata: { namespace, name, ...more.metadata } };
}

test('after any changes a sum that was kept is the sum of all objects', () => {
  for (const eventsMax of [5, 1_000]) {
    const { store, put, remove, sum } = open(eventsMax);
    const random = new SeededRandom(eventsMax);
    const kept = sum();
    for (let step = 0; step < 2_000; step += 1) {
      const [namespace, name] = [random.next() < 0.7 ? 'a' : 'b', `p${Math.floor(random.next() * 12)}`];
      const draft = pod(namespace, name, Math.floor(random.next() * 5));
      if (random.next() < 0.2) draft.status = { phase: 'Succeeded' };
      if (random.next() < 0.2) {
        const seconds = String(Math.floor(random.next() * 60)).padStart(2, '0');
        Object.assign(draft.metadata, {
          deletionTimestamp: `1970-01-01T00:00:${seconds}Z`,
          deletionGracePeriodSeconds: 0,
        });
      }
      const exists = store.get('pods', `${namespace}/${name}`) !== undefined;
      if (exists && random.next() < 0.4) remove(draft);
      else put(draft);
      if (random.next() < 0.5) continue;
      const [actual, expected] = [kept, sum()].map((one) => one.read(store.revision, 30_000));
      assert.ok(actual && expected);
      assert.deepEqual(amountsAsJson(actual.used), amountsAsJson(expected.used), `step ${step}`);
      assert.ok(actual.changesAtMs <= expected.changesAtMs && actual.changesAtMs >= 30_000);
    }
  }
});

test('a reading measures only what changed', () => {
  const { store, put, sum, measured } = open();
  for (let index = 0; index < 100; index += 1) put(pod('a', `p${index}`, 1));
  const kept = sum();
  kept.read(store.revision, 0);
  measured.length = 0;
  put(pod('a', 'new', 1));
  put(pod('b', 'other', 1));
  for (let index = 0; index < 3; index += 1) put(pod('a', 'p7', index));
  assert.deepEqual(amountsAsJson(kept.read(store.revision, 0).used), {
    'count/pods': '101',
    pods: '101',
    'requests.cpu': '102',
  });
  assert.deepEqual(measured, ['a/new', 'a/p7', 'a/p7']);
});

test('a pod in its grace period is counted until that is over', () => {
  const { store, put, sum } = open();
  const deletion = { deletionTimestamp: '1970-01-01T00:00:10Z', deletionGracePeriodSeconds: 5 };
  put(pod('a', 'p', 1, { metadata: deletion }));
  const kept = sum();
  const reading = kept.read(store.revision, 15_000);
  assert.equal(reading.changesAtMs, 15_000);
  assert.equal(amountsAsJson(reading.used)['pods'], '1');
  const later = kept.read(store.revision, 15_001);
  assert.equal(later.changesAtMs, Number.POSITIVE_INFINITY);
  assert.deepEqual(amountsAsJson(later.used), { 'count/pods': '1', pods: '0', 'requests.cpu': '0' });
});

test('readings make a pass over the pods in their grace period only when one is over', () => {
  const { store, put } = open();
  let read = 0;
  const kept = new UsageSum(store.table('pods'), subject, (object) => {
    const measurement = evaluator?.measure(object.content) ?? noMeasurement;
    const { later } = measurement;
    const counted = {
      get later() {
        read += 1;
        return later;
      },
    };
    return Object.assign(counted, { usage: measurement.usage, scopes: measurement.scopes });
  });
  for (let index = 0; index < 50; index += 1) {
    const deletion = { deletionTimestamp: `1970-01-01T00:00:${10 + index}Z`, deletionGracePeriodSeconds: 5 };
    put(pod('a', `p${index}`, 1, { metadata: deletion }));
  }
  const pods = (nowMs: number): string | undefined => amountsAsJson(kept.read(store.revision, nowMs).used)['pods'];
  assert.equal(pods(15_000), '50');
  read = 0;
  for (let nowMs = 14_000; nowMs <= 15_000; nowMs += 100) assert.equal(pods(nowMs), '50');
  assert.equal(read, 0);
  assert.deepEqual([15_001, 30_001, 40_000].map(pods), ['49', '34', '25']);
  assert.equal(pods(20_000), '45', 'the clock was set back');
});

test('after many changes of other namespaces a reading adds up the objects instead of reading the changes', () => {
  const { store, put, sum, measured } = open(10_000);
  put(pod('a', 'p', 1));
  const kept = sum();
  kept.read(store.revision, 0);
  const readAfter = (changes: number): readonly string[] => {
    measured.length = 0;
    for (let index = 0; index < changes; index += 1) put(pod('b', 'p', index));
    assert.equal(amountsAsJson(kept.read(store.revision, 0).used)['requests.cpu'], '1');
    return measured;
  };
  assert.deepEqual(readAfter(500), []);
  assert.deepEqual(readAfter(5_000), ['a/p']);
  assert.deepEqual(readAfter(500), []);
});
