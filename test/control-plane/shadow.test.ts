// Shadow mode beside the real kube-controller-manager with a read-only token: a node becomes unreachable, its pods are
// evicted, and it recovers. Three shadows run: with the grace period of kube-controller-manager, a shorter and a longer one.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ShadowReport } from '../../src/controller/shadow/report.ts';
import { NlcProcess } from '../support/nlc-process.ts';
import { AuditTrail } from './audit-trail.ts';
import { findControlPlane } from '../../tools/control-plane/binaries.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { ScriptedCluster } from './scripted-cluster.ts';
import { waitUntil } from './wait-until.ts';

const soon = { timeoutMs: 60_000 };
const graces = { shorter: 8, same: 18, longer: 28 } as const;
type Shadow = keyof typeof graces;

const user = 'shadow';
const authorization = '/apis/rbac.authorization.k8s.io/v1';
const reading = ['list', 'watch'];
const binaries = findControlPlane();
const skip = 'missing' in binaries ? binaries.missing : false;

const tolerating = (seconds: number): object[] =>
  ['unreachable', 'not-ready'].map((name) => {
    return { key: `node.kubernetes.io/${name}`, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: seconds };
  });

let plane: ControlPlane;
let cluster: ScriptedCluster;
const shadows = new Map<Shadow, NlcProcess>();

