import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { configFileSchema, parseControllerConfig } from '../../../../src/cli/controller/config.ts';
import { controllerFlags, removedControllerFlags } from '../../../../src/cli/controller/flags.ts';
import { keyOf } from '../../../../src/cli/flags/flag-definition.ts';
import { aliasBomb } from '../../../support/hostile-texts.ts';

const head = 'apiVersion: nodelifecycle/v1alpha1\nkind: ControllerConfiguration\n';

/** The defaults of secure serving, which is off. Its flags are tested in secure-serving/rules.test.ts. */
const plainServing = {
  metricsSecure: false,
  tlsCertFile: undefined,
  tlsPrivateKeyFile: undefined,
  tlsMinVersion: 'VersionTLS12',
  tlsCipherSuites: undefined,
  clientCaFile: undefined,
  authorizationAlwaysAllowPaths: '/healthz,/readyz,/livez',
  authenticationTokenWebhookCacheTtlMs: 10_000,
  authorizationWebhookCacheAuthorizedTtlMs: 10_000,
  authorizationWebhookCacheUnauthorizedTtlMs: 10_000,
};

function noFile(path: string): string {
  throw new Error(`ENOENT: ${path}`);
}

function configOf(argv: readonly string[], file = '') {
  const outcome = parseControllerConfig(argv, () => file);
  if ('problems' in outcome) assert.fail(outcome.problems.join('\n'));
  return outcome;
}

function problemsOf(argv: readonly string[], file?: string): readonly string[] {
  const outcome = parseControllerConfig(argv, file === undefined ? noFile : () => file);
  return 'problems' in outcome ? outcome.problems : [];
}

test('the defaults are those of kube-controller-manager 1.37', () => {
  const { config, warnings } = configOf([]);
  assert.deepEqual(warnings, []);
  assert.deepEqual(config, {
    allowedHosts: undefined,
    nodeMonitorPeriodMs: 5_000,
    nodeMonitorGracePeriodMs: 50_000,
    nodeStartupGracePeriodMs: 60_000,
    nodeMonitorResyncPeriodMs: 60_000,
    leaseConfirmationHoldMs: 60_000,
    staleWatchHoldMs: 60_000,
    nodeEvictionRate: 0.1,
    secondaryNodeEvictionRate: 0.01,
    fullDisruptionEvictionRate: undefined,
    podMarkingRate: 10,
    controlPlanePathFailureHoldMs: undefined,
    largeClusterSizeThreshold: 50,
    unhealthyZoneThreshold: 0.55,
    evictReachableTimeoutMs: 600_000,
    taintBasedEvictions: true,
    podEvictionTimeoutMs: 300_000,
    controllers: { nodeLifecycle: true, taintEviction: true, podGc: false },
    policySource: 'file',
    shadow: false,
    featureGates: undefined,
    config: undefined,
    leaderElectResourceLock: 'leases',
    terminatedPodGcThreshold: 12_500,
    terminatedPodGcPerNode: 0,
    terminatedPodGcAgeMs: undefined,
    kubeconfig: undefined,
    context: undefined,
    kubeApiQps: 20,
    kubeApiBurst: 30,
    concurrentWrites: 16,
    kubeApiContentType: 'application/vnd.kubernetes.protobuf',
    eventsApi: 'core',
    leaderElect: true,
    leaderElectLeaseDurationMs: 15_000,
    leaderElectRenewDeadlineMs: 10_000,
    leaderElectRetryPeriodMs: 2_000,
    leaderElectResourceName: 'node-lifecycle-controller',
    leaderElectResourceNamespace: 'kube-system',
    metricsBindAddress: { host: '127.0.0.1', port: 8080 },
    dashboard: true,
    watchCanary: false,
    waitForEvictionResponders: false,
    namespaceAutonomy: false,
    healthProbeBindAddress: { host: '', port: 8081 },
    ...plainServing,
    logFormat: 'auto',
    v: 0,
    validateOnly: false,
    policies: [],
    paused: false,
  });
});

test('the configuration is deeply frozen', () => {
  const { config } = configOf([]);
  assert.ok(Object.isFrozen(config));
  assert.ok(Object.isFrozen(config.metricsBindAddress));
});

