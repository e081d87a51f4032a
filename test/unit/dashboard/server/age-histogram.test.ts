import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AgeHistogram } from '../../../../src/dashboard/server/age-histogram.ts';

test('no age has no quantile, and none after clear', () => {
  const ages = new AgeHistogram();
  assert.equal(ages.quantileSeconds(0.5), null);
  ages.add(1_000);
  ages.clear();
  assert.equal(ages.quantileSeconds(0.5), null);
});

test('a quantile is at most a quarter of a second above the exact one', () => {
  const age = fc.integer({ min: 0, max: 599_000 });
  fc.assert(
    fc.property(fc.array(age, { minLength: 1, maxLength: 200 }), fc.constantFrom(0.5, 0.99), (values, share) => {
      const ages = new AgeHistogram();
      for (const value of values) ages.add(value);
      const sorted = values.toSorted((a, b) => a - b);
      const exact = (sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1] ?? 0) / 1_000;
      const found = ages.quantileSeconds(share) ?? -1;
      assert.ok(found > exact && found <= exact + 0.25, `${found} for ${exact}`);
    }),
  );
});

test('ages beyond the last bucket, or below 0, count in the last or first', () => {
  const ages = new AgeHistogram();
  ages.add(-5);
  ages.add(10_000_000);
  assert.deepEqual([ages.quantileSeconds(0.5), ages.quantileSeconds(0.99)], [0.25, 600]);
});
