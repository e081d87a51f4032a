import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type ElectionSettings,
  electionDefaults,
  electionProblems,
} from '../../../../src/machinery/election/election-options.ts';

const good: ElectionSettings = { identity: 'a', namespace: 'kube-system', name: 'nlc', ...electionDefaults };

const rows: readonly [string, Partial<ElectionSettings>, readonly RegExp[]][] = [
  ['the defaults', {}, []],
  ['no identity', { identity: '' }, [/^identity must/]],
  ['no name and no namespace', { name: '', namespace: '' }, [/^namespace must/, /^name must/]],
  ['a lease no longer than the deadline', { leaseDurationMs: 10_000 }, [/^leaseDurationMs \(10000\) must be greater/]],
  ['a deadline of 1.2 retry periods', { renewDeadlineMs: 2_400 }, [/^renewDeadlineMs \(2400\) must be greater/]],
  ['a deadline just above that', { renewDeadlineMs: 2_401 }, []],
  ['no retry period', { retryPeriodMs: 0 }, [/^retryPeriodMs must be a positive number \(got 0\)/]],
  ['not a number', { leaseDurationMs: Number.NaN }, [/^leaseDurationMs must be a positive number \(got NaN\)/]],
];

for (const [name, over, expected] of rows)
  test(name, () => {
    const problems = electionProblems({ ...good, ...over });
    assert.equal(problems.length, expected.length, problems.join('\n'));
    expected.forEach((pattern, index) => assert.match(problems[index] ?? '', pattern));
  });
