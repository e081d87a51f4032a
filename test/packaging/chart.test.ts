// The chart, rendered by helm: what it makes of its values, what it refuses, and that its roles are those of permissions.ts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseControllerConfig } from '../../src/cli/controller-config.ts';
import { defaultParts, type Parts, type Permission, permissionsOf, permissionText } from './permissions.ts';
import {
  chart,
  helmTemplate,
  kubeVersion,
  type KubeManifest,
  pick,
  type Rendering,
  renderChart,
  runTool,
} from './render.ts';

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

function granted(objects: readonly KubeManifest[]): readonly string[] {
  const roles = objects.filter(({ kind }) => kind === 'ClusterRole' || kind === 'Role');
  return roles.flatMap((role) => (role['rules'] as readonly Rule[]).flatMap((rule) => spread(role, rule))).sort();
}

function spread({ metadata: { namespace = '' } }: KubeManifest, rule: Rule): readonly string[] {
  const permissions = rule.apiGroups.flatMap((group) =>
    rule.resources.flatMap((resource) =>
      rule.verbs.flatMap((verb) =>
        (rule.resourceNames ?? ['']).map((name): Permission => ({ group, resource, verb, namespace, name })),
      ),
    ),
  );
  return permissions.map(permissionText);
}

const modes: readonly { readonly values: string; readonly parts: Partial<Parts> }[] = [
  { values: '', parts: {} },
  { values: 'config: { watchCanary: true }', parts: { watchCanary: true } },
  { values: 'config: { eventsApi: events.k8s.io }', parts: { eventsApi: 'events.k8s.io' } },
  { values: 'config: { controllers: node-lifecycle-controller }', parts: { evictsByTaint: false } },
  { values: 'config: { controllers: "*,-taint-eviction-controller" }', parts: { evictsByTaint: false } },
  { values: 'config: { controllers: taint-eviction-controller }', parts: { detects: false } },
  { values: 'config: { controllers: "-nodelifecycle,*,nodelifecycle" }', parts: { detects: false } },
  { values: 'config: { controllers: "*, podgc" }', parts: { collects: true } },
  {
    values: 'config: { controllers: pod-garbage-collector-controller }',
    parts: { detects: false, evictsByTaint: false, collects: true },
  },
  {
    values: 'config: { featureGates: { TaintBasedEvictions: "false" } }',
    parts: { evictsByTaint: false, evictionMode: true },
  },
  { values: '{ replicas: 1, leaderElection: { enabled: false } }', parts: { leaderElect: false } },
];

for (const { values, parts } of modes) {
  test(`the roles are what runs needs: ${values === '' ? 'by default' : values}`, () => {
    const wanted = permissionsOf({ ...defaultParts, ...parts });
    assert.deepEqual(granted(renderChart({ values })), wanted.map(permissionText).sort());
  });
}

test('each role is bound to the service account of the release, and to nobody else', () => {
  const objects = renderChart();
  const { name, namespace } = pick(objects, 'ServiceAccount').metadata;
  for (const role of objects.filter(({ kind }) => kind === 'ClusterRole' || kind === 'Role')) {
    const binding = pick(objects, `${role.kind}Binding`, role.metadata.name);
    assert.equal(binding.metadata.namespace, role.metadata.namespace);
    assert.deepEqual(binding['subjects'], [{ kind: 'ServiceAccount', name, namespace }]);
    assert.deepEqual(binding['roleRef'], {
      apiGroup: 'rbac.authorization.k8s.io',
      kind: role.kind,
      name: role.metadata.name,
    });
  }
});

function configOf(rendering: Rendering): ReturnType<typeof parseControllerConfig> {
  const { data } = pick(renderChart(rendering), 'ConfigMap') as KubeManifest & { data: Record<string, string> };
  return parseControllerConfig(['--config=config.yaml'], () => data['config.yaml'] ?? '');
}

test('by default the config file says what the flags say by default, but for the metrics address', () => {
  const plain = parseControllerConfig(['--metrics-bind-address=:8080'], () => '');
  assert.deepEqual(configOf({}), plain);
});

