// The zones in which the controller has to count, rate and serve nodes, for the checkers: independent of its own code.
import { ownValue } from '../../src/machinery/api/json-map.ts';
import type { KubeObject } from '../../src/machinery/api/meta.ts';
import { type Labels, zoneOf } from '../../src/machinery/api/topology.ts';
import type { ControllerOptions } from '../../src/controller/model/options.ts';
import type { SettingsFrom } from '../../src/simulator/world.ts';
import type { NodePolicy } from '../../src/controller/model/policy.ts';

interface Labelled {
  readonly name?: string;
  readonly labels?: Labels;
}

/** The NoExecute rate of a zone that is not disrupted, from this time on. */
export interface EvictionRate {
  readonly fromMs: number;
  readonly perSecond: number;
}

export const hostname = 'kubernetes.io/hostname';

/** Whether a simulated policy selects a node with these labels: by names, by the value of a label, or by both. */
function selects({ selector }: NodePolicy, labels: Labels): boolean {
  return selector.every(({ key, values }) => values?.includes(ownValue(labels, key) ?? '') === true);
}

/** The policy that applies to a node; undefined: none claims it, or two do equally. */
export function policyOf(node: Labelled, policies: readonly NodePolicy[]): NodePolicy | undefined {
  const [policy, ...others] = claimsOf(node, policies);
  return others.length === 0 ? policy : undefined;
}

/** The policies that claim a node: of the highest priority, then of the most requirements. All of them hold. */
export function claimsOf({ name = '', labels = {} }: Labelled, policies: readonly NodePolicy[]): readonly NodePolicy[] {
  const all = { [hostname]: name, ...labels };
  const claiming = policies.filter((policy) => selects(policy, all));
  const priority = Math.max(...claiming.map((policy) => policy.priority));
  const first = claiming.filter((policy) => policy.priority === priority);
  const requirements = Math.max(...first.map(({ selector }) => selector.length));
  return first.filter(({ selector }) => selector.length === requirements);
}

/** `region/zone`, or `POLICY:VALUES` in a policy with zones of its own, and `POLICY:OUTER:VALUES` in one with two levels. */
export function countedZoneOf({ metadata }: KubeObject, policies: readonly NodePolicy[]): string {
  const { labels = {} } = metadata;
  const policy = policyOf(metadata, policies);
  if (policy?.zones === undefined) return zoneOf(labels);
  const { failureDomain, outerFailureDomain } = policy.zones;
  const valuesOf = (keys: readonly string[]): string => keys.map((key) => ownValue(labels, key) ?? '').join('/');
  const inner = failureDomain === undefined ? zoneOf(labels) : valuesOf(failureDomain);
  const outer = outerFailureDomain === undefined ? [] : [valuesOf(outerFailureDomain)];
  return [policy.name, ...outer, inner].join(':');
}

/** A zone of {@link countedZoneOf}, and its outer zone: a node counts in each, and its taint needs a token of each. */
export function levelsOf(zone: string): readonly string[] {
  const [policy, outer, inner] = zone.split(':');
  return inner === undefined ? [zone] : [zone, `${policy}:${outer}:*`];
}

/** Rates of NoExecute taints of this zone over time. While its policy did not exist it is the rate of all other zones. */
export function ratesOf(zone: string, settings: readonly SettingsFrom[]): readonly EvictionRate[] {
  return settings.map(({ fromMs, options }) => ({ fromMs, perSecond: rateIn(zone, options) }));
}

/** The highest of them. */
export function highestRateOf(zone: string, settings: readonly SettingsFrom[]): number {
  return Math.max(...ratesOf(zone, settings).map(({ perSecond }) => perSecond));
}

function rateIn(zone: string, { policies, nodeEvictionRate }: ControllerOptions): number {
  const policy = policies.find(({ name }) => zone.startsWith(`${name}:`));
  return policy?.zones?.settings.nodeEvictionRate ?? nodeEvictionRate;
}
