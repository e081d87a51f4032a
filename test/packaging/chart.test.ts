// The chart, rendered by helm: its objects, rejected values, and roles that equal permissions.ts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Toleration, tolerates } from '../../src/machinery/api/tolerations.ts';
import { parseControllerConfig } from '../../src/cli/controller/config.ts';
import type { ControllerSelection } from '../../src/controller/model/options.ts';
import { kubernetesVersions } from '../../tools/control-plane/kubernetes-version.ts';
import { controlPlaneBuild } from '../../tools/control-plane/programs.ts';
import {
  defaultParts,
  type Parts,
  type Permission,
  permissionsOf,
  permissionText,
} from '../../tools/manifests/permissions.ts';
import { presetValues } from '../../tools/manifests/manifest-pages.ts';
import {
  chart,
  helmTemplate,
  kubeVersion,
  type KubeManifest,
  pick,
  type Rendering,
  renderChart,
  runTool,
  type ToolResult,
} from '../../tools/manifests/render.ts';

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** Without the role of users of the kubectl plugin, which is not bound. */
function rolesIn(objects: readonly KubeManifest[]): readonly KubeManifest[] {
  const roles = objects.filter(({ kind }) => kind === 'ClusterRole' || kind === 'Role');
  return roles.filter(({ metadata }) => !metadata.name.endsWith('-kubectl'));
}

