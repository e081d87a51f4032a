import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { formatPage, formatTable } from '../../upstream/format-report.ts';
import {
  countList,
  explainAgain,
  mergeSuites,
  noReason,
  parseReport,
  reportUnpassed,
  type SuiteReport,
} from '../../upstream/report.ts';

const docs = join(import.meta.dirname, '..', '..', '..', 'docs');
const results = [
  { name: 'Job [Conformance]', outcome: 'passed', seconds: 1 },
  { name: 'CronJob [Conformance]', outcome: 'failed', seconds: 1 },
  { name: 'Taints <a|b>', outcome: 'skipped', seconds: 1 },
  { name: 'Pods [Conformance]', outcome: 'not run', seconds: 0 },
] as const;
const e2e: SuiteReport = {
  suite: 'e2e',
  date: '2026-01-31',
  minutes: 12,
  lists: [countList('API objects', results), countList('pods', [])],
  unpassed: reportUnpassed([
    { result: results[1], reason: 'no logs' },
    { result: results[2], reason: undefined },
  ]),
};

describe('the report of the tests of Kubernetes', () => {
  it('counts tests, those that ran, passes and conformance tests', () => {
    assert.deepEqual(e2e.lists[0], {
      title: 'API objects',
      tests: 4,
      ran: 3,
      passed: 1,
      conformance: 2,
      conformancePassed: 1,
    });
  });

  it('as a table has a line for each list, and each test that did not pass with its reason', () => {
    assert.equal(
      formatTable([e2e]),
      [
        'suite             tests  ran  passed  conformance tests',
        'e2e, API objects  4      3    1       1 of 2',
        'e2e, pods         0      0    0       -',
        '',
        'e2e: failed: CronJob [Conformance]',
        '    no logs',
        'e2e: skipped: Taints <a|b>',
        `    ${noReason}`,
      ].join('\n'),
    );
  });

  it('as a page escapes what Markdown would interpret, and names suites that have no run', () => {
    const page = formatPage({
      kubernetes: 'v1.2.3',
      version: '0.1.0',
      suites: [e2e],
      excluded: [{ class: 'network', reason: 'sends | traffic', tests: 7 }],
    });
    assert.match(page, /^\| e2e tests on kube-apiserver: API objects \| 4 \| 3 \| 1 \| 2 \| 1 \| 2026-01-31 \|$/m);
    assert.match(page, /^\| Taints \\<a\\\|b\\> \(skipped by the test\) \| NOT EXPLAINED \|$/m);
    assert.match(page, /^\| e2e tests on the embedded API server \| - \| not run \| - \| - \| - \| - \|$/m);
    assert.match(page, /^\| network \| 7 \| sends \\\| traffic \|$/m);
  });

  it('keeps earlier suites that did not run again, in the usual order', () => {
    const earlier: SuiteReport = { ...e2e, suite: 'integration' };
    const embedded: SuiteReport = { ...e2e, suite: 'e2e-embedded' };
    const again: SuiteReport = { ...e2e, date: '2026-02-01' };
    assert.deepEqual(mergeSuites([e2e, embedded, earlier], [again]), [earlier, again, embedded]);
  });

  it('gets the reasons of the rows that there are now', () => {
    const report = { kubernetes: 'v1.2.3', version: '0.1.0', suites: [e2e], excluded: [] };
    const rows = [
      { suite: 'e2e', test: 'Taints <a|b>', reason: 'no taints' },
      { suite: 'integration', test: 'CronJob [Conformance]', reason: 'another suite' },
    ] as const;
    const [explained] = explainAgain(report, rows).suites;
    assert.deepEqual(
      explained?.unpassed.map(({ reason }) => reason),
      [noReason, 'no taints'],
    );
  });

  it('in docs/conformance.json is well formed and explained, and docs/conformance.md shows it', () => {
    const file = join(docs, 'conformance.json');
    assert.ok(existsSync(file));
    const report = parseReport(readFileSync(file, 'utf8'));
    assert.equal(readFileSync(join(docs, 'conformance.md'), 'utf8'), formatPage(report));
    const unexplained = report.suites.flatMap(({ unpassed }) => unpassed.filter(({ reason }) => reason === noReason));
    assert.deepEqual(unexplained, []);
    assert.ok(report.suites.every(({ lists }) => lists.every(({ tests }) => tests > 0)));
  });
});
