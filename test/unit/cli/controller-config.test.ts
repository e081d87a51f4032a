import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { configFileSchema, parseControllerConfig } from '../../../src/cli/controller-config.ts';
import { controllerFlags, removedControllerFlags } from '../../../src/cli/controller-flags.ts';
import { keyOf } from '../../../src/cli/flag-definition.ts';

const head = 'apiVersion: nodelifecycle/v1alpha1\nkind: ControllerConfiguration\n';

/** Its flags have tests of their own. */
const plainServing = {
  enabled: false,
  certFile: undefined,
  keyFile: undefined,
  minVersion: 'TLSv1.2',
  cipherSuites: [],
  clientCaFile: undefined,
  alwaysAllowPaths: ['/healthz', '/readyz', '/livez'],
  tokenTtlMs: 10_000,
  authorizedTtlMs: 10_000,
  unauthorizedTtlMs: 10_000,
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

test('the defaults are those of kube-controller-manager 1.36', () => {
  const { config, warnings } = configOf([]);
  assert.deepEqual(warnings, []);
  assert.deepEqual(config, {
    controller: {
      nodeMonitorPeriodMs: 5_000,
      nodeMonitorGracePeriodMs: 50_000,
      nodeStartupGracePeriodMs: 60_000,
      nodeEvictionRate: 0.1,
      secondaryNodeEvictionRate: 0.01,
      fullDisruptionEvictionRate: undefined,
      podMarkingRate: 10,
      controlPlanePathFailureHoldMs: 300_000,
      largeClusterSizeThreshold: 50,
      unhealthyZoneThreshold: 0.55,
      taintBasedEvictions: true,
      podEvictionTimeoutMs: 300_000,
    },
    controllers: { nodeLifecycle: true, taintEviction: true, podGc: false },
    shadow: false,
    podGc: { terminatedPodGcThreshold: 12_500 },
    api: {
      kubeconfig: undefined,
      context: undefined,
      requestsPerSecond: 20,
      requestBurst: 30,
      concurrentWritesMax: 16,
      contentType: 'application/vnd.kubernetes.protobuf',
      eventsApi: 'core',
    },
    leaderElection: {
      enabled: true,
      leaseDurationMs: 15_000,
      renewDeadlineMs: 10_000,
      retryPeriodMs: 2_000,
      leaseName: 'node-lifecycle-controller',
      leaseNamespace: 'kube-system',
    },
    metricsBindAddress: { host: '127.0.0.1', port: 8080 },
    watchCanary: false,
    healthProbeBindAddress: { host: '', port: 8081 },
    secureServing: plainServing,
    log: { format: 'auto', verbosity: 0 },
    validateOnly: false,
  });
});

test('the configuration cannot be changed afterwards, at any depth', () => {
  const { config } = configOf([]);
  assert.ok(Object.isFrozen(config));
  assert.ok(Object.isFrozen(config.controller));
  assert.ok(Object.isFrozen(config.metricsBindAddress));
});

test('every flag reaches its place', () => {
  const { config } = configOf([
    '--controllers=*,-taint-eviction-controller,podgc',
    '--terminated-pod-gc-threshold=7',
    '--feature-gates=TaintBasedEvictions=false',
    '--pod-eviction-timeout=1m',
    '--node-monitor-period=2s',
    '--node-monitor-grace-period=1m',
    '--node-startup-grace-period=90s',
    '--node-eviction-rate=0',
    '--secondary-node-eviction-rate=0',
    '--full-disruption-eviction-rate=0.5',
    '--pod-marking-rate=0.5',
    '--control-plane-path-failure-hold=0s',
    '--large-cluster-size-threshold=7',
    '--unhealthy-zone-threshold=1',
    '--watch-canary',
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
    '--health-probe-bind-address=[::1]:0',
    '--log-format=json',
    '-v=4',
    '--validate-only',
  ]);
  assert.deepEqual(config, {
    controller: {
      nodeMonitorPeriodMs: 2_000,
      nodeMonitorGracePeriodMs: 60_000,
      nodeStartupGracePeriodMs: 90_000,
      nodeEvictionRate: 0,
      secondaryNodeEvictionRate: 0,
      fullDisruptionEvictionRate: 0.5,
      podMarkingRate: 0.5,
      controlPlanePathFailureHoldMs: 0,
      largeClusterSizeThreshold: 7,
      unhealthyZoneThreshold: 1,
      taintBasedEvictions: false,
      podEvictionTimeoutMs: 60_000,
    },
    controllers: { nodeLifecycle: true, taintEviction: false, podGc: true },
    shadow: false,
    podGc: { terminatedPodGcThreshold: 7 },
    api: {
      kubeconfig: '/k',
      context: 'c',
      requestsPerSecond: 0.5,
      requestBurst: 1,
      concurrentWritesMax: 256,
      contentType: 'application/json',
      eventsApi: 'events.k8s.io',
    },
    leaderElection: {
      enabled: false,
      leaseDurationMs: 30_000,
      renewDeadlineMs: 20_000,
      retryPeriodMs: 3_000,
      leaseName: 'a.b',
      leaseNamespace: 'ns',
    },
    metricsBindAddress: 'off',
    watchCanary: true,
    healthProbeBindAddress: { host: '::1', port: 0 },
    secureServing: plainServing,
    log: { format: 'json', verbosity: 4 },
    validateOnly: true,
  });
});

test('three mistakes, three lines, one go', () => {
  assert.deepEqual(problemsOf(['--node-eviction-rate=-1', '--node-monitor-grace-period=banana', '--no-such-flag']), [
    '--no-such-flag: unknown flag',
    '--node-monitor-grace-period: got "banana"; accepted: a duration with units, such as 1m30s or 500ms, above 0',
    '--node-eviction-rate: got -1; accepted: a number, from 0',
  ]);
});

test('limits of single settings', () => {
  const wrong = [
    '--node-monitor-period=0',
    '--node-monitor-grace-period=0s',
    '--node-startup-grace-period=-1m',
    '--secondary-node-eviction-rate=-0.1',
    '--large-cluster-size-threshold=-1',
    '--large-cluster-size-threshold=1.5',
    '--unhealthy-zone-threshold=1.01',
    '--unhealthy-zone-threshold=-0.01',
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

test('limits between settings', () => {
  const table: readonly [readonly string[], RegExp][] = [
    [
      ['--node-monitor-grace-period=5s'],
      /^--node-monitor-grace-period: got 5s; accepted: more than --node-monitor-period/,
    ],
    [
      ['--leader-elect-lease-duration=10s'],
      /^--leader-elect-lease-duration: got 10s; accepted: more than --leader-elect-renew/,
    ],
    [['--leader-elect-retry-period=9s'], /^--leader-elect-renew-deadline: got 10s; accepted: more than 1.2 times/],
    [['--leader-elect-lease-duration=15.5s'], /^--leader-elect-lease-duration: got 15.5s; accepted: whole seconds/],
  ];
  for (const [argv, problem] of table) {
    const problems = problemsOf(argv);
    assert.equal(problems.length, 1, argv.join(' '));
    assert.match(problems[0] ?? '', problem);
  }
});

test('relations of settings that are wrong by themselves are not judged; others still are', () => {
  assert.equal(problemsOf(['--node-monitor-period=1h', '--node-monitor-grace-period=x']).length, 1);
  assert.equal(problemsOf(['--node-eviction-rate=x', '--node-monitor-grace-period=1s']).length, 2);
});

test('relations of the lease do not matter without an election', () => {
  assert.deepEqual(problemsOf(['--leader-elect=false', '--leader-elect-lease-duration=1s']), []);
});

test('warns of what is allowed but dangerous', () => {
  const table: readonly [readonly string[], RegExp][] = [
    [['--node-monitor-grace-period=25s'], /^--node-monitor-grace-period is 25s\./],
    [['--leader-elect=false'], /^--leader-elect is off/],
    [['--secondary-node-eviction-rate=0.2'], /^--secondary-node-eviction-rate \(0.2\) is above/],
    [['--kube-api-burst=5'], /^--kube-api-burst \(5\) is below/],
  ];
  for (const [argv, warning] of table) {
    const { warnings } = configOf(argv);
    assert.equal(warnings.length, 1, argv.join(' '));
    assert.match(warnings[0] ?? '', warning);
  }
  assert.deepEqual(configOf(['--node-monitor-grace-period=26s']).warnings, []);
});

test('removed flags explain themselves', () => {
  for (const [name, why] of Object.entries(removedControllerFlags)) {
    for (const argv of [[`--${name}=1`], [`--${name}`], [`--${name}`, '1']]) {
      assert.deepEqual(problemsOf(argv), [`--${name}: ${why}`], argv.join(' '));
    }
  }
});

test('flags of kube-controller-manager that mean nothing here are unknown', () => {
  assert.deepEqual(problemsOf(['--cluster-cidr=10.0.0.0/8']), ['--cluster-cidr: unknown flag']);
});

test('a file gives settings, flags win over it', () => {
  const file = `${head}nodeMonitorPeriod: 1s\nnodeEvictionRate: 0.5\nleaderElect: false\nv: 4\nmetricsBindAddress: "0"\n`;
  const { config } = configOf(['--config=f.yaml', '--node-eviction-rate=0.7'], file);
  assert.equal(config.controller.nodeMonitorPeriodMs, 1_000);
  assert.equal(config.controller.nodeEvictionRate, 0.7);
  assert.equal(config.leaderElection.enabled, false);
  assert.equal(config.log.verbosity, 4);
  assert.equal(config.metricsBindAddress, 'off');
});

test('a file is read strictly', () => {
  const table: readonly [string, readonly string[]][] = [
    [`${head}nodeEvictionRates: 1\n`, ['f: nodeEvictionRates: unknown setting; did you mean nodeEvictionRate?']],
    [`${head}validateOnly: true\n`, ['f: validateOnly: unknown setting']],
    [`${head}config: g\n`, ['f: config: unknown setting']],
    [
      `${head}nodeMonitorPeriod: 5\n`,
      ['f: nodeMonitorPeriod: got 5; accepted: a duration with units, such as 1m30s or 500ms, above 0'],
    ],
    [`${head}nodeEvictionRate: "0.1"\n`, ['f: nodeEvictionRate: got "0.1"; accepted: a number, from 0']],
    [`${head}leaderElect: "yes"\n`, ['f: leaderElect: got "yes"; accepted: true or false']],
    ['kind: ControllerConfiguration\n', ['f: apiVersion: is missing; accepted: nodelifecycle/v1alpha1']],
    [
      'apiVersion: v2\nkind: Pod\n',
      [
        'f: apiVersion: got "v2"; accepted: nodelifecycle/v1alpha1',
        'f: kind: got "Pod"; accepted: ControllerConfiguration',
      ],
    ],
    [
      '- 1\n',
      [
        '--config: f holds no settings; accepted: apiVersion: nodelifecycle/v1alpha1 and ' +
          'kind: ControllerConfiguration, then settings',
      ],
    ],
  ];
  for (const [file, problems] of table) assert.deepEqual(problemsOf(['--config=f'], file), problems, file);
});

test('a file that is no YAML, or gives a key twice, is refused', () => {
  for (const file of ['a: [1', `${head}v: 1\nv: 2\n`]) {
    const problems = problemsOf(['--config=f'], file);
    assert.equal(problems.length, 1, file);
    assert.match(problems[0] ?? '', /^--config: f is not YAML: /);
  }
});

test('a file of unfolding aliases is refused', () => {
  const file = `${head}a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c]\n`;
  const problems = problemsOf(['--config=f'], file);
  assert.equal(problems.length, 1);
  assert.match(problems[0] ?? '', /^--config: f cannot be unfolded: /);
});

test('a file that cannot be read is a problem like any other', () => {
  assert.deepEqual(problemsOf(['--config=f', '--x']), [
    '--x: unknown flag',
    '--config: got "f"; accepted: a file that can be read (ENOENT: f)',
  ]);
});

test('the schema of the file names every setting, with its default', () => {
  const schema = z.toJSONSchema(configFileSchema, { target: 'draft-7', io: 'input' });
  const inFile = controllerFlags.filter((flag) => !('onlyAsFlag' in flag));
  assert.deepEqual(
    Object.keys(schema.properties ?? {}).sort(),
    ['apiVersion', 'kind', ...inFile.map((flag) => keyOf(flag.name))].sort(),
  );
  assert.deepEqual(schema.required, ['apiVersion', 'kind']);
  assert.equal(schema.additionalProperties, false);
});

test('controllers that are not ours are named, all of them', () => {
  assert.deepEqual(problemsOf(['--controllers=*,-endpoint-controller,replicaset']), [
    '--controllers: got "-endpoint-controller", "replicaset"; accepted, with a - in front to switch off: *, ' +
      'node-lifecycle-controller, nodelifecycle, taint-eviction-controller, pod-garbage-collector-controller, podgc',
  ]);
});

test('the older eviction mode: its timeout only there, and no other gate', () => {
  assert.match(
    problemsOf(['--pod-eviction-timeout=1m']).join('\n'),
    /^--pod-eviction-timeout: got 1m0s; accepted: only with --feature-gates=TaintBasedEvictions=false/,
  );
  assert.deepEqual(problemsOf(['--feature-gates=TaintBasedEvictions=perhaps,NodeLease=true']), [
    '--feature-gates: got TaintBasedEvictions=perhaps, NodeLease=true; accepted: TaintBasedEvictions=true or =false',
  ]);
});
