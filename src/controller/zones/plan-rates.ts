// Each zone's queue drains at the zone's own rate. When all zones are fully disrupted the fault is probably in the
// control plane or the network: a controller without network observes exactly that. So no queue drains.
import type { ZoneCondition } from '../../machinery/api/zone.ts';
import type { RateRule, ZoneArithmetic } from '../model/decisions.ts';
import type { ControllerOptions } from '../model/options.ts';

export interface ZonePlan {
  readonly zone: string;
  readonly condition: ZoneCondition;
  readonly ratePerSecond: number;
  readonly why: ZoneArithmetic;
}

export interface Plan {
  readonly fullDisruption: boolean;
  readonly zones: readonly ZonePlan[];
}

export type RateOptions = Pick<
  ControllerOptions,
  | 'nodeEvictionRate'
  | 'secondaryNodeEvictionRate'
  | 'fullDisruptionEvictionRate'
  | 'largeClusterSizeThreshold'
  | 'unhealthyZoneThreshold'
>;

/** Condition and rate of every zone, evaluated together (upstream `handleDisruption`). */
export function planRates(tallies: ReadonlyMap<string, ZoneTally>, optionsOf: (zone: string) => RateOptions): Plan {
  const evaluated = [...tallies].map(([zone, tally]) => {
    const options = optionsOf(zone);
    return { zone, tally, options, condition: classifyZone(tally, options.unhealthyZoneThreshold) };
  });
  // A zone without counted nodes is left out.
  const counted = evaluated.filter(({ tally }) => tally.ready + tally.unready > 0);
  const fullDisruption = counted.length > 0 && counted.every(({ condition }) => condition === 'fully-disrupted');
  const zones = evaluated.map(({ zone, tally, options, condition }) => {
    const rule = fullDisruption ? 'full-disruption' : ruleFor(condition, tally, options);
    return { zone, condition, ratePerSecond: rateOf(rule, options), why: arithmetic(tally, rule, options) };
  });
  return { fullDisruption, zones };
}

/** The rate of a zone with so many nodes. */
export function rateAt(tally: ZoneTally, options: RateOptions, fullDisruption: boolean): number {
  const condition = classifyZone(tally, options.unhealthyZoneThreshold);
  return rateOf(fullDisruption ? 'full-disruption' : ruleFor(condition, tally, options), options);
}

function ruleFor(condition: ZoneCondition, tally: ZoneTally, options: RateOptions): RateRule {
  switch (condition) {
    case 'initial':
    case 'normal':
      return 'normal';
    case 'partially-disrupted':
      return tally.ready + tally.unready > options.largeClusterSizeThreshold
        ? 'large-zone-disrupted'
        : 'small-zone-disrupted';
    case 'fully-disrupted':
      return 'zone-fully-disrupted';
  }
}

function rateOf(rule: RateRule, options: RateOptions): number {
  switch (rule) {
    case 'normal':
      return options.nodeEvictionRate;
    case 'zone-fully-disrupted':
      return options.fullDisruptionEvictionRate ?? options.nodeEvictionRate;
    case 'large-zone-disrupted':
      return options.secondaryNodeEvictionRate;
    case 'small-zone-disrupted':
    case 'full-disruption':
      return 0;
  }
}

function arithmetic(tally: ZoneTally, rule: RateRule, options: RateOptions): ZoneArithmetic {
  return {
    ready: tally.ready,
    unready: tally.unready,
    unhealthyZoneThreshold: options.unhealthyZoneThreshold,
    largeClusterSizeThreshold: options.largeClusterSizeThreshold,
    rule,
  };
}

export interface ZoneTally {
  readonly ready: number;
  /** Number of nodes that are not ready, unknown, or without a Ready condition. */
  readonly unready: number;
}

// With one or two unready nodes a zone stays normal however small it is: a share of few nodes is not significant.
const tooFewToEvaluate = 2;

/** Disruption state of a zone (upstream `ComputeZoneState`; the share is compared in 32-bit floats, as there). */
export function classifyZone({ ready, unready }: ZoneTally, unhealthyZoneThreshold: number): ZoneCondition {
  if (ready === 0 && unready > 0) return 'fully-disrupted';
  const share = Math.fround(unready / (ready + unready));
  if (unready > tooFewToEvaluate && share >= Math.fround(unhealthyZoneThreshold)) return 'partially-disrupted';
  return 'normal';
}
