// Counters by policy are exposed at 0 while policies want them, and forgotten afterwards.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PolicyCounters } from '../../../../src/controller/model/policy-counters.ts';
import { counter } from '../../../../src/machinery/ports/meter.ts';
import { RecordingMeter } from '../../../support/fakes.ts';

const counted = counter('counted_total', 'Counted.', ['policy', 'end']);
const saved = counter('saved_total', 'Saved.', ['policy']);

function countersOf(policies: Set<string>): { readonly counters: PolicyCounters; readonly read: () => object } {
  const meter = new RecordingMeter();
  const series = [
    [counted, { end: 'right' }],
    [counted, { end: 'wrong' }],
    [saved, {}],
  ] as const;
  const counters = new PolicyCounters({ meter, policies: () => policies, series });
  return { counters, read: () => Object.fromEntries(meter.read()) };
}

const zeros = {
  'counted_total{policy="a",end="right"}': 0,
  'counted_total{policy="a",end="wrong"}': 0,
  'saved_total{policy="a"}': 0,
};

test('each series of a policy is exposed at 0 before its first count', () => {
  const { counters, read } = countersOf(new Set(['a']));
  assert.deepEqual(read(), zeros);
  counters.add(counted, 1, { policy: 'a', end: 'wrong' });
  counters.add(saved, 2.5, { policy: 'a' });
  const after = { ...zeros, 'counted_total{policy="a",end="wrong"}': 1, 'saved_total{policy="a"}': 2.5 };
  assert.deepEqual(read(), after);
  assert.deepEqual(read(), after, 'a scrape changes no count');
});

test('they are forgotten with the policy, also what is counted of it later; a policy that is back begins at 0', () => {
  const policies = new Set<string>();
  const { counters, read } = countersOf(policies);
  assert.deepEqual(read(), {});
  policies.add('a');
  read();
  counters.add(counted, 1, { policy: 'a', end: 'right' });
  policies.delete('a');
  assert.deepEqual(read(), {});
  counters.add(counted, 1, { policy: 'a', end: 'right' });
  assert.deepEqual(read(), {});
  policies.add('a');
  assert.deepEqual(read(), zeros);
});
