import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fleetNodes, run } from '../../../src/cli/commands/hollow-nodes.ts';

const base = { nodes: 4, zones: 3, region: 'r', namePrefix: 'n', nodeLabels: undefined };

test('nodes are dealt to the zones in turn', () => {
  const nodes = fleetNodes(base);
  assert.deepEqual(
    nodes.map((node) => node.name),
    ['n-0', 'n-1', 'n-2', 'n-3'],
  );
  assert.deepEqual(
    nodes.map((node) => node.labels['topology.kubernetes.io/zone']),
    ['r-1', 'r-2', 'r-3', 'r-1'],
  );
  assert.ok(nodes.every((node) => node.labels['topology.kubernetes.io/region'] === 'r'));
});

test('without zones there are no zone labels; labels of one own stay', () => {
  const [node] = fleetNodes({ ...base, zones: 0, nodeLabels: { pool: 'a' } });
  assert.deepEqual(node?.labels, { pool: 'a' });
});

async function refusal(...argv: readonly string[]) {
  const err: string[] = [];
  const code = await run(argv, {
    stdout: () => assert.fail('nothing to say'),
    stderr: (text) => void err.push(text),
    env: {},
    signal: AbortSignal.abort(),
  });
  return { code, err: err.join('') };
}

test('a kubeconfig must be given on purpose, and all mistakes are told at once', async () => {
  const { code, err } = await refusal('--nodes=0', '--lease-duration=1500ms', '--nods=3');
  assert.equal(code, 2);
  assert.match(err, /^nlc hollow-nodes: 4 problems/);
  assert.match(err, /--nods: unknown flag; did you mean --nodes\?/);
  assert.match(err, /--nodes: got 0; accepted: a whole number, from 1 up to 10000/);
  assert.match(err, /--kubeconfig: is missing/);
  assert.match(err, /--lease-duration: got 1\.5s; accepted: whole seconds/);
});

test('a kubeconfig that is not there ends it, with the file named', async () => {
  const { code, err } = await refusal('--kubeconfig=/nonexistent/kubeconfig');
  assert.equal(code, 1);
  assert.match(err, /no way to the API server: \/nonexistent\/kubeconfig/);
});