test('values reach the config file, those that the chart owns too', () => {
  const outcome = configOf({
    values: `
config: { nodeEvictionRate: 0.5, fullDisruptionEvictionRate: 0.2, terminatedPodGcThreshold: 1000000 }
leaderElection: { leaseDuration: 30s, renewDeadline: 20s, retryPeriod: 4s, resourceNamespace: elsewhere }
logLevel: 4
health: { port: 9081 }
metrics: { enabled: false }`,
  });
  assert.ok('config' in outcome, JSON.stringify(outcome));
  const { controller, podGc, leaderElection, log, healthProbeBindAddress, metricsBindAddress } = outcome.config;
  assert.equal(controller.nodeEvictionRate, 0.5);
  assert.equal(controller.fullDisruptionEvictionRate, 0.2);
  assert.equal(podGc.terminatedPodGcThreshold, 1_000_000);
  assert.deepEqual([leaderElection.leaseDurationMs, leaderElection.leaseNamespace], [30_000, 'elsewhere']);
  assert.equal(log.verbosity, 4);
  assert.deepEqual([healthProbeBindAddress, metricsBindAddress], [{ host: '', port: 9081 }, 'off']);
});

const refusals: Readonly<Record<string, RegExp>> = {
  'replica: 3': /additional properties 'replica' not allowed/,
  'config: { nodeMonitorGracePeriodd: 40s }': /additional properties 'nodeMonitorGracePeriodd' not allowed/,
  'config: { nodeMonitorGracePeriod: 40 }': /\/config\/nodeMonitorGracePeriod/,
  'config: { nodeMonitorGracePeriod: 40x }': /\/config\/nodeMonitorGracePeriod.*does not match pattern/s,
  'config: { unhealthyZoneThreshold: 1.5 }': /\/config\/unhealthyZoneThreshold/,
  'config: { concurrentWrites: 0 }': /\/config\/concurrentWrites/,
  'config: { eventsApi: v1 }': /\/config\/eventsApi/,
  'config: { leaderElect: false }': /additional properties 'leaderElect' not allowed/,
  'leaderElection: { resourceName: Big }': /\/leaderElection\/resourceName/,
  'image: { digest: abc }': /\/image\/digest/,
  'leaderElection: { enabled: false }': /replicas: more than one needs leaderElection\.enabled/,
  'config: { controllers: "-nodelifecycle" }': /config\.controllers: selects nothing that runs/,
  'metrics: { enabled: false, podMonitor: { enabled: true } }': /metrics\.podMonitor\.enabled: needs metrics\.enabled/,
  'metrics: { service: { create: false }, serviceMonitor: { enabled: true } }': /needs .*metrics\.service\.create/,
  'metrics: { podMonitor: { enabled: true } }': /networkPolicy\.metricsFrom: name where Prometheus runs/,
  'serviceAccount: { create: false }': /serviceAccount\.name: needed/,
};

for (const [values, words] of Object.entries(refusals)) {
  test(`refused: ${values}`, () => {
    const { code, stderr } = helmTemplate({ values });
    assert.notEqual(code, 0);
    assert.match(stderr, words);
  });
}

interface PodTemplate {
  readonly spec: {
    readonly strategy: { readonly rollingUpdate: object };
    readonly template: {
      readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
      readonly spec: Readonly<Record<string, unknown>> & {
        readonly containers: readonly { readonly image: string; readonly args: readonly string[] }[];
      };
    };
  };
}

const deploymentOf = (rendering: Rendering): PodTemplate =>
  pick(renderChart(rendering), 'Deployment') as unknown as PodTemplate;

test('a changed setting restarts the pods, the same one does not', () => {
  const checksum = (values: string): unknown =>
    deploymentOf({ values }).spec.template.metadata.annotations['checksum/config'];
  assert.equal(checksum('replicas: 3'), checksum(''));
  assert.notEqual(checksum('logLevel: 4'), checksum(''));
});

test('on the host network: metrics on loopback only, DNS of the cluster, and the old pod goes before the new one comes', () => {
  const values = 'hostNetwork: true';
  const { spec } = deploymentOf({ values });
  assert.equal(spec.template.spec['hostNetwork'], true);
  assert.equal(spec.template.spec['dnsPolicy'], 'ClusterFirstWithHostNet');
  assert.deepEqual(spec.strategy.rollingUpdate, { maxSurge: 0, maxUnavailable: 1 });
  const outcome = configOf({ values });
  assert.ok('config' in outcome);
  assert.deepEqual(outcome.config.metricsBindAddress, { host: '127.0.0.1', port: 8080 });
});

test('a digest wins over a tag', () => {
  const digest = `sha256:${'0'.repeat(64)}`;
  const { image } = deploymentOf({ sets: [`image.digest=${digest}`, 'image.tag=v1', 'image.repository=r/n'] }).spec
    .template.spec.containers[0] ?? { image: '' };
  assert.equal(image, `r/n@${digest}`);
});

test('helm finds nothing to complain about', () => {
  const { code, stdout } = runTool('helm', ['lint', '--strict', kubeVersion, chart]);
  assert.equal(code, 0, stdout);
});
