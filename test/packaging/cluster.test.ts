// The chart and the manifests on a real kube-apiserver, with Pod Security `restricted` enforced: everything is accepted,
// and the service account of a release may do what the controller does, no less and no more.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { stringify } from 'yaml';
import { AuditTrail } from '../control-plane/audit-trail.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/control-plane.ts';
import { ScriptedCluster } from '../control-plane/scripted-cluster.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { NlcProcess } from '../support/nlc-process.ts';
import { refusedOf, unusedOf } from './granted-use.ts';
import { schemaFileTemplate, writeDefinitionSchemas, writeServerSchemas } from './json-schemas.ts';
import { overlayValues, plainRendering } from './manifest-pages.ts';
import { defaultParts, type Parts, permissionsOf } from './permissions.ts';
import {
  buildKustomization,
  type KubeManifest,
  namespace,
  parseManifests,
  pick,
  renderChart,
  root,
  runTool,
} from './render.ts';
import { findTools } from './tools.ts';
import { readFileSync } from 'node:fs';

const soon = { timeoutMs: 60_000 };
const leading = 'leading';
const unreachable = 'node.kubernetes.io/unreachable';
const everything = `
resourceQuota: { create: true }
metrics:
  serviceMonitor: { enabled: true, interval: 30s, labels: { a: b }, metricRelabelings: [{ action: labeldrop, regex: host }] }
  podMonitor: { enabled: true, interval: 30s, labels: { a: b }, metricRelabelings: [{ action: labeldrop, regex: host }] }
networkPolicy:
  apiServer: { cidrs: [10.0.0.0/24] }
  metricsFrom: [{ podSelector: {} }]
  extraEgress: [{ to: [{ ipBlock: { cidr: 10.1.0.0/16 } }] }]
config: { watchCanary: true, controllers: '*,podgc' }
extraArgs: [--v=2]
extraEnv: [{ name: HTTPS_PROXY, value: http://proxy }]
imagePullSecrets: [{ name: registry }]
commonLabels: { team: platform }
podAnnotations: { a: b }
podLabels: { c: d }
serviceAccount: { annotations: { a: b } }`;

let plane: ControlPlane;
let cluster: ScriptedCluster;
const controllers: NlcProcess[] = [];

before(async () => {
  // Without WatchList the controller lists and then watches, as it does on servers before 1.35: both verbs are granted.
  plane = await startControlPlane({ auditLevel: 'Metadata', apiServerArgs: ['--feature-gates=WatchList=false'] });
  cluster = new ScriptedCluster(plane.client());
  await cluster.addNode('n0', 'z0', { labels: { 'kubernetes.io/os': 'linux' } });
  for (let i = 1; i < 6; i++) await cluster.addNode(`n${i}`, `z${i % 2}`);
  cluster.start();
});

after(async () => {
  for (const controller of controllers) {
    if (!controller.hasEnded) console.log(controller.stderr);
    await controller.kill();
  }
  await cluster.stop();
  await plane.stop();
});

const yamlOf = (objects: readonly object[]): string => objects.map((object) => stringify(object)).join('---\n');

async function apply(objects: readonly object[], ...options: readonly string[]): Promise<void> {
  const args = ['apply', '--server-side', '--validate=strict', ...options, '--filename=-'];
  const { code, stderr } = await plane.kubectl(args, yamlOf(objects));
  assert.equal(code, 0, stderr);
  assert.equal(stderr, '', 'no warning');
}

function staticPod(): readonly KubeManifest[] {
  return parseManifests(readFileSync(join(root, 'manifests/static-pod/node-lifecycle-controller.yaml'), 'utf8'));
}

