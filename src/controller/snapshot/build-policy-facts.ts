import type { PolicyFacts } from '../explain/facts.ts';
import type { GraceRule } from '../model/decisions.ts';
import type { NodePolicy, PolicySelection } from '../model/policy.ts';

/** Which policy applies to a node; null: there are no policies. */
export function buildPolicyFacts(policies: readonly NodePolicy[], selection: PolicySelection): PolicyFacts | null {
  if (policies.length === 0) return null;
  switch (selection.kind) {
    case 'default':
      return { name: null, mode: 'Enforce', conflict: [] };
    case 'policy':
      return { name: selection.policy.name, mode: selection.policy.mode, conflict: [] };
    case 'conflict':
      return { name: null, mode: 'Enforce', conflict: selection.policies.map(({ name }) => name) };
  }
}

/** The policy that sets the grace period of this rule; null: the setting of the controller. */
export function selectGracePolicy(rule: GraceRule, selection: PolicySelection): string | null {
  if (selection.kind !== 'policy') return null;
  const { name, nodeMonitorGracePeriodMs, nodeStartupGracePeriodMs } = selection.policy;
  const graceMs = rule === 'monitor' ? nodeMonitorGracePeriodMs : nodeStartupGracePeriodMs;
  return graceMs === undefined ? null : name;
}
