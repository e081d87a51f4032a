// Zones of a policy: its nodes are counted, rated and served apart from all others, so that its thresholds and rates are
// about its nodes only.
import { ownValue } from '../../machinery/api/json-map.ts';
import { type Labels, zoneOf } from '../../machinery/api/topology.ts';
import { buildPolicyZone, policyOfZone } from '../../machinery/api/zone.ts';
import type { ControllerOptions } from '../model/options.ts';
import type { PolicySelection } from '../model/policy.ts';

/**
 * The zone in which this node counts: `region/zone`, or where its policy has zones of its own `policy:values`, with an outer
 * level `policy:outer values:values`.
 */
export function deriveZone(labels: Labels, selection: PolicySelection): string {
  const policy = selection.kind === 'policy' ? selection.policy : undefined;
  if (policy?.zones === undefined) return zoneOf(labels);
  const { failureDomain, outerFailureDomain } = policy.zones;
  const domain = failureDomain === undefined ? zoneOf(labels) : valuesOf(failureDomain, labels);
  const outer = outerFailureDomain === undefined ? [] : [valuesOf(outerFailureDomain, labels)];
  return buildPolicyZone(policy.name, [...outer, domain]);
}

function valuesOf(keys: readonly string[], labels: Labels): string {
  return keys.map((key) => ownValue(labels, key) ?? '').join('/');
}

/** The options with what the policy of this zone sets, for both levels. */
export function deriveZoneOptions(zone: string, options: ControllerOptions): ControllerOptions {
  const name = policyOfZone(zone);
  if (name === undefined) return options;
  return { ...options, ...options.policies.find((policy) => policy.name === name)?.zones?.settings };
}
