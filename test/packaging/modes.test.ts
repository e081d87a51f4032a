// Each mode of the chart on a real kube-apiserver, with the roles of the mode and the kube-controller-manager flags that the
// mode requires: the result is that of the mode, no request is rejected, and every permission is used.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { AuditedRequest } from '../control-plane/audit-trail.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { refusedOf, unusedOf } from './granted-use.ts';
import {
  podIsGone,
  registerAndDelete,
  stopHeartbeats,
  becomeSilentTwice,
  taintsAre,
  fullDisruption,
} from './node-stories.ts';
import { expectExact, quick, ReleaseStand, type RunningRelease, soon, type Trail } from './release-stand.ts';
import { permissionsOf, permissionText } from '../../tools/manifests/permissions.ts';
import { chart, namespace, release, renderChart, runTool } from '../../tools/manifests/render.ts';

const nodes = ['n0', 'n1', 'n2', 'n3', 'n4', 'n5'];

let stand: ReleaseStand;
before(async () => {
  stand = await ReleaseStand.start();
});
afterEach(async () => {
  await stand.clear();
});
after(async () => {
  await stand.stop();
});

const podDeletions = (trail: Trail): readonly AuditedRequest[] =>
  trail.requests().filter(({ verb, resource }) => verb === 'delete' && resource === 'pods');

const nodePatches = (trail: Trail): readonly AuditedRequest[] =>
  trail.requests().filter(({ verb, resource }) => verb === 'patch' && resource === 'nodes');

const names = (requests: readonly AuditedRequest[]): readonly string[] => requests.map(({ name }) => name).sort();

/** Waits until the shadow report shows an act that both have done. */
async function expectShared({ controller }: RunningRelease, act: string): Promise<void> {
  const line = new RegExp(`shadow_episodes_total{act="${act}",outcome="(agree|earlier|later)"} [1-9]`);
  await waitUntil(`${act} done by both`, soon, async () => line.test(await controller.page('/metrics')));
}

const valuesOf = (mode: string): string => `mode: ${mode}\nconfig:${quick}`;

test('detector-only: nlc taints nodes, kube-controller-manager deletes the pods', { timeout: 150_000 }, async () => {
  // Taint eviction uses a pod index that the DaemonSet controller or the node lifecycle controller creates.
  await stand.startInTree('taint-eviction-controller', 'daemonset-controller');
  const inTree = stand.inTreeTrail();
  const parts = { evictsByTaint: false };
  const running = await stand.install({ name: 'detector', values: valuesOf('detector-only'), parts });
  await becomeSilentTwice(stand.cluster, 'n1', 'detector');
  await expectExact(running);
  assert.deepEqual([podDeletions(running).length, nodePatches(inTree).length], [0, 0]);
  assert.deepEqual(names(podDeletions(inTree)), ['impatient-detector-1', 'impatient-detector-2']);
});

test('evictor-only: kube-controller-manager taints nodes, nlc deletes the pods', { timeout: 150_000 }, async () => {
  await stand.startInTree('node-lifecycle-controller');
  const inTree = stand.inTreeTrail();
  const parts = { detects: false };
  const running = await stand.install({ name: 'evictor', values: valuesOf('evictor-only'), parts });
  await becomeSilentTwice(stand.cluster, 'n2', 'evictor');
  await expectExact(running);
  assert.deepEqual([nodePatches(running).length, podDeletions(inTree).length], [0, 0]);
  assert.ok(nodePatches(inTree).length > 0, 'kube-controller-manager wrote the taints');
  assert.deepEqual(names(podDeletions(running)), ['impatient-evictor-1', 'impatient-evictor-2']);
});

test('shadow: kube-controller-manager acts, and the shadow report agrees', {
  timeout: 150_000,
}, async () => {
  await stand.startInTree('node-lifecycle-controller', 'taint-eviction-controller');
  const inTree = stand.inTreeTrail();
  const parts = { shadow: true, leaderElect: false };
  const running = await stand.install({ name: 'shadow', values: valuesOf('shadow'), parts });
  await stopHeartbeats(stand.cluster, 'n3', 'shadow');
  // Recovery only after both have observed the silence, because their times differ slightly.
  for (const act of ['node-unknown', 'no-execute-taint', 'pod-eviction']) await expectShared(running, act);
  await stand.cluster.resumeHeartbeats('n3');
  await taintsAre(stand.cluster, 'n3');
  await expectShared(running, 'no-execute-untaint');
  await expectExact(running);
  const writes = running.requests().filter(({ verb }) => !['get', 'list', 'watch'].includes(verb));
  assert.deepEqual(writes, [], 'nothing is written');
  assert.deepEqual(names(podDeletions(inTree)), ['impatient-shadow']);
});

