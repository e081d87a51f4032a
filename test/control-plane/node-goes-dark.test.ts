// The main job, end to end on a real kube-apiserver: a node falls silent, is marked and tainted, its pods leave in time,
// and when it comes back nothing is left of it.
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
      const ours = userAgent?.startsWith('node-lifecycle-controller/');
      return ours === true && stage === 'ResponseComplete' && ['create', 'update', 'patch', 'delete'].includes(verb);
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
  return new NlcProcess([
    'controller',
    `--kubeconfig=${plane.kubeconfigFile}`,
    `--node-monitor-grace-period=${graceMs}ms`,
    '--node-monitor-period=1s',
    '--node-eviction-rate=10',
    '--metrics-bind-address=127.0.0.1:0',
    '--health-probe-bind-address=127.0.0.1:0',
    '--log-format=json',
  ]);
}

async function pageOf(process: NlcProcess, message: string, path: string): Promise<{ status: number; text: string }> {
  const line = await waitUntil(message, soon, () => process.logs().find(({ msg }) => msg === message));
  const response = await fetch(`http://127.0.0.1:${String(line['port'])}${path}`);
  return { status: response.status, text: await response.text() };
}

test('a node goes dark, its pods are moved, and it comes back clean', { timeout: 150_000 }, async () => {
  controller = startController();
  const running = controller;
  await waitUntil('leading', soon, () => running.logs().find(({ msg }) => msg === 'leading'));

  // Born tainted not-ready:NoSchedule; Ready, so that goes first.
  for (let i = 0; i < 9; i++) {
    await waitUntil(`n${i} without taints`, soon, async () =>
      (await cluster.taints(`n${i}`)).length === 0 ? true : undefined,
    );
  }
  assert.equal((await pageOf(running, 'serving /livez and /readyz', '/readyz?verbose')).status, 200);
  const quietFrom = actsOf(plane).length;
  await new Promise((resolve) => setTimeout(resolve, graceMs + 3_000));
  assert.deepEqual(actsOf(plane).slice(quietFrom), [], 'a healthy quiet cluster costs no write');

  cluster.goDark('n0');
  const darkAt = Date.now();
  await waitUntil('both taints', soon, async () => ((await cluster.taints('n0')).length === 2 ? true : undefined));
  const taintedAt = Date.now();
  assert.ok(taintedAt - darkAt >= graceMs - 1_500, `tainted after ${taintedAt - darkAt} ms`);
  assert.ok(taintedAt - darkAt <= graceMs + 3_000, `tainted after ${taintedAt - darkAt} ms`);
  assert.deepEqual(await cluster.taints('n0'), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
  const ready = (await cluster.node('n0')).status.conditions.find(({ type }) => type === 'Ready');
  assert.deepEqual([ready?.status, ready?.reason], ['Unknown', 'NodeStatusUnknown']);

  await waitUntil('impatient gone', soon, async () =>
    (await cluster.pod('impatient')) === undefined ? true : undefined,
  );
  const marked = await waitUntil('very-patient marked', soon, async () => {
    const pod = await cluster.pod('very-patient');
    return pod?.status.conditions?.find(({ type }) => type === 'Ready')?.status === 'False' ? pod : undefined;
  });
  assert.equal(marked.metadata.deletionTimestamp, undefined);
  assert.ok((await cluster.pod('patient')) !== undefined, 'patient has 10 s');
  await waitUntil('patient gone', soon, async () => ((await cluster.pod('patient')) === undefined ? true : undefined));
  const waited = Date.now() - taintedAt;
  assert.ok(waited >= 9_000 && waited <= 13_000, `patient left ${waited} ms after the taint`);

  await cluster.comeBack('n0');
  await waitUntil('n0 clean', soon, async () => ((await cluster.taints('n0')).length === 0 ? true : undefined));
  await waitUntil('the appointment cancelled', soon, async () => {
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
  assert.deepEqual(
    refused.filter(({ responseStatus }) => responseStatus?.code !== 409 && responseStatus?.code !== 404),
    [],
  );

  const metrics = await pageOf(running, 'serving /metrics', '/metrics');
  assert.match(metrics.text, /node_collector_evictions_total\{zone="r\/z0"\} 1\n/);
  assert.match(metrics.text, /taint_eviction_controller_pod_deletions_total 2\n/);
  assert.match(metrics.text, /node_lifecycle_recovered_nodes_total\{boot="same"\} 1\n/);
  assert.match(metrics.text, /node_lifecycle_taint_latency_seconds_count 1\n/);
  const lease = await plane
    .client()
    .must<{ spec: { holderIdentity: string } }>(
      'GET',
      '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/node-lifecycle-controller',
    );
  assert.notEqual(lease.spec.holderIdentity, '');
  assert.deepEqual(await running.terminate(), { code: 0, signal: null });
  const released = await plane
    .client()
    .must<{ spec: { holderIdentity?: string } }>(
      'GET',
      '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/node-lifecycle-controller',
    );
  assert.equal(released.spec.holderIdentity ?? '', '');
});