/** Grants exactly the permissions that docs/shadow.md lists. */
async function permitReading(): Promise<void> {
  const client = plane.client();
  const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: user }];
  const roleRef = (kind: string): object => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name: user });
  await client.must('POST', `${authorization}/clusterroles`, {
    metadata: { name: user },
    rules: [{ apiGroups: [''], resources: ['nodes', 'pods'], verbs: reading }],
  });
  await client.must('POST', `${authorization}/clusterrolebindings`, {
    metadata: { name: user },
    subjects,
    roleRef: roleRef('ClusterRole'),
  });
  const inLeases = `${authorization}/namespaces/kube-node-lease`;
  await client.must('POST', `${inLeases}/roles`, {
    metadata: { name: user },
    rules: [{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', ...reading] }],
  });
  await client.must('POST', `${inLeases}/rolebindings`, {
    metadata: { name: user },
    subjects,
    roleRef: roleRef('Role'),
  });
}

function startShadow(grace: number): NlcProcess {
  return NlcProcess.controller(
    plane.kubeconfigFor(plane.tokenOf(user)),
    '--shadow',
    `--node-monitor-grace-period=${grace}s`,
    // Acts within twice this period agree; kube-controller-manager, which runs a pass every second, is never later.
    '--node-monitor-period=3s',
    '--node-eviction-rate=10',
    '--control-plane-path-failure-hold=0s',
  );
}

async function reportOf(name: Shadow): Promise<ShadowReport> {
  return JSON.parse((await shadows.get(name)?.page('/shadow')) ?? '') as ShadowReport;
}

/** Its report, once the condition holds. */
function whenReported(name: Shadow, wanted: (report: ShadowReport) => boolean): Promise<ShadowReport> {
  return waitUntil(`${name}: report`, soon, async () => {
    const report = await reportOf(name);
    return wanted(report) ? report : undefined;
  });
}

before(async () => {
  if (skip !== false) return;
  plane = await startControlPlane({ auditLevel: 'Metadata', users: [{ name: user }] });
  await permitReading();
  cluster = new ScriptedCluster(plane.client());
  for (let i = 0; i < 6; i++) await cluster.addNode(`n${i}`, `z${i % 3}`);
  cluster.start();
  await plane.startControllerManager([
    '--controllers=node-lifecycle-controller,taint-eviction-controller',
    `--node-monitor-grace-period=${graces.same}s`,
    '--node-monitor-period=1s',
    '--node-eviction-rate=10',
  ]);
  for (const [name, grace] of Object.entries(graces)) shadows.set(name as Shadow, startShadow(grace));
});

after(async () => {
  await Promise.all([...shadows.values()].map((shadow) => shadow.kill()));
  await cluster?.stop();
  await plane?.stop();
});

test('shadows report how they differ from kube-controller-manager, and write nothing', {
  skip,
  timeout: 180_000,
}, async (t) => {
  for (const [name, shadow] of shadows) {
    await waitUntil(`${name} runs`, soon, () =>
      shadow.logs().find(({ msg }) => msg === 'running in shadow mode; nothing is written'),
    );
  }
  for (let i = 0; i < 6; i++) await cluster.untilClean(`n${i}`);
  await cluster.addPod('leaves', 'n0', tolerating(0), { graceSeconds: 30 });
  await cluster.addPod('stays', 'n0', tolerating(300));
  await cluster.addPod('is-deleted', 'n1', tolerating(300));

  cluster.stopHeartbeats('n0');
  // A deletion by another client on a healthy node is not an eviction.
  await plane.client().must('DELETE', '/api/v1/namespaces/default/pods/is-deleted');
  const same = await whenReported('same', ({ totals, open }) => open === 0 && totals['pod-eviction'].agree === 1);
  for (const act of ['node-unknown', 'no-schedule-taint', 'no-execute-taint', 'pod-eviction'] as const) {
    assert.deepEqual(countsOf(same, act), { agree: 1 }, `same grace period: ${act}`);
  }
  assert.deepEqual(countsOf(same, 'pod-not-ready'), { agree: 2 });

  const shorter = await whenReported(
    'shorter',
    ({ totals, open }) => open === 0 && totals['pod-eviction'].earlier === 1,
  );
  const longer = await whenReported('longer', ({ totals, open }) => open === 0 && totals['pod-eviction'].later === 1);
  for (const act of ['node-unknown', 'no-schedule-taint', 'no-execute-taint', 'pod-eviction'] as const) {
    assert.deepEqual(countsOf(shorter, act), { earlier: 1 }, `shorter grace period: ${act}`);
    assert.deepEqual(countsOf(longer, act), { later: 1 }, `longer grace period: ${act}`);
    for (const [name, report, wanted] of [
      ['shorter', shorter, graces.same - graces.shorter],
      ['longer', longer, graces.longer - graces.same],
    ] as const) {
      const apart = report.episodes.find(
        (episode) => episode.act === act && episode.outcome !== 'agree',
      )?.differenceSeconds;
      t.diagnostic(`${name} grace period, ${act}: ${String(apart)} s apart`);
      assert.ok(Math.abs((apart ?? 0) - wanted) < 6, `${name}: ${act} ${String(apart)} s apart, not about ${wanted}`);
    }
  }
  assert.match(shorter.episodes.find(({ act }) => act === 'node-unknown')?.why ?? '', /^node n0 is silent: /);

  await cluster.resumeHeartbeats('n0');
  await cluster.untilClean('n0');
  for (const name of shadows.keys()) {
    const end = await whenReported(name, ({ totals, open }) => open === 0 && totals['no-execute-untaint'].agree === 1);
    const alone = Object.values(end.totals).map(({ only_shadow, only_cluster }) => only_shadow + only_cluster);
    assert.deepEqual(new Set(alone), new Set([0]), `${name}: ${JSON.stringify(end.totals)}`);
  }

  const requests = new AuditTrail(plane.auditLogFile ?? '', user).requests();
  assert.deepEqual([...new Set(requests.map(({ verb }) => verb))].sort(), ['get', 'list', 'watch']);
  assert.deepEqual([...new Set(requests.map(({ resource }) => resource))].sort(), ['leases', 'nodes', 'pods']);
  const left = requests.filter(({ code }) => code === 403);
  assert.deepEqual(left, [], 'the documented permissions are sufficient');
});

/** Outcomes with a count above 0. */
function countsOf({ totals }: ShadowReport, act: keyof ShadowReport['totals']): object {
  return Object.fromEntries(Object.entries(totals[act]).filter(([, count]) => count > 0));
}
