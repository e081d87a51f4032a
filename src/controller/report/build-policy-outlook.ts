import { policyObjectName } from '../../machinery/api/node-lifecycle-policy.ts';
import type { PolicyOutlook } from './pages.ts';
import type { GraceRule } from '../model/decisions.ts';
import type { ControllerOptions, PolicySource } from '../model/options.ts';
import { describeWindow, type NodePolicy, type PolicySelection } from '../model/policy.ts';

/** Which policy applies to a node; null: there are no policies. */
export function buildPolicyOutlook(
  { policies, policySource }: Pick<ControllerOptions, 'policies' | 'policySource'>,
  selection: PolicySelection,
): PolicyOutlook | null {
  if (policies.length === 0) return null;
  const none = { name: null, mode: 'Enforce', conflict: [] } as const;
  switch (selection.kind) {
    case 'default':
      return none;
    case 'policy':
      return { ...none, ...selectNameAndMode(selection.policy, policySource) };
    case 'conflict':
      return { ...none, conflict: selection.policies.map(({ name }) => name) };
  }
}

function selectNameAndMode(
  { name, mode, windows }: NodePolicy,
  source: PolicySource,
): Pick<PolicyOutlook, 'name' | 'mode' | 'object' | 'windows'> {
  return {
    name,
    mode,
    ...(source === 'crd' ? { object: policyObjectName(name) } : {}),
    ...(windows && { windows: windows.map(describeWindow) }),
  };
}

/** The policy that sets the grace period of this rule; null: the setting of the controller. */
export function selectGracePolicy(rule: GraceRule, selection: PolicySelection): string | null {
  if (selection.kind !== 'policy') return null;
  const { name, nodeMonitorGracePeriodMs, nodeStartupGracePeriodMs } = selection.policy;
  if (rule === 'probes') return name;
  const graceMs = rule === 'monitor' ? nodeMonitorGracePeriodMs : nodeStartupGracePeriodMs;
  return graceMs === undefined ? null : name;
}