test('every flag sets its option', () => {
  const { config } = configOf([
    '--controllers=*,-taint-eviction-controller,podgc',
    '--policy-source=crd',
    '--terminated-pod-gc-threshold=7',
    '--terminated-pod-gc-per-node=3',
    '--terminated-pod-gc-age=24h',
    '--feature-gates=TaintBasedEvictions=false',
    '--pod-eviction-timeout=1m',
    '--allowed-hosts=nlc.example.com,nlc',
    '--node-monitor-period=2s',
    '--node-monitor-grace-period=1m',
    '--node-startup-grace-period=90s',
    '--node-monitor-resync-period=30s',
    '--lease-confirmation-hold=2m',
    '--stale-watch-hold=-1s',
    '--node-eviction-rate=0',
    '--secondary-node-eviction-rate=0',
    '--full-disruption-eviction-rate=0.5',
    '--pod-marking-rate=0.5',
    '--control-plane-path-failure-hold=0s',
    '--large-cluster-size-threshold=7',
    '--unhealthy-zone-threshold=1',
    '--evict-reachable-timeout=90s',
    '--watch-canary',
    '--wait-for-eviction-responders',
    '--namespace-autonomy',
    '--kubeconfig=/k',
    '--context=c',
    '--kube-api-qps=0.5',
    '--kube-api-burst=1',
    '--concurrent-writes=256',
    '--kube-api-content-type=application/json',
    '--events-api=events.k8s.io',
    '--leader-elect=false',
    '--leader-elect-lease-duration=30s',
    '--leader-elect-renew-deadline=20s',
    '--leader-elect-retry-period=3s',
    '--leader-elect-resource-lock=leases',
    '--leader-elect-resource-name=a.b',
    '--leader-elect-resource-namespace=ns',
    '--metrics-bind-address=0',
    '--dashboard=false',
    '--health-probe-bind-address=[::1]:0',
    '--log-format=json',
    '-v=4',
    '--validate-only',
  ]);
  assert.deepEqual(config, {
    allowedHosts: 'nlc.example.com,nlc',
    nodeMonitorPeriodMs: 2_000,
    nodeMonitorGracePeriodMs: 60_000,
    nodeStartupGracePeriodMs: 90_000,
    nodeMonitorResyncPeriodMs: 30_000,
    leaseConfirmationHoldMs: 120_000,
    staleWatchHoldMs: Number.POSITIVE_INFINITY,
    nodeEvictionRate: 0,
    secondaryNodeEvictionRate: 0,
    fullDisruptionEvictionRate: 0.5,
    podMarkingRate: 0.5,
    controlPlanePathFailureHoldMs: 0,
    largeClusterSizeThreshold: 7,
    unhealthyZoneThreshold: 1,
    evictReachableTimeoutMs: 90_000,
    taintBasedEvictions: false,
    podEvictionTimeoutMs: 60_000,
    controllers: { nodeLifecycle: true, taintEviction: false, podGc: true },
    policySource: 'crd',
    shadow: false,
    featureGates: { TaintBasedEvictions: 'false' },
    config: undefined,
    leaderElectResourceLock: 'leases',
    terminatedPodGcThreshold: 7,
    terminatedPodGcPerNode: 3,
    terminatedPodGcAgeMs: 86_400_000,
    kubeconfig: '/k',
    context: 'c',
    kubeApiQps: 0.5,
    kubeApiBurst: 1,
    concurrentWrites: 256,
    kubeApiContentType: 'application/json',
    eventsApi: 'events.k8s.io',
    leaderElect: false,
    leaderElectLeaseDurationMs: 30_000,
    leaderElectRenewDeadlineMs: 20_000,
    leaderElectRetryPeriodMs: 3_000,
    leaderElectResourceName: 'a.b',
    leaderElectResourceNamespace: 'ns',
    metricsBindAddress: 'off',
    dashboard: false,
    watchCanary: true,
    waitForEvictionResponders: true,
    namespaceAutonomy: true,
    healthProbeBindAddress: { host: '::1', port: 0 },
    ...plainServing,
    logFormat: 'json',
    v: 4,
    validateOnly: true,
    policies: [],
    paused: false,
  });
});

test('all invalid flags are reported together', () => {
  assert.deepEqual(problemsOf(['--node-eviction-rate=-1', '--node-monitor-grace-period=banana', '--no-such-flag']), [
    '--no-such-flag: unknown flag',
    '--node-monitor-grace-period: must be a duration > 0 with a unit, such as 1m30s or 500ms (got "banana")',
    '--node-eviction-rate: must be a number >= 0 (got -1)',
  ]);
});

test('-1s is the only negative value of --control-plane-path-failure-hold, and causes a warning', () => {
  const { config, warnings } = configOf(['--control-plane-path-failure-hold=-1s']);
  assert.equal(config.controlPlanePathFailureHoldMs, -1_000);
  assert.equal(warnings.filter((warning) => warning.startsWith('--control-plane-path-failure-hold is -1s')).length, 1);
  assert.deepEqual(problemsOf(['--control-plane-path-failure-hold=-2s']), [
    '--control-plane-path-failure-hold: must be a duration >= 0 or -1s with a unit, such as 1m30s or 500ms (got "-2s")',
  ]);
});

