// The chart and the manifests on a real kube-apiserver, with Pod Security `restricted` enforced: everything is accepted, and
// the service account of a release has exactly the permissions that the controller uses.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { NlcProcess } from '../support/nlc-process.ts';
import { schemaFileTemplate, writeDefinitionSchemas, writeServerSchemas } from './json-schemas.ts';
import { overlayValues, plainRendering, presetValues, staticPodUser } from '../../tools/manifests/manifest-pages.ts';
import { defaultParts, permissionsOf } from '../../tools/manifests/permissions.ts';
import { podIsGone, taintsAre } from './node-stories.ts';
import { expectExact, quick, ReleaseStand, yamlOf } from './release-stand.ts';
import {
  buildKustomization,
  helmTemplate,
  type KubeManifest,
  namespace,
  parseManifests,
  pick,
  renderChart,
  root,
  runTool,
} from '../../tools/manifests/render.ts';
import { findTools } from '../../tools/packaging/programs.ts';

const everything = `
resourceQuota: { create: true }
metrics:
  serviceMonitor: { enabled: true, interval: 30s, labels: { a: b }, metricRelabelings: [{ action: labeldrop, regex: host }] }
  podMonitor: { enabled: true, interval: 30s, labels: { a: b }, metricRelabelings: [{ action: labeldrop, regex: host }] }
  prometheusRule: { enabled: true, labels: { a: b }, alertLabels: { team: platform }, runbookUrl: https://example.com/runbooks }
  dashboard: { enabled: true, annotations: { grafana_folder: Kubernetes } }
networkPolicy:
  apiServer: { cidrs: [10.0.0.0/24] }
  metricsFrom: [{ podSelector: {} }]
  extraEgress: [{ to: [{ ipBlock: { cidr: 10.1.0.0/16 } }] }]
config: { watchCanary: true, controllers: '*,podgc' }
apiServer: { host: 10.0.0.9 }
extraArgs: [--v=2]
extraEnv: [{ name: HTTPS_PROXY, value: http://proxy }]
imagePullSecrets: [{ name: registry }]
commonLabels: { team: platform }
podAnnotations: { a: b }
podLabels: { c: d }
serviceAccount: { annotations: { a: b } }`;

const secured = `
metrics:
  secure: true
  tls: { secretName: tls }
  tokenSecret: { name: token }
  serviceMonitor: { enabled: true }
  podMonitor: { enabled: true }
networkPolicy: { metricsFrom: [{ podSelector: {} }] }`;

let stand: ReleaseStand;
before(async () => {
  stand = await ReleaseStand.start();
});
after(async () => {
  await stand.stop();
});

function staticPod(): readonly KubeManifest[] {
  return parseManifests(readFileSync(join(root, 'manifests/static-pod/node-lifecycle-controller.yaml'), 'utf8'));
}

