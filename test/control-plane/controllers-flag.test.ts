// The flags of kube-controller-manager that docs/version-skew.md names for each mode, with all its other controllers running:
// it starts with them, and each act is done by exactly one of the two.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Toleration } from '../../src/machinery/api/tolerations.ts';
import { NlcProcess } from '../support/nlc-process.ts';
import { type AuditedRequest, AuditTrail } from './audit-trail.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { ScriptedCluster } from './scripted-cluster.ts';
import { waitUntil } from './wait-until.ts';

const soon = { timeoutMs: 60_000 };
const nlcUser = 'nlc';
/** The account of node lifecycle and taint eviction in kube-controller-manager. */
const inTreeUser = 'system:serviceaccount:kube-system:node-controller';
const timing = ['--node-monitor-period=1s', '--node-monitor-grace-period=4s', '--node-eviction-rate=10'];

interface Mode {
  readonly name: string;
  /** `--controllers` of kube-controller-manager. */
  readonly inTree: string;
  /** `--controllers` of nlc. */
  readonly nlc: string;
  readonly taints: string;
  readonly evicts: string;
}

const [detector, evictor] = ['node-lifecycle-controller', 'taint-eviction-controller'];
const modes: readonly Mode[] = [
  {
    name: 'replace',
    inTree: `*,-${detector},-${evictor}`,
    nlc: `${detector},${evictor}`,
    taints: nlcUser,
    evicts: nlcUser,
  },
  { name: 'detector-only', inTree: `*,-${detector}`, nlc: detector, taints: nlcUser, evicts: inTreeUser },
  { name: 'evictor-only', inTree: `*,-${evictor}`, nlc: evictor, taints: inTreeUser, evicts: nlcUser },
];

const intolerant: readonly Toleration[] = [
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 0 },
];

let plane: ControlPlane;
let cluster: ScriptedCluster;
const ends: (() => Promise<unknown>)[] = [];

before(async () => {
  plane = await startControlPlane({ auditLevel: 'Metadata', users: [{ name: nlcUser, groups: ['system:masters'] }] });
  cluster = new ScriptedCluster(plane.client());
  for (const [place, { name }] of modes.entries()) await cluster.addNode(name, `z${place}`);
  for (const zone of [0, 1, 2]) await cluster.addNode(`other-${zone}`, `z${zone}`);
  cluster.start();
});

after(async () => {
  await cluster.stop();
  await plane.stop();
});

async function startBoth({ inTree, nlc }: Mode): Promise<NlcProcess> {
  const account = '--use-service-account-credentials=true';
  const manager = await plane.startControllerManager([`--controllers=${inTree}`, account, ...timing]);
  ends.push(() => manager.stop());
  const kubeconfig = plane.kubeconfigFor(plane.tokenOf(nlcUser));
  const options = ['--leader-elect=false', '--control-plane-path-failure-hold=0s', ...timing];
  const controller = NlcProcess.controller(kubeconfig, `--controllers=${nlc}`, ...options);
  ends.push(() => controller.kill());
  return controller;
}

async function taintsAre(node: string, ...taints: readonly string[]): Promise<void> {
  await waitUntil(
    `${node}: ${taints.join() || 'no taints'}`,
    soon,
    async () => (await cluster.taints(node)).join() === taints.join(),
  );
}

/** Which of the two have made such requests, with success, since this time. Other controllers write to nodes as well. */
function usersSince(sinceMs: number, matches: (request: AuditedRequest) => boolean): readonly string[] {
  const done = new AuditTrail(plane.auditLogFile ?? '')
    .requests()
    .filter((each) => each.atMs >= sinceMs && each.code < 300);
  return [nlcUser, inTreeUser].filter((user) => done.some((request) => request.user === user && matches(request)));
}

for (const mode of modes) {
  test(`${mode.name}: kube-controller-manager runs with --controllers=${mode.inTree}, and each does its part`, async (t) => {
    t.after(async () => {
      for (const end of ends.splice(0).reverse()) await end();
    });
    const node = mode.name;
    const pod = `intolerant-${node}`;
    await cluster.addPod(pod, node, intolerant);
    await startBoth(mode);
    await taintsAre(node);
    const silentAtMs = Date.now();
    cluster.stopHeartbeats(node);
    await taintsAre(node, 'unreachable:NoExecute', 'unreachable:NoSchedule');
    await waitUntil('the pod is evicted', soon, async () => (await cluster.pod(pod)) === undefined);
    await cluster.resumeHeartbeats(node);
    await taintsAre(node);
    const isWrite = ({ verb }: AuditedRequest): boolean => verb === 'patch' || verb === 'update';
    const isEviction = ({ verb, resource, name }: AuditedRequest): boolean =>
      verb === 'delete' && resource === 'pods' && name === pod;
    const taintedBy = usersSince(
      silentAtMs,
      (each) => isWrite(each) && each.resource === 'nodes' && each.name === node,
    );
    const evictedBy = usersSince(silentAtMs, isEviction);
    assert.deepEqual({ taintedBy, evictedBy }, { taintedBy: [mode.taints], evictedBy: [mode.evicts] });
  });
}