test('ranges of single settings', () => {
  const wrong = [
    '--node-monitor-period=0',
    '--node-monitor-grace-period=0s',
    '--node-startup-grace-period=-1m',
    '--secondary-node-eviction-rate=-0.1',
    '--large-cluster-size-threshold=-1',
    '--large-cluster-size-threshold=1.5',
    '--unhealthy-zone-threshold=1.01',
    '--unhealthy-zone-threshold=-0.01',
    '--evict-reachable-timeout=0s',
    '--kube-api-qps=0',
    '--kube-api-burst=0',
    '--concurrent-writes=0',
    '--concurrent-writes=257',
    '--leader-elect-resource-lock=endpoints',
    '--leader-elect-resource-name=Upper',
    '--leader-elect-resource-namespace=a.b',
    '--log-format=yaml',
    '--v=-1',
  ];
  for (const argument of wrong) {
    const problems = problemsOf([argument]);
    assert.equal(problems.length, 1, argument);
    assert.ok(problems[0]?.startsWith(argument.slice(0, argument.indexOf('='))), argument);
  }
});

test('constraints between settings', () => {
  const table: readonly [readonly string[], RegExp][] = [
    [
      ['--node-monitor-grace-period=5s'],
      /^--node-monitor-grace-period: must be > --node-monitor-period \(got 5s and 5s\)$/,
    ],
    [
      ['--leader-elect-lease-duration=10s'],
      /^--leader-elect-lease-duration: must be > --leader-elect-renew-deadline \(got 10s and 10s\)$/,
    ],
    [['--leader-elect-retry-period=9s'], /^--leader-elect-renew-deadline: must be > 1.2 times .* \(got 10s and 9s\)$/],
    [['--leader-elect-lease-duration=15.5s'], /^--leader-elect-lease-duration: must be whole seconds.* \(got 15.5s\)$/],
  ];
  for (const [argv, problem] of table) {
    const problems = problemsOf(argv);
    assert.equal(problems.length, 1, argv.join(' '));
    assert.match(problems[0] ?? '', problem);
  }
});

test('constraints on an invalid setting are skipped, others are checked', () => {
  assert.equal(problemsOf(['--node-monitor-period=1h', '--node-monitor-grace-period=x']).length, 1);
  assert.equal(problemsOf(['--node-eviction-rate=x', '--node-monitor-grace-period=1s']).length, 2);
});

test('constraints on the lease are skipped without leader election', () => {
  assert.deepEqual(problemsOf(['--leader-elect=false', '--leader-elect-lease-duration=1s']), []);
});

test('warns about valid but risky settings', () => {
  const table: readonly [readonly string[], RegExp][] = [
    [['--node-monitor-grace-period=25s'], /^--node-monitor-grace-period is 25s:/],
    [['--leader-elect=false'], /^--leader-elect is false/],
    [['--secondary-node-eviction-rate=0.2'], /^--secondary-node-eviction-rate \(0.2\) is above/],
  ];
  for (const [argv, warning] of table) {
    const { warnings } = configOf(argv);
    assert.equal(warnings.length, 1, argv.join(' '));
    assert.match(warnings[0] ?? '', warning);
  }
  assert.deepEqual(configOf(['--node-monitor-grace-period=26s']).warnings, []);
});

test('a burst below the rate causes no warning', () => {
  assert.deepEqual(configOf(['--kube-api-qps=1000', '--kube-api-burst=10']).warnings, []);
});

test('a removed flag is an error with an explanation', () => {
  for (const [name, why] of Object.entries(removedControllerFlags)) {
    for (const argv of [[`--${name}=1`], [`--${name}`], [`--${name}`, '1']]) {
      assert.deepEqual(problemsOf(argv), [`--${name}: ${why}`], argv.join(' '));
    }
  }
});

test('flags of other controllers of kube-controller-manager are unknown', () => {
  assert.deepEqual(problemsOf(['--cluster-cidr=10.0.0.0/8']), ['--cluster-cidr: unknown flag']);
});

test('flags take precedence over the config file', () => {
  const file = `${head}nodeMonitorPeriod: 1s\nnodeEvictionRate: 0.5\nleaderElect: false\nv: 4\nmetricsBindAddress: "0"\n`;
  const { config } = configOf(['--config=f.yaml', '--node-eviction-rate=0.7'], file);
  assert.equal(config.nodeMonitorPeriodMs, 1_000);
  assert.equal(config.nodeEvictionRate, 0.7);
  assert.equal(config.leaderElect, false);
  assert.equal(config.v, 4);
  assert.equal(config.metricsBindAddress, 'off');
});

