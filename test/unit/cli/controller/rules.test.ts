import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseControllerConfig } from '../../../../src/cli/controller/config.ts';

const head = 'apiVersion: nodelifecycle/v1alpha1\nkind: ControllerConfiguration\n';

function outcomeOf(argv: readonly string[], file = ''): ReturnType<typeof parseControllerConfig> {
  return parseControllerConfig(file === '' ? argv : ['--config=f', ...argv], () => `${head}${file}`);
}

function problemsOf(argv: readonly string[], file = ''): readonly string[] {
  const outcome = outcomeOf(argv, file);
  return 'problems' in outcome ? outcome.problems : [];
}

test('--shadow disables leader election, without the warning about a second replica', () => {
  for (const outcome of [outcomeOf(['--shadow']), outcomeOf([], 'shadow: true\n')]) {
    if ('problems' in outcome) assert.fail(outcome.problems.join('\n'));
    assert.deepEqual(outcome.warnings, []);
    assert.equal(outcome.config.shadow, true);
    assert.equal(outcome.config.leaderElect, false);
  }
  assert.deepEqual(problemsOf(['--shadow', '--leader-elect=false']), []);
});

test('--shadow with leader election or the canary is an error, because both write a lease', () => {
  assert.match(problemsOf(['--shadow', '--leader-elect=true'])[0] ?? '', /^--leader-elect: .* writes a lease/);
  assert.match(problemsOf(['--shadow'], 'leaderElect: true\n')[0] ?? '', /^--leader-elect: /);
  assert.match(problemsOf(['--shadow', '--watch-canary'])[0] ?? '', /^--watch-canary: /);
});

test('--shadow with a controller or mode that cannot be compared is an error', () => {
  assert.match(problemsOf(['--shadow', '--controllers=*,podgc'])[0] ?? '', /^--controllers: /);
  assert.match(problemsOf(['--shadow', '--feature-gates=TaintBasedEvictions=false'])[0] ?? '', /^--feature-gates: /);
  assert.deepEqual(problemsOf(['--shadow', '--controllers=taint-eviction-controller']), []);
  assert.deepEqual(problemsOf(['--shadow', '--metrics-secure']), [], 'reviews are creates that store nothing');
});

test('the grace period of a policy must be longer than the monitor period, as that of the controller', () => {
  const policy = (name: string, grace: string): string =>
    `{ name: ${name}, nodeSelector: { matchLabels: { a: ${name} } }, nodeMonitorGracePeriod: ${grace} }`;
  const file = `policies: [${policy('a', '1m')}, ${policy('b', '5s')}, ${policy('c', '4s')}]\n`;
  const text = (index: number, name: string, grace: string): string =>
    `policies[${index}].nodeMonitorGracePeriod (policy ${name}): must be > --node-monitor-period (got ${grace} and 5s)`;
  assert.deepEqual(problemsOf([], file), [text(1, 'b', '5s'), text(2, 'c', '4s')]);
  assert.deepEqual(problemsOf(['--node-monitor-period=3s'], file), []);
});

test('values without effect are warned of: early detection after the grace period, and limits of a collector that is off', () => {
  const warningsOf = (argv: readonly string[], file = ''): readonly string[] => {
    const outcome = outcomeOf(argv, file);
    return 'problems' in outcome ? assert.fail(outcome.problems.join('\n')) : outcome.warnings;
  };
  const policy = (earliest: string): string =>
    `policies:\n- name: shop\n  nodeSelector: { matchLabels: { pool: a } }\n  limits: { maxUnhealthy: { count: 2 } }\n  detection: { earliest: ${earliest} }\n`;
  assert.deepEqual(warningsOf([], policy('49s')), []);
  assert.match(warningsOf([], policy('60s')).join(), /^policies\[0\]\.detection has no effect: .*\(50s\)/u);
  assert.match(warningsOf(['--terminated-pod-gc-age=1h']).join(), /have no effect: --controllers does not enable/u);
  assert.deepEqual(warningsOf(['--terminated-pod-gc-age=1h', '--controllers=*,pod-garbage-collector-controller']), []);
});
