import assert from 'node:assert/strict';
import { test } from 'node:test';
import { metricsOf } from '../../packaging/promql-names.ts';

const namesIn = (query: string): readonly string[] => metricsOf(query).map(({ metric }) => metric);

const cases: Readonly<Record<string, readonly string[]>> = {
  up: ['up'],
  'max(a,b)': ['a', 'b'],
  'a_total > 0.05 and b': ['a_total', 'b'],
  'sum by (le, job) (rate(a_bucket{x="y"}[5m] offset 1h)) / 2': ['a_bucket'],
  'histogram_quantile(0.99, sum(rate(a_bucket[$__rate_interval])) by (le))': ['a_bucket'],
  'a unless on (job, zone) b offset 1h': ['a', 'b'],
  'a * on (job) group_left (version) b == bool 1e3': ['a', 'b'],
  'max(a{code=~"4..|<error>", method!="b and c"}) or absent(d)': ['a', 'd'],
  '# c\na + -b': ['a', 'b'],
  'job:a:rate5m{job=~"$job", b=""}': ['job:a:rate5m'],
};

for (const [query, wanted] of Object.entries(cases)) {
  test(`the metrics of ${JSON.stringify(query)}`, () => assert.deepEqual(namesIn(query), wanted));
}

test('the labels of a selector', () => {
  assert.deepEqual(metricsOf('a{code=~"4..", method != "b{c=d}"} + b'), [
    { metric: 'a', labels: ['code', 'method'] },
    { metric: 'b', labels: [] },
  ]);
});
