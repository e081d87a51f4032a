import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildCut, cutNamesMax, formatTarget, parseTarget } from '../../../../src/dashboard/actions/build-action.ts';

const everything = { zone: null, policy: null, states: [], name: '' } as const;
const request = { target: { kind: 'filter' }, share: 1, seconds: 120 } as const;
const cut = { kind: 'cut', nodes: null, zone: null, share: null, seconds: 120 };

test('without a filter all nodes are meant, without their names', () => {
  assert.deepEqual(buildCut(request, everything, ['n1', 'n2']), cut);
  assert.deepEqual(buildCut({ ...request, target: { kind: 'all' } }, { ...everything, name: 'x' }, ['n1']), cut);
});

test('a zone is meant by its name, also those of its nodes that appear later', () => {
  const target = { kind: 'zone', zone: 'z' } as const;
  assert.deepEqual(buildCut({ ...request, target, share: 0.5 }, everything, []), { ...cut, zone: 'z', share: 0.5 });
  assert.deepEqual(buildCut(request, { ...everything, zone: 'z' }, ['n1']), { ...cut, zone: 'z' });
});

test('another filter means the nodes that it selects now, at most so many', () => {
  assert.deepEqual(buildCut({ ...request, seconds: null }, { ...everything, zone: 'z', name: 'n' }, ['n1']), {
    ...cut,
    nodes: ['n1'],
    seconds: null,
  });
  const many = Array.from({ length: 3_000 }, (_, index) => `n${index}`);
  const action = buildCut(request, { ...everything, states: ['ready'] }, many);
  assert.ok(action.kind === 'cut' && action.nodes?.length === cutNamesMax);
});

test('targets are values of options, whatever the zone is called', () => {
  for (const target of [
    { kind: 'filter' },
    { kind: 'all' },
    { kind: 'zone', zone: 'all' },
    { kind: 'zone', zone: '' },
  ] as const)
    assert.deepEqual(parseTarget(formatTarget(target)), target);
});