test('kubeconform: every rendering has the fields that this kube-apiserver and the Prometheus operator know', async () => {
  const found = findTools();
  assert.ok('dir' in found);
  const folder = join(plane.folder, 'schemas');
  writeServerSchemas(folder, await plane.client().must('GET', '/openapi/v2'));
  for (const file of found.definitions) writeDefinitionSchemas(folder, file);
  const conform = (objects: readonly object[]): ReturnType<typeof runTool> =>
    runTool(
      'kubeconform',
      ['-strict', '-summary', '-schema-location', join(folder, schemaFileTemplate), '-'],
      yamlOf(objects),
    );
  const renderings = [renderChart(), renderChart({ values: everything }), renderChart({ values: 'hostNetwork: true' })];
  const folders = ['base', ...Object.keys(overlayValues).map((overlay) => `overlays/${overlay}`)];
  for (const objects of [...renderings, ...folders.map(buildKustomization), staticPod()]) {
    const { code, stdout, stderr } = conform(objects);
    assert.equal(code, 0, stdout + stderr);
    assert.match(stdout, new RegExp(`Valid: ${objects.length}, Invalid: 0, Errors: 0, Skipped: 0`));
  }
  const wrong = [{ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a', nmespace: 'b' } }];
  assert.equal(conform(wrong).code, 1, 'it does look');
});

test('kube-apiserver takes everything without a warning where Pod Security is restricted', async () => {
  const found = findTools();
  assert.ok('dir' in found);
  for (const file of found.definitions) await apply(parseManifests(readFileSync(file, 'utf8')));
  await plane.kubectl(['wait', '--for=condition=Established', 'customresourcedefinitions', '--all']);
  await apply(buildKustomization('base'));
  await apply(buildKustomization('overlays/prometheus'), '--dry-run=server');
  await apply(renderChart({ values: everything, release: 'all' }), '--dry-run=server');
  await apply(staticPod(), '--dry-run=server');
});

function podOf(values: string): object {
  const { spec } = pick(renderChart({ values }), 'Deployment') as unknown as { spec: { template: object } };
  return { apiVersion: 'v1', kind: 'Pod', ...spec.template };
}

test('Pod Security: the pods are let in, and on the host network they are not', async () => {
  const pods = `/api/v1/namespaces/${namespace}/pods?dryRun=All`;
  const create = (values: string): ReturnType<typeof client.send> => {
    const pod = podOf(values) as { metadata: object };
    return client.send('POST', pods, { ...pod, metadata: { ...pod.metadata, name: 'p' } });
  };
  const client = plane.client();
  const { status, body } = await create('');
  assert.equal(status, 201, JSON.stringify(body));
  const refused = await create('hostNetwork: true');
  assert.equal(refused.status, 403);
  assert.match(
    String((refused.body as { message?: string }).message),
    /violates PodSecurity "restricted:latest": host namespaces/,
  );
});

interface Release {
  readonly name: string;
  readonly values: string;
  readonly parts: Partial<Parts>;
}

interface RunningRelease {
  readonly controller: NlcProcess;
  readonly requests: () => ReturnType<AuditTrail['requests']>;
  readonly parts: Parts;
}

const quick = `
  nodeMonitorPeriod: 1s
  nodeMonitorGracePeriod: 6s
  nodeEvictionRate: 10
  logFormat: json`;

/** Applies a release and runs its controller with its config file and its service account, and nothing else. */
async function install({ name, values, parts }: Release): Promise<RunningRelease> {
  const objects = renderChart({ release: name, values });
  await apply(objects);
  const account = pick(objects, 'ServiceAccount').metadata.name;
  const { data } = pick(objects, 'ConfigMap') as KubeManifest & { data: Record<string, string> };
  const config = join(plane.folder, `${name}.config.yaml`);
  writeFileSync(config, data['config.yaml'] ?? '');
  const controller = new NlcProcess([
    'controller',
    `--config=${config}`,
    `--kubeconfig=${plane.kubeconfigFor(await tokenOf(account))}`,
    '--metrics-bind-address=127.0.0.1:0',
    '--health-probe-bind-address=127.0.0.1:0',
  ]);
  controllers.push(controller);
  const trail = new AuditTrail(plane.auditLogFile ?? '', `system:serviceaccount:${namespace}:${account}`);
  await waitUntil(`${name} leads`, soon, () => controller.logs().find(({ msg }) => msg === leading));
  return { controller, requests: () => trail.requests(), parts: { ...defaultParts, ...parts } };
}

async function tokenOf(account: string): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`;
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3_600 } };
  const { status } = await plane.client().must<{ status: { token: string } }>('POST', path, request);
  return status.token;
}

/** No less: nothing was refused. No more: every verb was needed. */
async function expectExact({ requests, parts }: RunningRelease, elsewhere = ''): Promise<void> {
  const granted = permissionsOf(parts).map((permission) =>
    elsewhere !== '' && permission.name === 'node-lifecycle-controller'
      ? { ...permission, name: elsewhere }
      : permission,
  );
  await waitUntil('every permission used', soon, () =>
    unusedOf(granted, requests()).length === 0 ? true : undefined,
  ).catch(() => assert.deepEqual(unusedOf(granted, requests()), [], 'granted and never used'));
  assert.deepEqual(refusedOf(requests()), [], 'refused');
}

async function end(...running: readonly RunningRelease[]): Promise<void> {
  for (const { controller } of running) assert.deepEqual(await controller.terminate(), { code: 0, signal: null });
  await plane
    .client()
    .send('DELETE', '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/node-lifecycle-controller');
}

const tolerating = (tolerationSeconds: number): object => ({
  key: unreachable,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds,
});

async function addPod(name: string, node: string, seconds: number): Promise<void> {
  await cluster.addPod(name, node, [tolerating(seconds)] as Parameters<ScriptedCluster['addPod']>[2]);
}

async function taintsAre(node: string, taints: readonly string[]): Promise<void> {
  await waitUntil(`${node}: ${taints.join()}`, soon, async () =>
    (await cluster.taints(node)).join() === taints.join() ? true : undefined,
  );
}

async function podIsGone(name: string): Promise<void> {
  await waitUntil(`${name} gone`, soon, async () => ((await cluster.pod(name)) === undefined ? true : undefined));
}

/** Twice, because the second time the same events are told again: as patches. */
async function goDarkTwice(node: string, tag: string): Promise<void> {
  await addPod(`patient-${tag}`, node, 600);
  for (const round of [1, 2]) {
    await addPod(`impatient-${tag}-${round}`, node, 0);
    cluster.goDark(node);
    await taintsAre(node, ['unreachable:NoExecute', 'unreachable:NoSchedule']);
    await podIsGone(`impatient-${tag}-${round}`);
    await cluster.comeBack(node);
    await taintsAre(node, []);
    await waitUntil('the appointment cancelled', soon, async () =>
      (await cluster.events()).find(({ message }) => message === `Cancelling deletion of Pod default/patient-${tag}`),
    );
  }
}

test('the default release and its canary: the service account is enough, and nothing of it is unused', {
  timeout: 150_000,
}, async () => {
  const values = `config:${quick}\n  watchCanary: true`;
  const running = await install({ name: 'whole', values, parts: { watchCanary: true } });
  await goDarkTwice('n0', 'whole');
  await expectExact(running);
  await end(running);
});

test('a detector and an evictor side by side, each with its part of the permissions', {
  timeout: 150_000,
}, async () => {
  const release = (name: string, controller: string, parts: Partial<Parts>): Release => ({
    name,
    values: `config:${quick}\n  controllers: ${controller}\nleaderElection: { resourceName: ${name} }`,
    parts,
  });
  const detector = await install(release('detector', 'node-lifecycle-controller', { evictsByTaint: false }));
  const evictor = await install(release('evictor', 'taint-eviction-controller', { detects: false }));
  await goDarkTwice('n1', 'split');
  await expectExact(detector, 'detector');
  await expectExact(evictor, 'evictor');
  await end(detector, evictor);
});

test('eviction mode, the collector and events.k8s.io', { timeout: 200_000 }, async () => {
  const values = `config:${quick}
  controllers: '*,podgc'
  featureGates: { TaintBasedEvictions: 'false' }
  podEvictionTimeout: 5s
  eventsApi: events.k8s.io`;
  const parts = { evictsByTaint: false, evictionMode: true, collects: true, eventsApi: 'events.k8s.io' } as const;
  const running = await install({ name: 'older', values, parts });
  await cluster.addPod('orphan', 'nowhere', []);
  for (const round of [1, 2]) {
    await cluster.addPod(`evicted-${round}`, 'n2', []);
    cluster.goDark('n2');
    await podIsGone(`evicted-${round}`);
    await cluster.comeBack('n2');
    await taintsAre('n2', []);
  }
  await podIsGone('orphan');
  await expectExact(running);
  await end(running);
});

test('kubectl takes install.yaml as it is', async () => {
  const text = readFileSync(join(root, 'manifests/install.yaml'), 'utf8');
  await apply(parseManifests(text), '--dry-run=server');
  assert.deepEqual(plainRendering().length + 1, parseManifests(text).length);
});