test('replace: nodes register, become silent, recover and are deleted; kube-controller-manager does nothing', {
  timeout: 180_000,
}, async () => {
  const running = await stand.install({ name: 'replace', values: valuesOf('replace'), parts: {} });
  await registerAndDelete(stand.cluster, 'fresh');
  await becomeSilentTwice(stand.cluster, 'n0', 'replace');
  await fullDisruption(stand.cluster, nodes, 'replace');
  await expectExact(running);
});

test('evictReachable: pods/eviction is granted with it, used for reachable nodes, and not granted without it', {
  timeout: 120_000,
}, async () => {
  const { cluster, plane } = stand;
  const nodeSelector = '{ matchLabels: { kubernetes.io/os: linux } }';
  const policy = `{ name: careful, nodeSelector: ${nodeSelector}, evictReachable: { timeout: 5m } }`;
  const values = `${valuesOf('replace')}\n  policies: [${policy}]`;
  const running = await stand.install({ name: 'careful', values, parts: { evictsReachable: true } });
  const isGranted = async (): Promise<boolean> => {
    const account = `system:serviceaccount:${namespace}:careful-node-lifecycle-controller`;
    const question = ['auth', 'can-i', 'create', 'pods', '--subresource=eviction', `--as=${account}`];
    return (await plane.kubectl(question)).code === 0;
  };
  assert.equal(await isGranted(), true);
  await cluster.addPod('reachable', 'n0', [
    { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 0 },
  ]);
  await cluster.post('n0', { Ready: 'False' });
  await podIsGone(cluster, 'reachable');
  await cluster.post('n0', { Ready: 'True' });
  await taintsAre(cluster, 'n0');
  assert.deepEqual(await running.controller.terminate(), { code: 0, signal: null });
  const granted = permissionsOf(running.parts).filter(({ resource }) => resource === 'pods/eviction');
  assert.equal(granted.length, 1);
  assert.deepEqual(unusedOf(granted, running.requests()), []);
  assert.deepEqual(refusedOf(running.requests()), []);
  const evicted = running.requests().filter(({ subresource }) => subresource === 'eviction');
  assert.deepEqual([names(evicted), podDeletions(running)], [['reachable'], []]);
  await stand.apply(renderChart({ release: 'careful', values: valuesOf('replace') }));
  await waitUntil('not granted without the policy', soon, async () => !(await isGranted()));
});

const flagsOf: Readonly<Record<string, RegExp>> = {
  replace: /--controllers=\*,-node-lifecycle-controller,-taint-eviction-controller\n/,
  'detector-only': /--controllers=\*,-node-lifecycle-controller\n/,
  'evictor-only': /--controllers=\*,-taint-eviction-controller\n/,
  shadow: /Leave kube-controller-manager's flags as they are/,
};

for (const [mode, flags] of Object.entries(flagsOf)) {
  test(`helm install prints the kube-controller-manager flags for mode ${mode}`, () => {
    const access = [`--kubeconfig=${stand.plane.kubeconfigFile}`, `--namespace=${namespace}`];
    const args = ['install', release, chart, ...access, '--dry-run=server', `--set=mode=${mode}`];
    const { code, stdout, stderr } = runTool('helm', args);
    assert.equal(code, 0, stderr);
    const [, notes = ''] = stdout.split('\nNOTES:\n');
    assert.match(notes, flags);
    assert.equal(notes.includes('The leader:'), mode !== 'shadow');
  });
}

test('with streaming lists, `list` is granted and not used', { timeout: 90_000 }, async (t) => {
  const streaming = await ReleaseStand.start([]);
  t.after(() => streaming.stop());
  const running = await streaming.install({ name: 'streaming', values: valuesOf('replace'), parts: {} });
  await registerAndDelete(streaming.cluster, 'fresh');
  // Leases are also listed outside of the watch, with streaming lists too.
  const listed = permissionsOf(running.parts).filter(({ verb, resource }) => verb === 'list' && resource !== 'leases');
  await running.controller.terminate();
  assert.deepEqual(unusedOf(listed, running.requests()), listed.map(permissionText));
});