function granted(objects: readonly KubeManifest[]): readonly string[] {
  const roles = rolesIn(objects);
  const rulesOf = (role: KubeManifest): readonly Rule[] => role['rules'] as readonly Rule[];
  // Roles for readers of the pages are not permissions of the controller.
  const own = roles.map((role) => ({ role, rules: rulesOf(role).filter((rule) => 'resources' in rule) }));
  return own.flatMap(({ role, rules }) => rules.flatMap((rule) => spread(role, rule))).sort();
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

const plain = '{ name: a, nodeSelector: { matchLabels: { pool: a } } }';
const evicting = '{ name: b, nodeSelector: { matchLabels: { pool: b } }, evictReachable: {} }';

const settings: readonly { readonly values: string; readonly parts: Partial<Parts> }[] = [
  { values: '', parts: {} },
  { values: 'mode: replace', parts: {} },
  { values: 'mode: detector-only', parts: { evictsByTaint: false } },
  { values: 'mode: evictor-only', parts: { detects: false } },
  { values: 'mode: shadow', parts: { shadow: true, leaderElect: false } },
  { values: 'config: { watchCanary: true }', parts: { watchCanary: true } },
  { values: 'earlyDetection: { enabled: true }', parts: { probes: true } },
  { values: 'config: { eventsApi: events.k8s.io }', parts: { eventsApi: 'events.k8s.io' } },
  {
    values: '{ mode: detector-only, config: { controllers: "*,-taint-eviction-controller" } }',
    parts: { evictsByTaint: false },
  },
  {
    values: '{ mode: evictor-only, config: { controllers: "-nodelifecycle,*,nodelifecycle" } }',
    parts: { detects: false },
  },
  { values: 'config: { controllers: "*, podgc" }', parts: { collects: true } },
  {
    values: '{ mode: detector-only, config: { controllers: "nodelifecycle,podgc" } }',
    parts: { evictsByTaint: false, collects: true },
  },
  {
    values: 'config: { featureGates: { TaintBasedEvictions: "false" } }',
    parts: { evictsByTaint: false, evictionMode: true },
  },
  { values: '{ replicas: 1, leaderElection: { enabled: false } }', parts: { leaderElect: false } },
  { values: 'metrics: { secure: true }', parts: { secure: true } },
  { values: 'policies: { source: crd }', parts: { policyObjects: true } },
  {
    values: '{ mode: shadow, policies: { source: crd } }',
    parts: { shadow: true, leaderElect: false, policyObjects: true },
  },
  { values: '{ mode: shadow, metrics: { secure: true } }', parts: { shadow: true, leaderElect: false, secure: true } },
  { values: 'metrics: { secure: true, enabled: false }', parts: {} },
  { values: `config: { policies: [${plain}, ${evicting}] }`, parts: { evictsReachable: true } },
  { values: 'config: { waitForEvictionResponders: true }', parts: { waitsForResponders: true } },
  { values: 'config: { namespaceAutonomy: true }', parts: { readsNamespaces: true } },
  { values: `config: { policies: [${plain}] }`, parts: {} },
  {
    values: `{ mode: detector-only, config: { policies: [${evicting}] } }`,
    parts: { evictsByTaint: false, evictsReachable: true },
  },
  {
    values: `{ mode: shadow, config: { policies: [${evicting}] } }`,
    parts: { shadow: true, leaderElect: false, evictsReachable: true },
  },
];

for (const { values, parts } of settings) {
  test(`the roles grant exactly the required permissions: ${values === '' ? 'by default' : values}`, () => {
    const wanted = permissionsOf({ ...defaultParts, ...parts });
    assert.deepEqual(granted(renderChart({ values })), wanted.map(permissionText).sort());
    const outcome = configOf({ values });
    assert.ok('config' in outcome, `the controller rejects its config file: ${JSON.stringify(outcome)}`);
  });
}

test('shadow: no role has a write verb', () => {
  const roles = rolesIn(renderChart({ values: 'mode: shadow' }));
  const verbs = roles.flatMap(({ rules }) => (rules as readonly Rule[]).flatMap((rule) => rule.verbs));
  assert.deepEqual([...new Set(verbs)].sort(), ['get', 'list', 'watch']);
});

test('each role is bound only to the service account of the release', () => {
  const objects = renderChart();
  const { name, namespace } = pick(objects, 'ServiceAccount').metadata;
  for (const role of rolesIn(objects)) {
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

test('the role of users of the kubectl plugin is not bound, and names the lease', () => {
  const objects = renderChart({ values: 'leaderElection: { resourceName: other }' });
  const bound = objects.filter(({ kind, metadata }) => kind.endsWith('Binding') && metadata.name.endsWith('-kubectl'));
  assert.deepEqual(bound, []);
  assert.deepEqual(pick(objects, 'ClusterRole', 'node-lifecycle-controller-kubectl')['rules'], [
    { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] },
    { apiGroups: [''], resources: ['pods/portforward'], verbs: ['get', 'create'] },
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], resourceNames: ['other'], verbs: ['get'] },
  ]);
  const off = renderChart({ values: 'metrics: { enabled: false }' });
  assert.ok(!off.some(({ metadata }) => metadata.name.endsWith('-kubectl')));
});

function configOf(rendering: Rendering): ReturnType<typeof parseControllerConfig> {
  const { data } = pick(renderChart(rendering), 'ConfigMap') as KubeManifest & { data: Record<string, string> };
  return parseControllerConfig(['--config=config.yaml'], () => data['config.yaml'] ?? '');
}

test('the default config file equals the default flags, except for the metrics address and the names of its Service', () => {
  const plain = parseControllerConfig(['--metrics-bind-address=:8080'], () => '');
  const outcome = configOf({});
  assert.ok('config' in outcome && 'config' in plain);
  const { allowedHosts = '' } = outcome.config;
  assert.deepEqual(outcome.config, { ...plain.config, allowedHosts, config: 'config.yaml' });
  assert.ok(
    allowedHosts.split(',').every((name) => name.includes('node-lifecycle-controller')),
    allowedHosts,
  );
  assert.notEqual(allowedHosts, '');
});

test('values are in the config file, including those that the chart sets', () => {
  const outcome = configOf({
    values: `
config: { nodeEvictionRate: 0.5, fullDisruptionEvictionRate: 0.2, terminatedPodGcThreshold: 1000000 }
leaderElection: { leaseDuration: 30s, renewDeadline: 20s, retryPeriod: 4s, resourceNamespace: elsewhere }
logLevel: 4
health: { port: 9081 }
metrics: { enabled: false }`,
  });
  assert.ok('config' in outcome, JSON.stringify(outcome));
  const { healthProbeBindAddress, metricsBindAddress, ...config } = outcome.config;
  assert.equal(config.nodeEvictionRate, 0.5);
  assert.equal(config.fullDisruptionEvictionRate, 0.2);
  assert.equal(config.terminatedPodGcThreshold, 1_000_000);
  assert.deepEqual([config.leaderElectLeaseDurationMs, config.leaderElectResourceNamespace], [30_000, 'elsewhere']);
  assert.equal(config.v, 4);
  assert.deepEqual([healthProbeBindAddress, metricsBindAddress], [{ host: '', port: 9081 }, 'off']);
});

const selections: Readonly<Record<string, ControllerSelection>> = {
  replace: { nodeLifecycle: true, taintEviction: true, podGc: false },
  'detector-only': { nodeLifecycle: true, taintEviction: false, podGc: false },
  'evictor-only': { nodeLifecycle: false, taintEviction: true, podGc: false },
  shadow: { nodeLifecycle: true, taintEviction: true, podGc: false },
};

for (const [mode, selection] of Object.entries(selections)) {
  test(`mode ${mode}: the controller accepts the config file`, () => {
    const outcome = configOf({ values: `mode: ${mode}` });
    assert.ok('config' in outcome, JSON.stringify(outcome));
    assert.deepEqual(outcome.config.controllers, selection);
    const { shadow, leaderElect } = outcome.config;
    assert.deepEqual([shadow, leaderElect], [mode === 'shadow', mode !== 'shadow']);
  });
}

const rejectedValues: Readonly<Record<string, RegExp>> = {
  'replica: 3': /additional properties 'replica' not allowed/,
  'config: { nodeMonitorGracePeriodd: 40s }': /additional properties 'nodeMonitorGracePeriodd' not allowed/,
  'config: { nodeMonitorGracePeriod: 40 }': /\/config\/nodeMonitorGracePeriod/,
  'config: { nodeMonitorGracePeriod: 0s }': /\/config\/nodeMonitorGracePeriod.*does not match pattern/s,
  'config: { nodeMonitorGracePeriod: 40x }': /\/config\/nodeMonitorGracePeriod.*does not match pattern/s,
  'config: { unhealthyZoneThreshold: 1.5 }': /\/config\/unhealthyZoneThreshold/,
  'config: { concurrentWrites: 0 }': /\/config\/concurrentWrites/,
  'config: { eventsApi: v1 }': /\/config\/eventsApi/,
  'config: { leaderElect: false }': /additional properties 'leaderElect' not allowed/,
  'leaderElection: { resourceName: Big }': /\/leaderElection\/resourceName/,
  'image: { digest: abc }': /\/image\/digest/,
  'leaderElection: { enabled: false }': /replicas: more than one requires leaderElection\.enabled/,
  'mode: augment': /\/mode.*must be one of 'replace', 'detector-only', 'evictor-only', 'shadow'/s,
  'config: { controllers: "-nodelifecycle" }': /config\.controllers: must select node-.* \(got -nodelifecycle\)/,
  'config: { controllers: podgc }':
    /config\.controllers: must select node-.* or taint-eviction-controller \(got podgc\)/,
  'config: { controllers: nodelifecycle }':
    /config\.controllers: nodelifecycle does not match mode: replace, .* set mode to detector-only/,
  '{ mode: detector-only, config: { controllers: "*" } }':
    /\* does not match mode: detector-only, .* replace or shadow/,
  '{ mode: shadow, config: { controllers: taint-eviction-controller } }': /mode: shadow, .* set mode to evictor-only/,
  '{ mode: shadow, config: { controllers: "*,podgc" } }': /the pod garbage collector has no shadow mode/,
  '{ mode: shadow, config: { watchCanary: true } }': /config\.watchCanary: writes a lease/,
  '{ mode: evictor-only, config: { featureGates: { TaintBasedEvictions: "false" } } }':
    /requires mode: replace \(got mode: evictor-only\)/,
  'extraArgs: [--controllers=taint-eviction-controller]':
    /extraArgs: --controllers=.* is not accepted, roles follow from the values/,
  'metrics: { enabled: false, podMonitor: { enabled: true } }':
    /metrics\.podMonitor\.enabled: requires metrics\.enabled/,
  'metrics: { service: { create: false }, serviceMonitor: { enabled: true } }': /requires .*metrics\.service\.create/,
  'metrics: { podMonitor: { enabled: true } }': /networkPolicy\.metricsFrom: must name the peers of Prometheus/,
  'metrics: { secure: true, podMonitor: { enabled: true } }': /metrics\.tokenSecret\.name: required/,
  'metrics: { tls: { secretName: s } }': /metrics\.tls\.secretName: requires metrics\.secure/,
  'config: { clientCaFile: /ca.crt }': /config\.clientCaFile: requires metrics\.secure/,
  'config: { metricsSecure: true }': /additional properties 'metricsSecure' not allowed/,
  'extraArgs: [--metrics-secure]':
    /extraArgs: --metrics-secure is not accepted, roles, ports and monitors follow from the values/,
  'policies: { source: api }': /\/policies\/source.*must be one of 'file', 'crd'/s,
  '{ policies: { source: crd }, config: { policies: [{ name: a, nodeSelector: { matchLabels: { a: b } } }] } }':
    /config\.policies: must be empty with policies\.source: crd/,
  'config: { policySource: crd }': /additional properties 'policySource' not allowed/,
  'extraArgs: [--policy-source=crd]': /extraArgs: --policy-source=crd is not accepted, roles follow from the values/,
  'serviceAccount: { create: false }': /serviceAccount\.name: required/,
  'kind: StatefulSet': /\/kind.*must be one of 'Deployment', 'DaemonSet'/s,
  '{ kind: DaemonSet, leaderElection: { enabled: false } }': /kind: DaemonSet requires leaderElection\.enabled/,
  'apiServer: { host: https://10.0.0.1 }': /\/apiServer\/host/,
};

for (const [values, words] of Object.entries(rejectedValues)) {
  test(`rejected: ${values}`, () => {
    const { code, stderr } = helmTemplate({ values });
    assert.notEqual(code, 0);
    assert.match(stderr, words);
  });
}

test('kubeVersion: every mode is accepted on each Kubernetes version under test, and none before 1.29', () => {
  const modes = ['replace', 'detector-only', 'evictor-only', 'shadow'];
  const codeOn = (version: string, mode: string): number =>
    helmTemplate({ kubeVersion: version, values: `mode: ${mode}` }).code;
  for (const version of kubernetesVersions) {
    const { gitVersion } = controlPlaneBuild(version);
    assert.deepEqual(
      modes.map((mode) => codeOn(gitVersion, mode)),
      [0, 0, 0, 0],
      gitVersion,
    );
  }
  const { code, stderr } = helmTemplate({ kubeVersion: '1.28.15', values: 'mode: shadow' });
  assert.equal(code, 1);
  assert.match(stderr, /chart requires kubeVersion: >=1\.29\.0-0 which is incompatible with Kubernetes v1\.28\.15/);
});

test('detector-only is rejected before Kubernetes 1.33, whose evictor requires the in-tree detector', () => {
  const on = (version: string, mode: string): ToolResult =>
    helmTemplate({ kubeVersion: version, values: `mode: ${mode}` });
  const { code, stderr } = on('1.32.9', 'detector-only');
  assert.equal(code, 1);
  assert.match(stderr, /mode: detector-only requires Kubernetes 1\.33/);
  assert.deepEqual([on('1.33.0', 'detector-only').code, on('1.29.0', 'evictor-only').code], [0, 0]);
});

interface PodTemplate {
  readonly spec: {
    readonly strategy: { readonly rollingUpdate: object };
    readonly template: {
      readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
      readonly spec: Readonly<Record<string, unknown>> & {
        readonly containers: readonly {
          readonly image: string;
          readonly args: readonly string[];
          readonly env?: readonly object[];
        }[];
      };
    };
  };
}

const deploymentOf = (rendering: Rendering): PodTemplate =>
  pick(renderChart(rendering), 'Deployment') as unknown as PodTemplate;

test('a change of a setting that requires a restart restarts the pods, a change of a live setting does not', () => {
  const checksum = (values: string): unknown =>
    deploymentOf({ values }).spec.template.metadata.annotations['checksum/config'];
  assert.equal(checksum('replicas: 3'), checksum(''));
  for (const live of ['logLevel: 4', 'config: { nodeEvictionRate: 0.2, nodeMonitorGracePeriod: 40s }'])
    assert.equal(checksum(live), checksum(''), `${live} is applied without a restart`);
  for (const restarting of ['config: { concurrentWrites: 4 }', 'leaderElection: { leaseDuration: 30s }'])
    assert.notEqual(checksum(restarting), checksum(''), restarting);
});

test('on the host network: metrics on loopback, cluster DNS, and the old pod is removed before the new one starts', () => {
  const values = 'hostNetwork: true';
  const { spec } = deploymentOf({ values });
  assert.equal(spec.template.spec['hostNetwork'], true);
  assert.equal(spec.template.spec['dnsPolicy'], 'ClusterFirstWithHostNet');
  assert.deepEqual(spec.strategy.rollingUpdate, { maxSurge: 0, maxUnavailable: 1 });
  const outcome = configOf({ values });
  assert.ok('config' in outcome);
  assert.deepEqual(outcome.config.metricsBindAddress, { host: '127.0.0.1', port: 8080 });
});

interface PodScheduling {
  readonly tolerations: readonly Toleration[];
  readonly topologySpreadConstraints?: readonly object[];
}

const schedulingOf = (kind: string, values: string): PodScheduling => {
  const { spec } = pick(renderChart({ values }), kind) as unknown as PodTemplate;
  return spec.template.spec as unknown as PodScheduling;
};

const toleratesNoSchedule = ({ tolerations }: PodScheduling, name: string): boolean =>
  tolerations.some((toleration) => tolerates(toleration, { key: `node.kubernetes.io/${name}`, effect: 'NoSchedule' }));

const ofLivingNodes = [
  'not-ready',
  'unschedulable',
  'disk-pressure',
  'memory-pressure',
  'pid-pressure',
  'network-unavailable',
];
const ownTaintSettings = [
  { kind: 'Deployment', values: '', unreachable: false },
  { kind: 'Deployment', values: 'tolerations: []', unreachable: false },
  { kind: 'Deployment', values: presetValues('dedicated-pool'), unreachable: false },
  { kind: 'DaemonSet', values: 'kind: DaemonSet', unreachable: true },
  { kind: 'DaemonSet', values: presetValues('control-plane'), unreachable: true },
];

for (const { kind, values, unreachable } of ownTaintSettings) {
  test(`${kind}, ${values.slice(0, 40)}: taints of living nodes are tolerated, unreachable ${unreachable ? 'too' : 'not'}`, () => {
    const pod = schedulingOf(kind, values);
    assert.deepEqual(
      ofLivingNodes.filter((name) => !toleratesNoSchedule(pod, name)),
      [],
    );
    assert.equal(toleratesNoSchedule(pod, 'unreachable'), unreachable);
  });
}

test('a DaemonSet has no budget and no spread constraints, which are for replicas that may run anywhere', () => {
  const objects = renderChart({ values: 'kind: DaemonSet' });
  assert.equal(schedulingOf('DaemonSet', 'kind: DaemonSet').topologySpreadConstraints, undefined);
  const kinds = new Set(objects.map(({ kind }) => kind));
  assert.deepEqual([kinds.has('Deployment'), kinds.has('PodDisruptionBudget')], [false, false]);
});

test('mode shadow: one replica of a Deployment, whatever the kind', () => {
  const objects = renderChart({ values: '{ mode: shadow, kind: DaemonSet }' });
  assert.equal((pick(objects, 'Deployment') as unknown as { spec: { replicas: number } }).spec.replicas, 1);
  assert.ok(!objects.some(({ kind }) => kind === 'DaemonSet'));
});

interface Egress {
  readonly spec: { readonly egress: readonly { readonly ports: readonly { readonly port: number }[] }[] };
}

test('apiServer: its address is in the environment, and the network policy allows its port alone', () => {
  const environment = (values: string): unknown => deploymentOf({ values }).spec.template.spec.containers[0]?.env;
  const ports = (values: string): unknown => {
    const { spec } = pick(renderChart({ values }), 'NetworkPolicy') as unknown as Egress;
    return spec.egress[0]?.ports.map(({ port }) => port);
  };
  const values = 'apiServer: { host: 10.0.0.9, port: 7443 }';
  const own = [
    { name: 'KUBERNETES_SERVICE_HOST', value: '10.0.0.9' },
    { name: 'KUBERNETES_SERVICE_PORT', value: '7443' },
  ];
  assert.deepEqual(environment(values), own);
  assert.deepEqual(environment(`${values}\nextraEnv: [{ name: A, value: b }]`), [...own, { name: 'A', value: 'b' }]);
  assert.deepEqual(ports(values), [7443]);
  assert.equal(environment(''), undefined);
  assert.deepEqual(ports(''), [443, 6443, 8443, 16443]);
});

test('a digest takes precedence over a tag', () => {
  const digest = `sha256:${'0'.repeat(64)}`;
  const { image } = deploymentOf({ sets: [`image.digest=${digest}`, 'image.tag=v1', 'image.repository=r/n'] }).spec
    .template.spec.containers[0] ?? { image: '' };
  assert.equal(image, `r/n@${digest}`);
});

test('helm lint reports no problems', () => {
  const { code, stdout } = runTool('helm', ['lint', '--strict', `--kube-version=${kubeVersion}`, chart]);
  assert.equal(code, 0, stdout);
});
