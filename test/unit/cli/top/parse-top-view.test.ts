import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTopView } from '../../../../src/cli/top/parse-top-view.ts';

test('holds are sentences; those that this version does not know are their kind', () => {
  const known = { kind: 'full-disruption', unblockedBy: [{ kind: 'api-answers' }] };
  const view = parseTopView({ status: { leading: true, holds: [known, { kind: 'newer' }] }, nodes: {}, evictions: {} });
  assert.match(view.holds[0] ?? '', /^all zones are fully disrupted, .*; would end: the API server answers$/);
  assert.equal(view.holds[1], 'newer');
  assert.equal(view.role, 'leading');
});

test('pages of another version, or of another server, are read as empty', () => {
  for (const page of [undefined, null, 7, [], { zones: 7, nodes: [{}], evictions: 'x', holds: [1] }]) {
    const view = parseTopView({ status: page, nodes: page, evictions: page });
    assert.deepEqual([view.role, view.zones, view.nodesTotal], ['standing by', [], 0]);
  }
  const { nodes } = parseTopView({
    status: {},
    nodes: { nodes: [{ name: 'n', next: { act: 'none', when: null } }] },
    evictions: {},
  });
  assert.deepEqual(nodes, [
    { name: 'n', zone: '', state: '', sinceSeconds: undefined, pods: 0, act: '', inSeconds: undefined, holds: [] },
  ]);
});

test('shadow mode is a role of its own', () => {
  assert.equal(parseTopView({ status: { shadow: true, leading: true }, nodes: {}, evictions: {} }).role, 'shadow mode');
});
