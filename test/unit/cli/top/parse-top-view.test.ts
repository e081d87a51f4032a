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

test('zones, nodes and pods are read from the pages', () => {
  const zone = {
    zone: 'r/a',
    condition: 'normal',
    arithmetic: { unready: 1, size: 5 },
    ratePerSecond: 0.1,
    queue: { tokens: 0.5, waiting: 2 },
  };
  const view = parseTopView({
    status: { at: 't', leader: 'c-1', mode: 'taint', zones: [zone] },
    nodes: {
      nodes: [
        {
          name: 'n',
          since: { secondsAgo: 3 },
          pods: 2,
          next: { act: 'add-taint', when: { inSeconds: 4 } },
          holds: ['stale'],
        },
      ],
      total: 9,
    },
    evictions: { evictions: [{ pod: 'a/b', node: 'n', when: { inSeconds: null } }], total: 7 },
  });
  assert.deepEqual(view.zones, [
    { name: 'r/a', condition: 'normal', unready: 1, size: 5, ratePerSecond: 0.1, tokens: 0.5, waiting: 2 },
  ]);
  const [node] = view.nodes;
  assert.deepEqual(
    [node?.sinceSeconds, node?.pods, node?.act, node?.inSeconds, node?.holds],
    [3, 2, 'add-taint', 4, ['stale']],
  );
  assert.deepEqual(view.evictions, [{ pod: 'a/b', node: 'n', inSeconds: undefined }]);
  assert.deepEqual([view.nodesTotal, view.evictionsTotal, view.leader], [9, 7, 'c-1']);
});
