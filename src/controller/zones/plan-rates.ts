// A zone's queue drains at the zone's own rate. When every zone is dark the fault is more likely ours than theirs: a
// controller cut off from the network sees exactly that. So then nothing drains anywhere.
import type { ZoneCondition } from '../../api/zone.ts';
import type { RateRule, ZoneReckoning } from '../decisions.ts';
import type { ControllerOptions } from '../options.ts';
import { classifyZone, type ZoneTally } from './classify-zone.ts';

export interface ZonePlan {
  readonly zone: string;
  readonly condition: ZoneCondition;
  readonly ratePerSecond: number;
  readonly why: ZoneReckoning;
}

export interface Plan {
  readonly everyZoneDark: boolean;
  readonly zones: readonly ZonePlan[];
}

type RateOptions = Pick<
  ControllerOptions,
  | 'nodeEvictionRate'
  | 'secondaryNodeEvictionRate'
  | 'fullDisruptionEvictionRate'
  | 'largeClusterSizeThreshold'
  | 'unhealthyZoneThreshold'
>;

/** Condition and rate of every zone, judged together (upstream `handleDisruption`). */
export function planRates(tallies: ReadonlyMap<string, ZoneTally>, options: RateOptions): Plan {
  const judged = [...tallies].map(([zone, tally]) => {
    return { zone, tally, condition: classifyZone(tally, options.unhealthyZoneThreshold) };
  });
  // A zone in which no node counts says nothing about the cluster.
  const counted = judged.filter(({ tally }) => tally.ready + tally.unready > 0);
  const everyZoneDark = counted.length > 0 && counted.every(({ condition }) => condition === 'fully-disrupted');
  const zones = judged.map(({ zone, tally, condition }) => {
    const rule = everyZoneDark ? 'every-zone-dark' : ruleFor(condition, tally, options);
    return { zone, condition, ratePerSecond: rateOf(rule, options), why: reckoning(tally, rule, options) };
  });
  return { everyZoneDark, zones };
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
      return 'zone-dark';
  }
}

function rateOf(rule: RateRule, options: RateOptions): number {
  switch (rule) {
    case 'normal':
      return options.nodeEvictionRate;
    case 'zone-dark':
      return options.fullDisruptionEvictionRate ?? options.nodeEvictionRate;
    case 'large-zone-disrupted':
      return options.secondaryNodeEvictionRate;
    case 'small-zone-disrupted':
    case 'every-zone-dark':
      return 0;
  }
}

function reckoning(tally: ZoneTally, rule: RateRule, options: RateOptions): ZoneReckoning {
  return {
    ready: tally.ready,
    unready: tally.unready,
    unhealthyZoneThreshold: options.unhealthyZoneThreshold,
    largeClusterSizeThreshold: options.largeClusterSizeThreshold,
    rule,
  };
}
