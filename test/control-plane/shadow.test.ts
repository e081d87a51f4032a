// Shadow mode beside the real kube-controller-manager, with a token that can do nothing but read: a node goes dark, loses its
// pods and comes back. Three shadows look on, one with the reference's own grace period, one with a shorter, one with a longer.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ShadowReport } from '../../src/controller/shadow/report.ts';
import { NlcProcess } from '../support/nlc-process.ts';
import { AuditTrail } from './audit-trail.ts';
import { findControlPlane } from './binaries.ts';
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

/** What docs/shadow.md says is needed, and not a verb more. */
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
  return new NlcProcess([
    'controller',
    '--shadow',
    `--kubeconfig=${plane.kubeconfigFor(plane.tokenOf(user))}`,
    `--node-monitor-grace-period=${grace}s`,
    // Twice this is taken for agreement: more than the reference, which looks once a second, is ever late.
    '--node-monitor-period=3s',
    '--node-eviction-rate=10',
    '--control-plane-path-failure-hold=0s',
    '--metrics-bind-address=127.0.0.1:0',
    '--health-probe-bind-address=0',
    '--log-format=json',
  ]);
}

async function reportOf(name: Shadow): Promise<ShadowReport> {
  const line = shadows
    .get(name)
    ?.logs()
    .find(({ msg }) => msg === 'serving /metrics');
  const response = await fetch(`http://127.0.0.1:${String(line?.['port'])}/shadow`);
  return (await response.json()) as ShadowReport;
}

/** Its report as soon as it is as wanted. */
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

test('shadows tell how they differ from kube-controller-manager, and write nothing', {
  skip,
  timeout: 180_000,
}, async (t) => {
  for (const [name, shadow] of shadows) {
    await waitUntil(`${name} looks on`, soon, () =>
      shadow.logs().find(({ msg }) => msg === 'in shadow: nothing is written'),
    );
  }
  for (let i = 0; i < 6; i++) {
    await waitUntil(`n${i} without taints`, soon, async () =>
      (await cluster.taints(`n${i}`)).length === 0 ? true : undefined,
    );
  }
  await cluster.addPod('leaves', 'n0', tolerating(0), { graceSeconds: 30 });
  await cluster.addPod('stays', 'n0', tolerating(300));
  await cluster.addPod('is-deleted', 'n1', tolerating(300));

  cluster.goDark('n0');
  // Somebody else's doing, on a healthy node: no eviction of anybody's.
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

  await cluster.comeBack('n0');
  await waitUntil('n0 clean', soon, async () => ((await cluster.taints('n0')).length === 0 ? true : undefined));
  for (const name of shadows.keys()) {
    const end = await whenReported(name, ({ totals, open }) => open === 0 && totals['no-execute-untaint'].agree === 1);
    const alone = Object.values(end.totals).map(({ only_us, only_them }) => only_us + only_them);
    assert.deepEqual(new Set(alone), new Set([0]), `${name}: ${JSON.stringify(end.totals)}`);
  }

  const requests = new AuditTrail(plane.auditLogFile ?? '', user).requests();
  assert.deepEqual([...new Set(requests.map(({ verb }) => verb))].sort(), ['get', 'list', 'watch']);
  assert.deepEqual([...new Set(requests.map(({ resource }) => resource))].sort(), ['leases', 'nodes', 'pods']);
  assert.deepEqual(
    requests.filter(({ code }) => code === 403),
    [],
    'what is documented is enough',
  );
});

/** Outcomes that happened, with how often. */
function countsOf({ totals }: ShadowReport, act: keyof ShadowReport['totals']): object {
  return Object.fromEntries(Object.entries(totals[act]).filter(([, count]) => count > 0));
}
