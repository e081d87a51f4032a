import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideReload } from '../../../../src/cli/controller/config-reload.ts';
import { parseControllerConfig } from '../../../../src/cli/controller/config.ts';
import { controllerFlags } from '../../../../src/cli/controller/flags.ts';
import type { ControllerValues } from '../../../../src/cli/controller/rules.ts';
import type { FlagDefinition } from '../../../../src/cli/flags/flag-definition.ts';

const head = 'apiVersion: nodelifecycle/v1alpha1\nkind: ControllerConfiguration\n';

function valuesOf(settings: string, argv: readonly string[] = []): ControllerValues {
  const outcome = parseControllerConfig(['--config=f', ...argv], () => head + settings);
  if ('problems' in outcome) assert.fail(outcome.problems.join('\n'));
  return outcome.values;
}

test('an unchanged configuration applies nothing and requires no restart', () => {
  const values = valuesOf('nodeEvictionRate: 0.5\nfeatureGates: {TaintBasedEvictions: "true"}\n');
  const again = valuesOf('featureGates: {TaintBasedEvictions: "true"}\nnodeEvictionRate: 0.5\n');
  assert.deepEqual(decideReload(values, again), { values, applied: [], waiting: [] });
});

test('live settings are applied, others require a restart, each with its old and new value as on the command line', () => {
  const before = valuesOf('nodeMonitorGracePeriod: 40s\nfeatureGates: {TaintBasedEvictions: "true"}\n');
  const after = valuesOf(
    'nodeMonitorGracePeriod: 1m30s\nfullDisruptionEvictionRate: 0.2\nleaderElectLeaseDuration: 30s\nmetricsBindAddress: ":9090"\n',
  );
  const { values, applied, waiting } = decideReload(before, after);
  assert.deepEqual(applied, [
    { setting: 'nodeMonitorGracePeriod', from: '40s', to: '1m30s' },
    { setting: 'fullDisruptionEvictionRate', from: 'not set', to: '0.2' },
  ]);
  assert.deepEqual(waiting, [
    { setting: 'featureGates', from: '{"TaintBasedEvictions":"true"}', to: 'not set' },
    { setting: 'leaderElectLeaseDuration', from: '15s', to: '30s' },
    { setting: 'metricsBindAddress', from: '127.0.0.1:8080', to: ':9090' },
  ]);
  assert.deepEqual(values, { ...before, nodeMonitorGracePeriodMs: 90_000, fullDisruptionEvictionRate: 0.2 });
});

test('a setting that is removed from the file returns to its default', () => {
  const { applied } = decideReload(valuesOf('nodeEvictionRate: 0.5\n'), valuesOf(''));
  assert.deepEqual(applied, [{ setting: 'nodeEvictionRate', from: '0.5', to: '0.1' }]);
});

test('flags take precedence over the file at a reload', () => {
  const argv = ['--node-eviction-rate=0.7'];
  const { applied } = decideReload(
    valuesOf('nodeEvictionRate: 0.5\n', argv),
    valuesOf('nodeEvictionRate: 0.9\n', argv),
  );
  assert.deepEqual(applied, []);
});

test('if the live settings alone would violate a constraint, all changes require a restart', () => {
  const before = valuesOf('');
  const after = valuesOf(
    'featureGates: {TaintBasedEvictions: "false"}\npodEvictionTimeout: 1m\nnodeEvictionRate: 0.5\n',
  );
  const { values, applied, waiting } = decideReload(before, after);
  assert.equal(values, before);
  assert.deepEqual(applied, []);
  const seen = waiting.map(({ setting }) => setting);
  assert.deepEqual(seen, ['featureGates', 'podEvictionTimeout', 'nodeEvictionRate']);
});

test('policies and the pause are applied, each changed policy with its name', () => {
  const policy = (name: string, fields: string): string =>
    `{ name: ${name}, nodeSelector: { matchLabels: { pool: ${name} } }${fields} }`;
  const before = valuesOf(
    `policies: [${policy('a', '')}, ${policy('b', ', nodeMonitorGracePeriod: 2m')}, ${policy('c', '')}]\n`,
  );
  const after = valuesOf(
    `policies: [${policy('c', '')}, ${policy('a', ', mode: Observe, evictReachable: { timeout: 15m }, keepCompletedPods: true, limits: { podDeletionsPerSecond: 2, maxConcurrentEvictions: 3 }')}, ${policy('d', '')}]\npaused: true\n`,
  );
  const { values, applied, waiting } = decideReload(before, after);
  assert.deepEqual(waiting, []);
  assert.deepEqual(applied, [
    {
      setting: 'policies[a]',
      from: 'priority 0, Enforce, pool In [a]',
      to: 'priority 0, Observe, pool In [a], evictReachable for 15m0s at most, keepCompletedPods, podDeletionsPerSecond 2, maxConcurrentEvictions 3',
    },
    {
      setting: 'policies[b]',
      from: 'priority 0, Enforce, pool In [b], nodeMonitorGracePeriod 2m0s',
      to: 'not set',
    },
    { setting: 'policies[d]', from: 'not set', to: 'priority 0, Enforce, pool In [d]' },
    { setting: 'paused', from: 'false', to: 'true' },
  ]);
  assert.equal(values.policies, after.policies);
  assert.equal(values.paused, true);
});

test('policies that are the same are kept as they are', () => {
  const text = 'policies: [{ name: a, nodeSelector: { matchLabels: { pool: a } } }]\n';
  const before = valuesOf(text);
  const { values, applied } = decideReload(before, valuesOf(`${text}nodeEvictionRate: 0.5\n`));
  assert.equal(values.policies, before.policies);
  assert.deepEqual(applied, [{ setting: 'nodeEvictionRate', from: '0.1', to: '0.5' }]);
});

test('the list of live settings', () => {
  const live = controllerFlags.filter((flag: FlagDefinition) => flag.live === true).map(({ name }) => name);
  assert.deepEqual(live, [
    'pod-eviction-timeout',
    'terminated-pod-gc-threshold',
    'terminated-pod-gc-per-node',
    'terminated-pod-gc-age',
    'node-monitor-period',
    'node-monitor-grace-period',
    'node-startup-grace-period',
    'node-monitor-resync-period',
    'lease-confirmation-hold',
    'stale-watch-hold',
    'node-eviction-rate',
    'secondary-node-eviction-rate',
    'full-disruption-eviction-rate',
    'pod-marking-rate',
    'control-plane-path-failure-hold',
    'large-cluster-size-threshold',
    'unhealthy-zone-threshold',
    'evict-reachable-timeout',
    'v',
  ]);
});

test('a file that names the other source of policies ends no policy before the restart', () => {
  const policies = 'policies: [{ name: edge, nodeSelector: { matchLabels: { a: b } }, mode: Paused }]\n';
  const before = valuesOf(policies);
  const { values, applied, waiting } = decideReload(before, valuesOf('policySource: crd\nnodeEvictionRate: 0.5\n'));
  assert.deepEqual(values.policies, before.policies);
  assert.deepEqual(applied, [{ setting: 'nodeEvictionRate', from: '0.1', to: '0.5' }]);
  assert.deepEqual(waiting, [{ setting: 'policySource', from: 'file', to: 'crd' }]);
  const back = decideReload(valuesOf('policySource: crd\n'), valuesOf(policies));
  assert.deepEqual([back.values.policies, back.applied], [[], []]);
});