test('kubeconform: all rendered objects are valid for kube-apiserver and the Prometheus operator', async () => {
  const found = findTools();
  assert.ok('dir' in found);
  const folder = join(stand.plane.folder, 'schemas');
  writeServerSchemas(folder, await stand.plane.client().must('GET', '/openapi/v2'));
  for (const file of found.definitions) writeDefinitionSchemas(folder, file);
  const conform = (objects: readonly object[]): ReturnType<typeof runTool> =>
    runTool(
      'kubeconform',
      ['-strict', '-summary', '-schema-location', join(folder, schemaFileTemplate), '-'],
      yamlOf(objects),
    );
  const values = ['', everything, 'hostNetwork: true', 'kind: DaemonSet', secured, presetValues('dedicated-pool')];
  const renderings = values.map((text) => renderChart({ values: text }));
  const folders = ['base', ...Object.keys(overlayValues).map((overlay) => `overlays/${overlay}`)];
  for (const objects of [...renderings, ...folders.map(buildKustomization), staticPod()]) {
    const { code, stdout, stderr } = conform(objects);
    assert.equal(code, 0, stdout + stderr);
    assert.match(stdout, new RegExp(`Valid: ${objects.length}, Invalid: 0, Errors: 0, Skipped: 0`));
  }
  const wrong = [{ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a', nmespace: 'b' } }];
  assert.equal(conform(wrong).code, 1, 'an unknown field is detected');
});

function staticPodRoles(): readonly KubeManifest[] {
  return parseManifests(readFileSync(join(root, 'manifests/static-pod/rbac.yaml'), 'utf8'));
}

test('kube-apiserver accepts everything without a warning with Pod Security restricted', async () => {
  const found = findTools();
  assert.ok('dir' in found);
  for (const file of found.definitions) await stand.apply(parseManifests(readFileSync(file, 'utf8')));
  await stand.plane.kubectl(['wait', '--for=condition=Established', 'customresourcedefinitions', '--all']);
  await stand.apply(buildKustomization('base'));
  await stand.apply(buildKustomization('overlays/prometheus'), '--dry-run=server');
  await stand.apply(renderChart({ values: everything, release: 'all' }), '--dry-run=server');
  await stand.apply(renderChart({ values: secured, release: 'secured' }), '--dry-run=server');
  await stand.apply(staticPod(), '--dry-run=server');
  await stand.apply(staticPodRoles());
});

test('the user of the static pod has the permissions of the mode replace', async () => {
  const client = stand.plane.client();
  await stand.apply(staticPodRoles());
  for (const { group, resource, verb, namespace: where, name } of permissionsOf(defaultParts)) {
    const [main, subresource] = resource.split('/');
    const resourceAttributes = { group, resource: main, subresource, verb, namespace: where, name };
    const review = await client.must<{ status: { allowed: boolean } }>(
      'POST',
      '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      { spec: { user: staticPodUser, resourceAttributes } },
    );
    assert.equal(review.status.allowed, true, `${verb} ${resource} ${where} ${name}`);
  }
});

function podOf(values: string): object {
  const { spec } = pick(renderChart({ values }), 'Deployment') as unknown as { spec: { template: object } };
  return { apiVersion: 'v1', kind: 'Pod', ...spec.template };
}

test('Pod Security: the pods are admitted, and rejected on the host network', async () => {
  const pods = `/api/v1/namespaces/${namespace}/pods?dryRun=All`;
  const create = (values: string): ReturnType<typeof client.send> => {
    const pod = podOf(values) as { metadata: object };
    return client.send('POST', pods, { ...pod, metadata: { ...pod.metadata, name: 'p' } });
  };
  const client = stand.plane.client();
  const { status, body } = await create('');
  assert.equal(status, 201, JSON.stringify(body));
  const refused = await create('hostNetwork: true');
  assert.equal(refused.status, 403);
  const actual = String((refused.body as { message?: string }).message);
  assert.match(actual, /violates PodSecurity "restricted:latest": host namespaces/);
});

test('eviction mode, pod GC, the canary and events.k8s.io: no request is rejected, and every permission is used', {
  timeout: 200_000,
}, async () => {
  const { cluster } = stand;
  const values = `config:${quick}
  controllers: '*,podgc'
  featureGates: { TaintBasedEvictions: 'false' }
  podEvictionTimeout: 5s
  watchCanary: true
  eventsApi: events.k8s.io`;
  const others = { watchCanary: true, collects: true, eventsApi: 'events.k8s.io' } as const;
  const parts = { evictsByTaint: false, evictionMode: true, ...others };
  const running = await stand.install({ name: 'older', values, parts });
  await cluster.addPod('orphan', 'nowhere', []);
  for (const round of [1, 2]) {
    await cluster.addPod(`evicted-${round}`, 'n2', []);
    cluster.stopHeartbeats('n2');
    await podIsGone(cluster, `evicted-${round}`);
    await cluster.resumeHeartbeats('n2');
    await taintsAre(cluster, 'n2');
  }
  await podIsGone(cluster, 'orphan');
  await expectExact(running);
});

test('shadow with secure serving: its service account reads the pages, and may create only the two reviews', {
  timeout: 150_000,
}, async () => {
  const { cluster, plane } = stand;
  const parts = { shadow: true, leaderElect: false, secure: true };
  const values = `mode: shadow\nmetrics: { secure: true }\nconfig:${quick}`;
  const running = await stand.install({ name: 'secured', values, parts });
  const account = `/api/v1/namespaces/${namespace}/serviceaccounts/secured-node-lifecycle-controller/token`;
  const { status } = await plane.client().must<{ status: { token: string } }>('POST', account, { spec: {} });
  const server = `--server=https://${running.controller.address()}`;
  const command = new NlcProcess(['status', server, '--insecure-skip-tls-verify', `--token=${status.token}`]);
  assert.deepEqual(await command.exited, { code: 0, signal: null }, command.stderr);
  assert.notEqual(command.stdout, '');
  cluster.stopHeartbeats('n4');
  await expectExact(running);
  await cluster.resumeHeartbeats('n4');
});

const asKubelet = ['--as=system:node:n3', '--as-group=system:nodes'];

function setCondition(
  type: string,
  status: string,
  ...as: readonly string[]
): ReturnType<ReleaseStand['plane']['kubectl']> {
  const condition = { type, status, reason: 'Test', lastTransitionTime: '2026-11-28T00:00:00Z' };
  const patch = JSON.stringify({ status: { conditions: [condition] } });
  return stand.plane.kubectl([
    'patch',
    'node',
    'n3',
    '--subresource=status',
    '--type=strategic',
    `--patch=${patch}`,
    ...as,
  ]);
}

test('with protectLifecycleConditions a kubelet cannot say that its node is in maintenance, and others can', async () => {
  const rendered = renderChart({ values: 'protectLifecycleConditions: { create: true }', release: 'protected' });
  const admission = rendered.filter(({ apiVersion }) => apiVersion.startsWith('admissionregistration.k8s.io/'));
  assert.equal(admission.length, 2);
  assert.equal(
    renderChart({}).filter(({ kind }) => kind.startsWith('ValidatingAdmission')).length,
    0,
    'not by default',
  );
  await stand.apply(admission);
  // kubectl reads before it writes, which a kubelet may not.
  await stand.plane.kubectl([
    'create',
    'clusterrolebinding',
    'n3',
    '--clusterrole=cluster-admin',
    '--user=system:node:n3',
  ]);
  try {
    let refused = await setCondition('MaintenanceInProgress', 'True', ...asKubelet);
    for (const endMs = Date.now() + 30_000; refused.code === 0 && Date.now() < endMs; ) {
      await setCondition('MaintenanceInProgress', 'False');
      refused = await setCondition('MaintenanceInProgress', 'True', ...asKubelet);
    }
    assert.match(refused.stderr, /a kubelet must not set MaintenancePlanned, MaintenanceInProgress or Drained/);
    assert.equal((await setCondition('MaintenanceInProgress', 'True')).code, 0, 'an administrator');
    for (const type of ['DrainInProgress', 'GracefulNodeShutdownInProgress', 'Ready'])
      assert.deepEqual((await setCondition(type, 'True', ...asKubelet)).stderr, '', `${type} beside it`);
  } finally {
    await stand.plane.kubectl(['delete', 'clusterrolebinding', 'n3']);
    for (const { kind, metadata } of admission) await stand.plane.kubectl(['delete', kind, metadata.name]);
    for (const type of ['MaintenanceInProgress', 'DrainInProgress', 'GracefulNodeShutdownInProgress'])
      await setCondition(type, 'False');
  }
});

test('helm template, piped into kubectl apply', async () => {
  const own = 'by-hand';
  const created = await stand.plane.kubectl(['create', 'namespace', own]);
  assert.equal(created.code, 0, created.stderr);
  const { stdout } = helmTemplate({ namespace: own, release: own });
  const { code, stderr } = await stand.plane.kubectl(['apply', '--filename=-'], stdout);
  assert.deepEqual([code, stderr], [0, '']);
  const difference = await stand.plane.kubectl(['diff', '--filename=-'], stdout);
  assert.deepEqual(difference, { code: 0, stdout: '', stderr: '' }, 'the cluster equals the rendered objects');
});

test('kubectl applies install.yaml', async () => {
  const text = readFileSync(join(root, 'manifests/install.yaml'), 'utf8');
  await stand.apply(parseManifests(text), '--dry-run=server');
  assert.deepEqual(plainRendering().length + 1, parseManifests(text).length);
});
