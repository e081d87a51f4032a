import type { ZoneCondition } from '../../api/zone.ts';
import type { Meter } from '../../ports/meter.ts';
import type { ControllerOptions } from '../options.ts';
import type { ZoneTally } from './classify-zone.ts';
import { unhealthyNodesInZone, zoneEvictionRate, zoneHealth, zoneSize, zoneState } from './metrics.ts';
import { type Plan, planRates, type ZonePlan } from './plan-rates.ts';

type Standing = 'ready' | 'unready' | 'excluded';

interface Membership {
  readonly zone: string;
  readonly standing: Standing;
}

/** What the reference calls the conditions of zones, as values of a label (upstream `ZoneState`). */
const states: Readonly<Record<ZoneCondition, string>> = {
  initial: 'Initial',
  normal: 'Normal',
  'partially-disrupted': 'PartialDisruption',
  'fully-disrupted': 'FullDisruption',
};

interface Zone {
  readonly members: Record<Standing, number>;
  plan: ZonePlan | undefined;
}

/** How one zone's condition changed in a round of judging. */
export interface ZoneChange {
  readonly from: ZoneCondition;
  readonly plan: ZonePlan;
}

export interface Judgement {
  readonly changes: readonly ZoneChange[];
  /** Zones whose last node left. */
  readonly vanished: readonly string[];
  readonly outage: 'entered' | 'left' | 'unchanged';
}

/**
 * Counts nodes by zone as they change, and judges zones when told to. Keeping a node's standing costs the same however
 * large the cluster is; zones without nodes are forgotten, and excluded nodes keep a zone alive without counting in it.
 */
export class ZoneTable {
  readonly #options: ControllerOptions;
  readonly #meter: Meter;
  readonly #members = new Map<string, Membership>();
  readonly #zones = new Map<string, Zone>();
  #everyZoneDark = false;

  constructor(options: ControllerOptions, meter: Meter) {
    this.#options = options;
    this.#meter = meter;
  }

  get everyZoneDark(): boolean {
    return this.#everyZoneDark;
  }

  zoneOfMember(node: string): string | undefined {
    return this.#members.get(node)?.zone;
  }

  zones(): readonly string[] {
    return [...this.#zones.keys()].sort();
  }

  plan(zone: string): ZonePlan | undefined {
    return this.#zones.get(zone)?.plan;
  }

  condition(zone: string): ZoneCondition {
    return this.#zones.get(zone)?.plan?.condition ?? 'initial';
  }

  /** This node stands so in that zone from now on. */
  place(node: string, zone: string, standing: Standing): void {
    const known = this.#members.get(node);
    if (known?.zone === zone && known.standing === standing) return;
    this.leave(node);
    this.#members.set(node, { zone, standing });
    const entry = this.#zones.get(zone) ?? this.#begin(zone);
    entry.members[standing] += 1;
  }

  #begin(zone: string): Zone {
    const entry: Zone = { members: { ready: 0, unready: 0, excluded: 0 }, plan: undefined };
    this.#zones.set(zone, entry);
    this.#publishState(zone, 'initial');
    return entry;
  }

  leave(node: string): void {
    const known = this.#members.get(node);
    if (known === undefined) return;
    this.#members.delete(node);
    const zone = this.#zones.get(known.zone);
    if (zone !== undefined) zone.members[known.standing] -= 1;
  }

  /** Judges all zones together and says what changed since the last time. */
  judge(): Judgement {
    const vanished = this.#dropEmpty();
    const plan = planRates(this.#tallies(), this.#options);
    const outage = outageChange(this.#everyZoneDark, plan.everyZoneDark);
    this.#everyZoneDark = plan.everyZoneDark;
    return { changes: this.#adopt(plan), vanished, outage };
  }

  #tallies(): ReadonlyMap<string, ZoneTally> {
    return new Map(this.zones().map((zone) => [zone, this.#zones.get(zone)?.members ?? { ready: 0, unready: 0 }]));
  }

  #adopt(plan: Plan): readonly ZoneChange[] {
    return plan.zones.flatMap((next): ZoneChange[] => {
      const zone = this.#zones.get(next.zone);
      if (zone === undefined) return [];
      const from = zone.plan?.condition ?? 'initial';
      const changed = from !== next.condition || zone.plan?.ratePerSecond !== next.ratePerSecond;
      zone.plan = next;
      this.#publish(next);
      if (from !== next.condition) this.#publishState(next.zone, next.condition);
      return changed ? [{ from, plan: next }] : [];
    });
  }

  #dropEmpty(): readonly string[] {
    const vanished = this.zones().filter((zone) => isEmpty(this.#zones.get(zone)));
    for (const zone of vanished) {
      this.#zones.delete(zone);
      for (const metric of [zoneSize, zoneHealth, unhealthyNodesInZone, zoneEvictionRate])
        this.#meter.forget(metric, { zone });
      for (const state of Object.values(states)) this.#meter.forget(zoneState, { zone, state });
    }
    return vanished;
  }

  #publish({ zone, why, ratePerSecond }: ZonePlan): void {
    const size = why.ready + why.unready;
    this.#meter.set(zoneSize, size, { zone });
    this.#meter.set(zoneHealth, size === 0 ? 100 : (100 * why.ready) / size, { zone });
    this.#meter.set(unhealthyNodesInZone, why.unready, { zone });
    this.#meter.set(zoneEvictionRate, ratePerSecond, { zone });
  }

  #publishState(zone: string, inForce: ZoneCondition): void {
    for (const [condition, state] of Object.entries(states))
      this.#meter.set(zoneState, condition === inForce ? 1 : 0, { zone, state });
  }
}

function isEmpty(zone: Zone | undefined): boolean {
  return zone !== undefined && zone.members.ready + zone.members.unready + zone.members.excluded === 0;
}

function outageChange(was: boolean, is: boolean): Judgement['outage'] {
  if (was === is) return 'unchanged';
  return is ? 'entered' : 'left';
}
