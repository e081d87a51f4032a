// End to end on a real kube-apiserver: a node becomes silent, is marked and tainted, its pods are evicted in time, and after
// it recovers all marks and taints are removed.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { NlcProcess } from '../support/nlc-process.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { ScriptedCluster } from './scripted-cluster.ts';
import { waitUntil } from './wait-until.ts';

const soon = { timeoutMs: 30_000 };
const graceMs = 8_000;
const unreachable = 'node.kubernetes.io/unreachable';

interface AuditLine {
  readonly stage: string;
  readonly verb: string;
  readonly userAgent?: string;
  readonly objectRef?: { readonly resource: string; readonly subresource?: string; readonly name?: string };
  readonly responseStatus?: { readonly code: number };
}

function writesOf(plane: ControlPlane): readonly AuditLine[] {
  return readFileSync(plane.auditLogFile ?? '', 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as AuditLine)
    .filter(({ stage, verb, userAgent }) => {
      const isController = userAgent?.startsWith('node-lifecycle-controller/');
      return (
        isController === true && stage === 'ResponseComplete' && ['create', 'update', 'patch', 'delete'].includes(verb)
      );
    });
}

/** Writes that are neither events nor the election's lease. */
function actsOf(plane: ControlPlane): readonly string[] {
  return writesOf(plane)
    .filter(({ objectRef }) => objectRef?.resource !== 'events' && objectRef?.resource !== 'leases')
    .map(({ verb, objectRef }) =>
      [verb, objectRef?.resource, objectRef?.subresource, objectRef?.name].filter(Boolean).join(' '),
    );
}

const tolerating = (seconds?: number): object[] => [
  {
    key: unreachable,
    operator: 'Exists',
    effect: 'NoExecute',
    ...(seconds === undefined ? {} : { tolerationSeconds: seconds }),
  },
  {
    key: 'node.kubernetes.io/not-ready',
    operator: 'Exists',
    effect: 'NoExecute',
    ...(seconds === undefined ? {} : { tolerationSeconds: seconds }),
  },
];

let plane: ControlPlane;
let cluster: ScriptedCluster;
let controller: NlcProcess | undefined;

before(async () => {
  plane = await startControlPlane({ auditLevel: 'Metadata' });
  cluster = new ScriptedCluster(plane.client());
  for (let i = 0; i < 9; i++) await cluster.addNode(`n${i}`, `z${i % 3}`);
  await cluster.addPod('impatient', 'n0', tolerating(0));
  await cluster.addPod('patient', 'n0', tolerating(10));
  await cluster.addPod('very-patient', 'n0', tolerating(300));
  await cluster.addPod('for-ever', 'n0', tolerating());
  await cluster.addPod('elsewhere', 'n1', tolerating(0));
  cluster.start();
});

after(async () => {
  await controller?.kill();
  await cluster.stop();
  await plane.stop();
});

function startController(): NlcProcess {
  return NlcProcess.controller(
    plane.kubeconfigFile,
    `--node-monitor-grace-period=${graceMs}ms`,
    '--node-monitor-period=1s',
    '--node-eviction-rate=10',
  );
}

async function holder(): Promise<string> {
  const path = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/node-lifecycle-controller';
  const { spec } = await plane.client().must<{ spec: { holderIdentity?: string } }>('GET', path);
  return spec.holderIdentity ?? '';
}

test('a node becomes unreachable, its pods are evicted, and its taints are removed when it recovers', {
  timeout: 150_000,
}, async () => {
  controller = startController();
  const running = controller;
  await waitUntil('leading', soon, () => running.said('leading'));

  // Nodes are created with not-ready:NoSchedule; the controller removes it because they are Ready.
  for (let i = 0; i < 9; i++) await cluster.untilClean(`n${i}`);
  assert.equal((await fetch(`http://${running.address('health')}/readyz?verbose`)).status, 200);
  const quietFrom = actsOf(plane).length;
  await new Promise((resolve) => setTimeout(resolve, graceMs + 3_000));
  assert.deepEqual(actsOf(plane).slice(quietFrom), [], 'a healthy cluster causes no writes');

  cluster.stopHeartbeats('n0');
  const silentAt = Date.now();
  await waitUntil('both taints', soon, async () => (await cluster.taints('n0')).length === 2);
  const taintedAt = Date.now();
  assert.ok(taintedAt - silentAt >= graceMs - 1_500, `tainted after ${taintedAt - silentAt} ms`);
  assert.ok(taintedAt - silentAt <= graceMs + 3_000, `tainted after ${taintedAt - silentAt} ms`);
  assert.deepEqual(await cluster.taints('n0'), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
  const ready = (await cluster.node('n0')).status.conditions?.find(({ type }) => type === 'Ready');
  assert.deepEqual([ready?.status, ready?.reason], ['Unknown', 'NodeStatusUnknown']);

  await waitUntil('impatient gone', soon, async () => (await cluster.pod('impatient')) === undefined);
  const marked = await waitUntil('very-patient marked', soon, async () => {
    const pod = await cluster.pod('very-patient');
    return pod?.status.conditions?.find(({ type }) => type === 'Ready')?.status === 'False' ? pod : undefined;
  });
  assert.equal(marked.metadata.deletionTimestamp, undefined);
  assert.ok((await cluster.pod('patient')) !== undefined, 'patient has 10 s');
  await waitUntil('patient gone', soon, async () => (await cluster.pod('patient')) === undefined);
  const waited = Date.now() - taintedAt;
  assert.ok(waited >= 9_000 && waited <= 13_000, `patient left ${waited} ms after the taint`);

  await cluster.resumeHeartbeats('n0');
  await cluster.untilClean('n0');
  await waitUntil('the timed eviction is cancelled', soon, async () => {
    const events = await cluster.events();
    return events.find(({ message }) => message === 'Cancelling deletion of Pod default/very-patient');
  });
  for (const name of ['very-patient', 'for-ever', 'elsewhere']) {
    assert.equal((await cluster.pod(name))?.metadata.deletionTimestamp, undefined, name);
  }

  const events = (await cluster.events()).map(
    ({ reason, involvedObject, source }) =>
      `${source.component} ${reason} ${involvedObject.kind} ${involvedObject.name}`,
  );
  for (const expected of [
    'node-controller RegisteredNode Node n0',
    'node-controller NodeNotReady Node n0',
    'node-controller NodeNotReady Pod patient',
    'taint-eviction-controller TaintManagerEviction Pod patient',
    'taint-eviction-controller TaintManagerEviction Pod impatient',
  ]) {
    assert.ok(events.includes(expected), `${expected} is missing`);
  }
  const refused = writesOf(plane).filter(
    ({ responseStatus }) => responseStatus !== undefined && responseStatus.code >= 400,
  );
  const found = refused.filter(({ responseStatus }) => responseStatus?.code !== 409 && responseStatus?.code !== 404);
  assert.deepEqual(found, []);

  const metrics = await running.page('/metrics');
  assert.match(metrics, /node_collector_evictions_total\{zone="r\/z0"\} 1\n/);
  assert.match(metrics, /taint_eviction_controller_pod_deletions_total 2\n/);
  assert.match(metrics, /node_lifecycle_recovered_nodes_total\{boot="same"\} 1\n/);
  assert.match(metrics, /node_lifecycle_taint_latency_seconds_count 1\n/);
  assert.notEqual(await holder(), '');
  assert.deepEqual(await running.terminate(), { code: 0, signal: null });
  assert.equal(await holder(), '');
});
