import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { parseSelection, type Selection, selectTests } from '../../upstream/select-tests.ts';

const selection: Selection = {
  lists: {
    api: { title: 'API', tests: [{ file: 'apimachinery/' }] },
    workloads: { title: 'workloads', tests: [{ file: 'apps/job.go', only: ['delete', 'suspend'] }, { file: 'node/' }] },
  },
  suites: { e2e: ['api', 'workloads'], 'e2e-embedded': ['workloads'] },
  exclusions: [
    { class: 'alpha', reason: 'off', tests: [{ only: ['[Alpha]'] }] },
    { class: 'containers', reason: 'exit', tests: [{ file: 'apps/', only: ['exit code'] }, { file: 'node/ssh.go' }] },
  ],
};

describe('the selection of tests', () => {
  it('runs what a list matches and no class excludes', () => {
    const tests = [
      { file: 'apimachinery/watch.go', name: 'Watchers' },
      { file: 'apimachinery/watch.go', name: 'Watchers [Alpha]' },
      { file: 'apps/job.go', name: 'Job should delete' },
      { file: 'apps/job.go', name: 'Job should delete by exit code' },
      { file: 'node/ssh.go', name: 'SSH' },
      { file: 'node/taints.go', name: 'Taints' },
      { file: 'apps/job.go', name: 'Job should run' },
    ];
    const selected = selectTests(tests, selection);
    const names = (groups: ReadonlyMap<string, readonly { readonly name: string }[]>): unknown =>
      Object.fromEntries([...groups].map(([key, found]) => [key, found.map(({ name }) => name)]));
    assert.deepEqual(names(selected.lists), { api: ['Watchers'], workloads: ['Job should delete', 'Taints'] });
    assert.deepEqual(names(selected.excluded), {
      alpha: ['Watchers [Alpha]'],
      containers: ['Job should delete by exit code', 'SSH'],
    });
    assert.deepEqual(
      selected.unsorted.map(({ name }) => name),
      ['Job should run'],
    );
    assert.deepEqual(selected.unused, []);
  });

  it('names rows that match no test', () => {
    const { unused } = selectTests([{ file: 'apimachinery/watch.go', name: 'Watchers' }], selection);
    assert.deepEqual(unused[0], 'lists.workloads: {"file":"apps/job.go","only":["delete","suspend"]}');
    assert.equal(unused.length, 5);
  });

  it('rejects unknown fields, rows without a condition and unknown lists, by name', () => {
    const list = { title: 'API', tests: [{ files: 'a' }] };
    assert.throws(() => parseSelection({ ...selection, lists: { api: list } }), /selection\.yaml: .*"files"/s);
    assert.throws(
      () => parseSelection({ ...selection, lists: { api: { ...list, tests: [{}] } } }),
      /needs file or only/,
    );
    const suites = { ...selection.suites, 'e2e-embedded': ['pods'] };
    assert.throws(() => parseSelection({ ...selection, suites }), /suites: no such list: pods/);
  });

  it('in selection.yaml is well formed, with a reason for each class', () => {
    const file = join(import.meta.dirname, '..', '..', 'upstream', 'selection.yaml');
    const { exclusions } = parseSelection(parse(readFileSync(file, 'utf8')));
    const classes = exclusions.map((exclusion) => exclusion.class);
    assert.deepEqual(classes, [...new Set(classes)]);
    assert.ok(exclusions.every(({ reason }) => reason.length > 10));
  });
});
