// metrics.secure in the chart: config file, ports, monitors, and roles of readers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseControllerConfig } from '../../src/cli/controller/config.ts';
import { type KubeManifest, pick, renderChart } from '../../tools/manifests/render.ts';

const account = { kind: 'ServiceAccount', name: 'node-lifecycle-controller', namespace: 'node-lifecycle-controller' };

type Parts = Readonly<Record<string, unknown>>;

function configIn(objects: readonly KubeManifest[]): ReturnType<typeof parseControllerConfig> {
  const { data } = pick(objects, 'ConfigMap', 'node-lifecycle-controller') as KubeManifest & {
    data: Record<string, string>;
  };
  return parseControllerConfig(['--config=config.yaml'], () => data['config.yaml'] ?? '');
}

/** The volume and mount of the serving certificate, if present. */
function tlsPlaces(objects: readonly KubeManifest[]): readonly unknown[] {
  const { spec } = pick(objects, 'Deployment') as unknown as { spec: { template: { spec: Parts } } };
  const { volumes, containers } = spec.template.spec as {
    volumes: readonly Parts[];
    containers: readonly { volumeMounts: readonly Parts[] }[];
  };
  const mounts = containers.flatMap(({ volumeMounts }) => volumeMounts);
  return [...volumes, ...mounts].filter(({ name }) => name === 'tls');
}

function portNames(objects: readonly KubeManifest[]): readonly unknown[] {
  const service = pick(objects, 'Service') as unknown as { spec: { ports: readonly Parts[] } };
  const { spec } = pick(objects, 'Deployment') as unknown as {
    spec: { template: { spec: { containers: readonly { ports: readonly Parts[] }[] } } };
  };
  const own = spec.template.spec.containers.flatMap(({ ports }) => ports.map(({ name }) => name));
  return [...own, ...service.spec.ports.flatMap(({ name, targetPort }) => [name, targetPort])];
}

test('without metrics.secure none of its objects are rendered', () => {
  const objects = renderChart();
  const outcome = configIn(objects);
  assert.ok('config' in outcome);
  assert.equal(outcome.config.metricsSecure, false);
  assert.deepEqual([tlsPlaces(objects), portNames(objects)], [[], ['health', 'metrics', 'metrics', 'metrics']]);
  assert.ok(!objects.some(({ metadata }) => metadata.name.endsWith('-reader')));
});

test('a secret with a certificate is mounted and named in the config file', () => {
  const objects = renderChart({ values: 'metrics: { secure: true, tls: { secretName: pages-tls } }' });
  const outcome = configIn(objects);
  assert.ok('config' in outcome, JSON.stringify(outcome));
  const { metricsSecure, tlsCertFile, tlsPrivateKeyFile } = outcome.config;
  const folder = '/etc/node-lifecycle-controller-tls';
  assert.deepEqual([metricsSecure, tlsCertFile, tlsPrivateKeyFile], [true, `${folder}/tls.crt`, `${folder}/tls.key`]);
  assert.deepEqual(outcome.warnings, []);
  assert.deepEqual(tlsPlaces(objects), [
    { name: 'tls', secret: { secretName: 'pages-tls' } },
    { name: 'tls', mountPath: folder, readOnly: true },
  ]);
  assert.deepEqual(portNames(objects), ['health', 'https-metrics', 'https-metrics', 'https-metrics']);
});

test('without a secret the controller uses a self-signed certificate and warns about it', () => {
  const objects = renderChart({ values: 'metrics: { secure: true }' });
  const outcome = configIn(objects);
  assert.ok('config' in outcome, JSON.stringify(outcome));
  assert.match(outcome.warnings.join(), /--metrics-secure without --tls-cert-file/);
  assert.deepEqual(tlsPlaces(objects), []);
});

const monitored = `networkPolicy: { metricsFrom: [{ podSelector: {} }] }`;

function endpoint(values: string, kind: 'ServiceMonitor' | 'PodMonitor'): Parts {
  const { spec } = pick(renderChart({ values: `${monitored}\n${values}` }), kind) as unknown as {
    spec: Readonly<Record<string, readonly Parts[]>>;
  };
  return (spec['endpoints'] ?? spec['podMetricsEndpoints'])?.[0] ?? assert.fail('no endpoint');
}

test('monitors use TLS and a token, and verify the certificate if a CA is known', () => {
  const service = 'metrics: { secure: true, serviceMonitor: { enabled: true } }';
  assert.deepEqual(endpoint(service, 'ServiceMonitor'), {
    port: 'https-metrics',
    path: '/metrics',
    scheme: 'https',
    tlsConfig: { insecureSkipVerify: true },
    bearerTokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token',
  });
  const pod =
    'metrics: { secure: true, tls: { secretName: s }, tokenSecret: { name: t }, podMonitor: { enabled: true } }';
  assert.deepEqual(endpoint(pod, 'PodMonitor'), {
    port: 'https-metrics',
    path: '/metrics',
    scheme: 'https',
    tlsConfig: {
      ca: { secret: { name: 's', key: 'ca.crt' } },
      serverName: 'node-lifecycle-controller-metrics.node-lifecycle-controller.svc',
    },
    authorization: { credentials: { name: 't', key: 'token' } },
  });
  const plain = endpoint('metrics: { serviceMonitor: { enabled: true } }', 'ServiceMonitor');
  assert.deepEqual(plain, { port: 'metrics', path: '/metrics' });
});

test('the reader roles are bound only to the service account of the pod, and only if enabled', () => {
  const bindings = (values: string): readonly unknown[] =>
    renderChart({ values })
      .filter(({ kind, metadata }) => kind === 'ClusterRoleBinding' && metadata.name.endsWith('-reader'))
      .map(({ metadata, subjects }) => [metadata.name, subjects]);
  assert.deepEqual(bindings('metrics: { secure: true }'), [['node-lifecycle-controller-pages-reader', [account]]]);
  assert.deepEqual(bindings('metrics: { secure: true, ownAccountReads: false }'), []);
  const objects = renderChart({ values: 'metrics: { secure: true }' });
  const rules = ['metrics', 'pages'].map(
    (what) => pick(objects, 'ClusterRole', `node-lifecycle-controller-${what}-reader`)['rules'],
  );
  assert.deepEqual(rules, [
    [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
    [
      {
        nonResourceURLs: ['/configz', '/status', '/explain/*', '/shadow', '/shadow/*', '/dashboard', '/dashboard/*'],
        verbs: ['get'],
      },
    ],
  ]);
});

test('with secure pages a service account reads them for users of the kubectl plugin, who may request its tokens only', () => {
  const objects = renderChart({ values: 'metrics: { secure: true, ownAccountReads: false }' });
  const reader = { ...account, name: 'node-lifecycle-controller-pages-reader' };
  const created = pick(objects, 'ServiceAccount', reader.name);
  assert.deepEqual([created.metadata.namespace, created['automountServiceAccountToken']], [reader.namespace, false]);
  const binding = pick(objects, 'ClusterRoleBinding', 'node-lifecycle-controller-kubectl');
  assert.deepEqual(binding['subjects'], [reader]);
  assert.equal((binding['roleRef'] as { name: string }).name, 'node-lifecycle-controller-pages-reader');
  const { rules } = pick(objects, 'ClusterRole', 'node-lifecycle-controller-kubectl') as unknown as { rules: object[] };
  assert.deepEqual(rules.at(-1), {
    apiGroups: [''],
    resources: ['serviceaccounts/token'],
    resourceNames: [reader.name],
    verbs: ['create'],
  });
});
