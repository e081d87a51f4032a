import { formatGoDuration } from '../../api/go-duration.ts';
import type { LabelRequirement } from '../../api/label-selector.ts';
import type { MaintenanceRule, NodePolicy } from '../../controller/model/policy.ts';

/** A policy in one line, for a list of changed settings; `not set` without one. */
export function describePolicy(policy: NodePolicy | undefined): string {
  if (policy === undefined) return 'not set';
  const { priority, mode, selector, nodeMonitorGracePeriodMs, nodeStartupGracePeriodMs, maintenance } = policy;
  return [
    `priority ${priority}`,
    mode,
    selector.map(describeRequirement).join(' and '),
    ...describeGrace('nodeMonitorGracePeriod', nodeMonitorGracePeriodMs),
    ...describeGrace('nodeStartupGracePeriod', nodeStartupGracePeriodMs),
    ...describeMaintenance(maintenance),
  ].join(', ');
}

function describeRequirement({ key, operator, values }: LabelRequirement): string {
  return [key, operator, ...(values ? [`[${values.join(' ')}]`] : [])].join(' ');
}

function describeGrace(field: string, ms: number | undefined): readonly string[] {
  return ms === undefined ? [] : [`${field} ${formatGoDuration(ms)}`];
}

function describeMaintenance(rule: MaintenanceRule | undefined): readonly string[] {
  if (rule === undefined) return [];
  const { conditions, taints, maxDurationMs } = rule;
  return [`maintenance [${[...conditions, ...taints].join(' ')}] for ${formatGoDuration(maxDurationMs)} at most`];
}