test('the config file is parsed strictly', () => {
  const table: readonly [string, readonly string[]][] = [
    [`${head}nodeEvictionRates: 1\n`, ['f: nodeEvictionRates: unknown setting; did you mean nodeEvictionRate?']],
    [`${head}validateOnly: true\n`, ['f: validateOnly: unknown setting']],
    [`${head}config: g\n`, ['f: config: unknown setting']],
    [
      `${head}nodeMonitorPeriod: 5\n`,
      ['f: nodeMonitorPeriod: must be a duration > 0 with a unit, such as 1m30s or 500ms (got 5)'],
    ],
    [`${head}nodeEvictionRate: "0.1"\n`, ['f: nodeEvictionRate: must be a number >= 0 (got "0.1")']],
    [`${head}leaderElect: "yes"\n`, ['f: leaderElect: must be true or false (got "yes")']],
    ['kind: ControllerConfiguration\n', ['f: apiVersion: must be nodelifecycle/v1alpha1 (missing)']],
    [
      'apiVersion: v2\nkind: Pod\n',
      [
        'f: apiVersion: must be nodelifecycle/v1alpha1 (got "v2")',
        'f: kind: must be ControllerConfiguration (got "Pod")',
      ],
    ],
    ['- 1\n', ['f: must be a YAML mapping with apiVersion: nodelifecycle/v1alpha1 and kind: ControllerConfiguration']],
  ];
  for (const [file, problems] of table) assert.deepEqual(problemsOf(['--config=f'], file), problems, file);
});

test('a config file with invalid YAML or a duplicate key is an error', () => {
  for (const file of ['a: [1', `${head}v: 1\nv: 2\n`]) {
    const problems = problemsOf(['--config=f'], file);
    assert.equal(problems.length, 1, file);
    assert.match(problems[0] ?? '', /^f: invalid YAML: /);
  }
});

test('a config file with exponential YAML aliases is an error', () => {
  assert.deepEqual(problemsOf(['--config=f'], `${head}${aliasBomb}`), [
    'f: invalid YAML: document contains more than 100000 values',
  ]);
});

test('a config file that cannot be read is reported with the other problems', () => {
  assert.deepEqual(problemsOf(['--config=f', '--x']), ['--x: unknown flag', 'f: cannot read: ENOENT: f']);
});

test('the schema of the config file contains every setting', () => {
  const schema = z.toJSONSchema(configFileSchema, { target: 'draft-7', io: 'input' });
  const inFile = controllerFlags.filter((flag) => !('onlyAsFlag' in flag));
  const actual = Object.keys(schema.properties ?? {}).sort();
  assert.deepEqual(
    actual,
    ['apiVersion', 'kind', 'policies', 'paused', ...inFile.map((flag) => keyOf(flag.name))].sort(),
  );
  assert.deepEqual(schema.required, ['apiVersion', 'kind']);
  assert.equal(schema.additionalProperties, false);
});

test('unknown controllers are reported together', () => {
  assert.deepEqual(problemsOf(['--controllers=*,-endpoint-controller,replicaset']), [
    '--controllers: must be a comma-separated list of NAME or -NAME (disabled) of *, node-lifecycle-controller, ' +
      'nodelifecycle, taint-eviction-controller, pod-garbage-collector-controller, podgc ' +
      '(got "-endpoint-controller", "replicaset")',
  ]);
});

test('--pod-eviction-timeout requires the legacy eviction mode, and other feature gates are unknown', () => {
  const actual = problemsOf(['--pod-eviction-timeout=1m']).join('\n');
  assert.match(actual, /^--pod-eviction-timeout: requires --feature-gates=TaintBasedEvictions=false \(got 1m0s\)/);
  assert.deepEqual(problemsOf(['--feature-gates=TaintBasedEvictions=perhaps,NodeLease=true']), [
    '--feature-gates: must be TaintBasedEvictions=true or =false (got TaintBasedEvictions=perhaps, NodeLease=true)',
  ]);
});

test('policies of the file and --policy-source=crd exclude each other, in the file and as a flag', () => {
  const policies = 'policies: [{ name: edge, nodeSelector: { matchLabels: { a: b } } }]\n';
  const head = 'apiVersion: nodelifecycle/v1alpha1\nkind: ControllerConfiguration\n';
  const wanted = [
    'policies: must be absent from the config file with --policy-source=crd (got 1): policies are NodeLifecyclePolicy objects; nlc validate FILE --output=crd prints those of the file',
  ];
  assert.deepEqual(problemsOf(['--config=f', '--policy-source=crd'], head + policies), wanted);
  assert.deepEqual(problemsOf(['--config=f'], `${head}policySource: crd\n${policies}`), wanted);
  assert.deepEqual(problemsOf(['--config=f'], `${head}policySource: crd\npolicies: []\npaused: true\n`), []);
});
