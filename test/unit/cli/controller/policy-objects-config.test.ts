import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ControllerConfig, parseControllerConfig } from '../../../../src/cli/controller/config.ts';
import {
  readPolicyUnder,
  validateWithPolicies,
  withPoliciesInForce,
} from '../../../../src/cli/controller/policy-objects-config.ts';

const argv = ['--policy-source=crd'];

function outcomeOf(...flags: readonly string[]): ReturnType<typeof parseControllerConfig> {
  return parseControllerConfig([...argv, ...flags], () => '');
}

function configOf(...flags: readonly string[]): ControllerConfig {
  const outcome = outcomeOf(...flags);
  if ('problems' in outcome) assert.fail(outcome.problems.join('\n'));
  return outcome.config;
}

const object = {
  metadata: { name: 'edge' },
  spec: { nodeSelector: { matchLabels: { a: 'b' } }, nodeMonitorGracePeriod: '45s' },
};

/** The settings in force, with the policy of the object. */
function inForce(): ControllerConfig {
  const read = readPolicyUnder(configOf(), object);
  assert.ok('policy' in read);
  return { ...configOf(), policies: [read.policy] };
}

test('a grace period that is not above the monitor period is invalid', () => {
  assert.ok('policy' in readPolicyUnder(configOf('--node-monitor-period=44s'), object));
  const refused = readPolicyUnder(configOf('--node-monitor-period=45s'), object);
  assert.ok('problems' in refused);
  assert.deepEqual(refused.problems, [
    'spec.nodeMonitorGracePeriod: must be > --node-monitor-period (got 45s and 45s)',
  ]);
  assert.equal(refused.guard?.mode, 'Paused');
});

test('settings that would make a policy in force invalid are rejected', () => {
  assert.deepEqual(validateWithPolicies(outcomeOf('--node-monitor-period=46s'), inForce()), {
    problems: [
      'nodelifecyclepolicy/edge: spec.nodeMonitorGracePeriod: must be > --node-monitor-period (got 45s and 46s)',
    ],
  });
  const fitting = outcomeOf('--node-monitor-period=40s');
  assert.equal(validateWithPolicies(fitting, inForce()), fitting);
  assert.equal(validateWithPolicies(fitting, { ...inForce(), policySource: 'file' }), fitting);
});

test('a reload of the file keeps the policies that are objects', () => {
  const now = inForce();
  assert.equal(withPoliciesInForce(configOf(), now).policies, now.policies);
  const ofFile = { ...configOf(), policySource: 'file' } as const;
  assert.equal(withPoliciesInForce(ofFile, ofFile), ofFile);
});
