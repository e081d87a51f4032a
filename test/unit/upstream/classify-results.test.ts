import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { type ClassificationRow, classifyResults, parseClassification } from '../../upstream/classify-results.ts';

const rows: readonly ClassificationRow[] = [
  { suite: 'e2e', test: 'a', reason: 'no exec' },
  { suite: 'e2e', test: 'b', reason: 'no logs' },
  { suite: 'e2e', test: 'c', reason: 'a race', sometimes: true },
  { suite: 'integration', test: 'd', reason: 'other suite' },
];

describe('the classification of results', () => {
  it('gives each test of the suite that did not pass its reason, or none', () => {
    const failed = { name: 'a', outcome: 'failed', seconds: 1 } as const;
    const skipped = { name: 'd', outcome: 'skipped', seconds: 1 } as const;
    const { unpassed } = classifyResults('e2e', [failed, skipped, { name: 'x', outcome: 'passed', seconds: 1 }], rows);
    assert.deepEqual(unpassed, [
      { result: failed, reason: 'no exec' },
      { result: skipped, reason: undefined },
    ]);
  });

  it('names rows whose test passed, unless it passes sometimes', () => {
    const results = ['b', 'c'].map((name) => ({ name, outcome: 'passed', seconds: 1 }) as const);
    assert.deepEqual(classifyResults('e2e', results, rows).passedAgain, [rows[1]]);
  });

  it('accepts an empty file, and rejects unknown suites and fields', () => {
    assert.deepEqual(parseClassification(null), []);
    assert.throws(() => parseClassification([{ ...rows[0], suite: 'e2' }]), /classification\.yaml: .*"integration"/s);
    assert.throws(() => parseClassification([{ ...rows[0], why: 'x' }]), /classification\.yaml: .*"why"/s);
  });

  it('in classification.yaml has one row for each test of a suite', () => {
    const file = join(import.meta.dirname, '..', '..', 'upstream', 'classification.yaml');
    const keys = parseClassification(parse(readFileSync(file, 'utf8'))).map(({ suite, test }) => `${suite} ${test}`);
    assert.deepEqual(keys, [...new Set(keys)]);
  });
});
