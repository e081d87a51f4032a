import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeSubjectProblem, selectSubjectPage } from '../../../../src/cli/commands/page-commands.ts';

test('nodes and pods in singular, plural and short form have a page; names are encoded', () => {
  for (const kind of ['node', 'nodes', 'no']) {
    assert.equal(selectSubjectPage(`${kind}/n 1?`)?.path, '/explain/nodes/n%201%3F');
  }
  for (const kind of ['pod', 'pods', 'po']) {
    assert.equal(selectSubjectPage(`${kind}/default/web#1`)?.path, '/explain/pods/default/web%231');
  }
});

test('anything else has none, and the problem names what was given', () => {
  for (const subject of [undefined, '', 'node', 'node/', 'node/a/b', 'pod/a', 'pod//a', 'zone/a', 'Node/a']) {
    assert.equal(selectSubjectPage(subject), undefined, String(subject));
  }
  assert.match(describeSubjectProblem(undefined), /\(got none\)$/);
  assert.match(describeSubjectProblem('zone/a'), /\(got "zone\/a"\)$/);
});
