import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addTo,
  amountsAsJson,
  amountsAt,
  formatAmounts,
  growth,
  raiseTo,
  sameAmounts,
} from '../../../../src/apiserver/quota/merge-amounts.ts';

const of = (amounts: Record<string, string>) => amountsAt(amounts);

test('a sum has the format of its first amount that is not zero, and its shortest form', () => {
  const sums = of({ memory: '0', cpu: '900m', pods: '1' });
  addTo(sums, of({ memory: '512Mi', cpu: '0.1' }));
  addTo(sums, of({ memory: '512Mi', disk: '1e3' }));
  assert.equal(formatAmounts(sums), 'cpu=1,disk=1e3,memory=1Gi,pods=1');
  addTo(sums, of({ memory: '1', disk: '1e3' }));
  assert.deepEqual(amountsAsJson(sums), { cpu: '1', disk: '2e3', memory: '1073741825', pods: '1' });
});

test('the higher amount stays, and only growth counts', () => {
  const highest = of({ cpu: '1', memory: '1Gi' });
  raiseTo(highest, of({ cpu: '1500m', memory: '1023Mi', pods: '1' }));
  assert.equal(formatAmounts(highest), 'cpu=1500m,memory=1Gi,pods=1');
  assert.equal(formatAmounts(growth(highest, of({ cpu: '1', memory: '2Gi' }))), 'cpu=500m,pods=1');
});

test('amounts are the same by value', () => {
  assert.equal(sameAmounts(of({ cpu: '1000m' }), of({ cpu: '1' })), true);
  assert.equal(sameAmounts(of({ cpu: '1' }), of({ memory: '1' })), false);
  assert.equal(sameAmounts(of({ cpu: '1' }), of({ cpu: '1', memory: '0' })), false);
});
