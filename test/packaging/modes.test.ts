// Each mode of the chart on a real kube-apiserver, with the roles of the mode and beside the real kube-controller-manager
// as the mode wants it: the outcome is what the mode promises, nothing is refused, and no verb is granted in vain.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { AuditedRequest } from '../control-plane/audit-trail.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { unusedOf } from './granted-use.ts';
import { comeAndGo, goDark, goDarkTwice, taintsAre, wholeOutage } from './node-stories.ts';
import { expectExact, quick, ReleaseStand, type RunningRelease, soon, type Trail } from './release-stand.ts';
import { permissionsOf, permissionText } from './permissions.ts';
import { chart, namespace, release, runTool } from './render.ts';

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

/** Waits until it is told of an act that both have done it, sooner or later. */
async function expectShared({ controller }: RunningRelease, act: string): Promise<void> {
  const port = controller.logs().find(({ msg }) => msg === 'serving /metrics')?.['port'];
  const line = new RegExp(`shadow_episodes_total{act="${act}",outcome="(agree|earlier|later)"} [1-9]`);
  await waitUntil(`${act} done by both`, soon, async () => {
    const text = await (await fetch(`http://127.0.0.1:${String(port)}/metrics`)).text();
    return line.test(text) ? true : undefined;
  });
}

const valuesOf = (mode: string): string => `mode: ${mode}\nconfig:${quick}`;

test('detector-only: we taint, and the pods are deleted by kube-controller-manager', { timeout: 150_000 }, async () => {
  // The one finds pods by an index that the other makes, or the one that we replace: as in every cluster with DaemonSets.
  await stand.startInTree('taint-eviction-controller', 'daemonset-controller');
  const inTree = stand.inTreeTrail();
  const parts = { evictsByTaint: false };
  const running = await stand.install({ name: 'detector', values: valuesOf('detector-only'), parts });
  await goDarkTwice(stand.cluster, 'n1', 'detector');
  await expectExact(running);
  assert.deepEqual([podDeletions(running).length, nodePatches(inTree).length], [0, 0]);
  assert.deepEqual(names(podDeletions(inTree)), ['impatient-detector-1', 'impatient-detector-2']);
});

test('evictor-only: kube-controller-manager taints, and the pods are deleted by us', { timeout: 150_000 }, async () => {
  await stand.startInTree('node-lifecycle-controller');
  const inTree = stand.inTreeTrail();
  const parts = { detects: false };
  const running = await stand.install({ name: 'evictor', values: valuesOf('evictor-only'), parts });
  await goDarkTwice(stand.cluster, 'n2', 'evictor');
  await expectExact(running);
  assert.deepEqual([nodePatches(running).length, podDeletions(inTree).length], [0, 0]);
  assert.ok(nodePatches(inTree).length > 0, 'the taints are theirs');
  assert.deepEqual(names(podDeletions(running)), ['impatient-evictor-1', 'impatient-evictor-2']);
});

test('shadow: kube-controller-manager does everything, and we say that we would have done the same', {
  timeout: 150_000,
}, async () => {
  await stand.startInTree('node-lifecycle-controller', 'taint-eviction-controller');
  const inTree = stand.inTreeTrail();
  const parts = { shadow: true, leaderElect: false };
  const running = await stand.install({ name: 'shadow', values: valuesOf('shadow'), parts });
  await goDark(stand.cluster, 'n3', 'shadow');
  // Back only when both have seen it: the one may count some milliseconds more than the other.
  for (const act of ['node-unknown', 'no-execute-taint', 'pod-eviction']) await expectShared(running, act);
  await stand.cluster.comeBack('n3');
  await taintsAre(stand.cluster, 'n3');
  await expectShared(running, 'no-execute-untaint');
  await expectExact(running);
  const writes = running.requests().filter(({ verb }) => !['get', 'list', 'watch'].includes(verb));
  assert.deepEqual(writes, [], 'nothing is written');
  assert.deepEqual(names(podDeletions(inTree)), ['impatient-shadow']);
});

test('replace: nodes come, fall silent, all of them, come back and go; kube-controller-manager does nothing', {
  timeout: 180_000,
}, async () => {
  const running = await stand.install({ name: 'replace', values: valuesOf('replace'), parts: {} });
  await comeAndGo(stand.cluster, 'fresh');
  await goDarkTwice(stand.cluster, 'n0', 'replace');
  await wholeOutage(stand.cluster, nodes, 'replace');
  await expectExact(running);
});

const flagsOf: Readonly<Record<string, RegExp>> = {
  replace: /--controllers=\*,-node-lifecycle-controller,-taint-eviction-controller\n/,
  'detector-only': /--controllers=\*,-node-lifecycle-controller\n/,
  'evictor-only': /--controllers=\*,-taint-eviction-controller\n/,
  shadow: /Leave kube-controller-manager's flags as they are/,
};

for (const [mode, flags] of Object.entries(flagsOf)) {
  test(`helm install says how kube-controller-manager is set beside mode ${mode}`, () => {
    const access = [`--kubeconfig=${stand.plane.kubeconfigFile}`, `--namespace=${namespace}`];
    const args = ['install', release, chart, ...access, '--dry-run=server', `--set=mode=${mode}`];
    const { code, stdout, stderr } = runTool('helm', args);
    assert.equal(code, 0, stderr);
    const [, notes = ''] = stdout.split('\nNOTES:\n');
    assert.match(notes, flags);
    assert.equal(notes.includes('Who leads'), mode !== 'shadow');
  });
}

test('where the server streams lists, `list` is granted and not needed', { timeout: 90_000 }, async (t) => {
  const streaming = await ReleaseStand.start([]);
  t.after(() => streaming.stop());
  const running = await streaming.install({ name: 'streaming', values: valuesOf('replace'), parts: {} });
  await comeAndGo(streaming.cluster, 'fresh');
  // Leases are listed for a look past the stream, whatever the server can.
  const listed = permissionsOf(running.parts).filter(({ verb, resource }) => verb === 'list' && resource !== 'leases');
  await running.controller.terminate();
  assert.deepEqual(unusedOf(listed, running.requests()), listed.map(permissionText));
});
