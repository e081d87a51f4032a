// Zones of a policy: its nodes are counted, rated and served apart from all others, so that its thresholds and rates are
// about its nodes only.
import { type Labels, zoneOf } from '../../api/topology.ts';
import type { ControllerOptions } from '../model/options.ts';
import type { PolicySelection } from '../model/policy.ts';

/** In no label value and in no name of a policy. */
const separator = ':';

/** The zone in which this node counts: `region/zone`, or `policy:values` where its policy has zones of its own. */
export function deriveZone(labels: Labels, selection: PolicySelection): string {
  const policy = selection.kind === 'policy' ? selection.policy : undefined;
  if (policy?.zones === undefined) return zoneOf(labels);
  const { failureDomain } = policy.zones;
  const domain = failureDomain?.map((key) => labels[key] ?? '').join('/') ?? zoneOf(labels);
  return `${policy.name}${separator}${domain}`;
}

/** The options with what the policy of this zone sets. */
export function deriveZoneOptions(zone: string, options: ControllerOptions): ControllerOptions {
  const end = zone.indexOf(separator);
  if (end < 0) return options;
  const name = zone.slice(0, end);
  return { ...options, ...options.policies.find((policy) => policy.name === name)?.zones?.settings };
}
