import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readScenario } from '../../../../src/cli/simulate/scenario-schema.ts';

const valid = {
  apiVersion: 'nodelifecycle/v1alpha1',
  kind: 'SimulationScenario',
  name: 's',
  duration: '10m',
  cluster: { nodes: [{ prefix: 'a', count: 3, zone: 'z' }], pods: [{ perNode: 2, tolerates: '5m' }] },
};

function problemsOf(change: object): readonly string[] {
  const read = readScenario({ ...valid, ...change });
  return 'problems' in read ? read.problems : [];
}

test('a scenario with every kind of step', () => {
  const read = readScenario({
    ...valid,
    flags: { 'node-eviction-rate': 1, 'watch-canary': true },
    steps: [
      { at: '1m', selector: { zone: 'z' }, action: { kind: 'partition', for: '2m' } },
      { at: '2m', apiServers: { down: 'all', for: '30s' } },
      { at: '3m', apiServerRollout: { downFor: '20s', gap: '10s' } },
      { at: '4m', slowNetwork: { delay: '2s', for: '1m' } },
      { at: '5m', leader: { action: 'pause', for: '20s' } },
    ],
  });
  assert.ok('value' in read);
  assert.deepEqual(
    read.value.scenario.steps.map(({ kind, atMs }) => `${kind} ${atMs}`),
    ['nodes 60000', 'servers-down 120000', 'servers-rollout 180000', 'slow-network 240000', 'leader 300000'],
  );
  assert.deepEqual(read.value.flags, ['--node-eviction-rate=1', '--watch-canary=true']);
  assert.deepEqual(
    read.value.scenario.pods.map(({ node }) => node),
    ['a-1', 'a-2', 'a-3'],
  );
  assert.deepEqual(read.value.scenario.pods[0], { node: 'a-1', count: 2, tolerates: 300, graceSeconds: 30 });
});

test('a problem names the field, the accepted values and the given one', () => {
  assert.deepEqual(problemsOf({ duration: '10' }), [
    'duration: must be a duration >= 1m0s with a unit, such as 1m30s or 500ms (got "10")',
  ]);
  assert.deepEqual(problemsOf({ cluster: { nodes: [{ prefix: 'a', count: 0, zone: 'z' }] } }), [
    'cluster.nodes[0].count: must be an integer >= 1 and <= 20000 (got 0)',
  ]);
  assert.deepEqual(problemsOf({ other: 1 }), ['other: unknown field']);
});

test('a problem of a step names its index', () => {
  const [first] = problemsOf({ steps: [{ at: '1m', selector: {}, action: { kind: 'partition', for: 5 } }] });
  assert.match(first ?? '', /^steps\[0\]\.action\.for: must be a duration/);
  const [second] = problemsOf({ steps: [{ at: '1m', apiServers: { down: 0, for: '1s' } }] });
  assert.match(second ?? '', /^steps\[0\]: /);
});
