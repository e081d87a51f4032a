import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fleetNodes, run } from '../../../../src/cli/commands/hollow-nodes.ts';

const base = { nodes: 4, zones: 3, region: 'r', namePrefix: 'n', nodeLabels: undefined };

test('nodes are assigned to the zones in round-robin order', () => {
  const nodes = fleetNodes(base);
  const seen = nodes.map((node) => node.name);
  assert.deepEqual(seen, ['n-0', 'n-1', 'n-2', 'n-3']);
  const found = nodes.map((node) => node.labels['topology.kubernetes.io/zone']);
  assert.deepEqual(found, ['r-1', 'r-2', 'r-3', 'r-1']);
  assert.ok(nodes.every((node) => node.labels['topology.kubernetes.io/region'] === 'r'));
});

test('without zones the nodes have no zone labels; --node-labels are kept', () => {
  const [node] = fleetNodes({ ...base, zones: 0, nodeLabels: { pool: 'a' } });
  assert.deepEqual(node?.labels, { pool: 'a' });
});

async function refusal(...argv: readonly string[]) {
  const err: string[] = [];
  const code = await run(argv, {
    stdout: () => assert.fail('no output expected'),
    stderr: (text) => void err.push(text),
    env: {},
    signal: AbortSignal.abort(),
  });
  return { code, err: err.join('') };
}

test('--kubeconfig is required, and all invalid flags are reported together', async () => {
  const { code, err } = await refusal(
    '--nodes=0',
    '--lease-duration=1500ms',
    '--nods=3',
    '--unpullable-images=web, db',
  );
  assert.equal(code, 2);
  assert.match(err, /^nlc hollow-nodes: invalid flags \(5 errors\)/);
  assert.match(err, /--nods: unknown flag; did you mean --nodes\?/);
  assert.match(err, /--nodes: must be an integer >= 1 and <= 10000 \(got 0\)/);
  assert.match(err, /--kubeconfig: value required/);
  assert.match(
    err,
    /--unpullable-images: must be comma-separated patterns of images, .*\* is any text.* \(got "web, db"\)/,
  );
  assert.match(err, /--lease-duration: must be whole seconds.* \(got 1\.5s\)/);
});

test('a kubeconfig that does not exist is an error that names the file', async () => {
  const { code, err } = await refusal('--kubeconfig=/nonexistent/kubeconfig');
  assert.equal(code, 1);
  assert.match(err, /cannot load the client configuration: \/nonexistent\/kubeconfig/);
});
