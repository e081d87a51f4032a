import { isOuterZone, type ZoneCondition, zoneLevels } from '../../machinery/api/zone.ts';
import type { Meter } from '../../machinery/ports/meter.ts';
import { type ZoneTally, type Plan, planRates, rateAt, type RateOptions, type ZonePlan } from './plan-rates.ts';
import { unhealthyNodesInZone, zoneEvictionRate, zoneHealth, zoneSize, zoneState } from './metrics.ts';

type Standing = 'ready' | 'unready' | 'excluded';

interface Membership {
  readonly zone: string;
  readonly standing: Standing;
}

/** Conditions of zones as label values, named as in kube-controller-manager (`ZoneState`). */
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

/** A change of a zone's condition or rate. */
export interface ZoneChange {
  readonly from: ZoneCondition;
  readonly plan: ZonePlan;
}

export interface Evaluation {
  readonly changes: readonly ZoneChange[];
  /** Zones whose last node left. */
  readonly vanished: readonly string[];
  readonly fullDisruption: 'entered' | 'left' | 'unchanged';
}

/**
 * Counts nodes by zone as they change, and evaluates zones on request. The cost of an update does not depend on the
 * size of the cluster; zones without nodes are removed, and excluded nodes keep a zone without counting in it. A node counts in
 * its zone and in the outer zone of that, if it has one.
 */
export class ZoneTable {
  readonly #optionsOf: (zone: string) => RateOptions;
  readonly #meter: Meter;
  readonly #members = new Map<string, Membership>();
  readonly #zones = new Map<string, Zone>();
  #fullDisruption = false;

  /** `optionsOf`: as they are now. */
  constructor(optionsOf: (zone: string) => RateOptions, meter: Meter) {
    this.#optionsOf = optionsOf;
    this.#meter = meter;
  }

  get fullDisruption(): boolean {
    return this.#fullDisruption;
  }

  /** Number of counted and excluded nodes. */
  get size(): number {
    return this.#members.size;
  }

  zoneOfMember(node: string): string | undefined {
    return this.#members.get(node)?.zone;
  }

  /** Nodes that count and are not ready. */
  *unreadyMembers(): Iterable<string> {
    for (const [node, { standing }] of this.#members) if (standing === 'unready') yield node;
  }

  /** The zones in which the node counts. */
  levelsOf(node: string): readonly string[] {
    const zone = this.zoneOfMember(node);
    return zone === undefined ? [] : zoneLevels(zone);
  }

  /** The counted nodes that are ready. */
  *readyNodes(): Iterable<string> {
    for (const [node, { standing }] of this.#members) if (standing === 'ready') yield node;
  }

  /** The zones of the nodes, without outer zones. */
  zones(): readonly string[] {
    return this.zonesOfAllLevels().filter((zone) => !isOuterZone(zone));
  }

  zonesOfAllLevels(): readonly string[] {
    return [...this.#zones.keys()].sort();
  }

  plan(zone: string): ZonePlan | undefined {
    return this.#zones.get(zone)?.plan;
  }

  condition(zone: string): ZoneCondition {
    return this.#zones.get(zone)?.plan?.condition ?? 'initial';
  }

  /** Sets zone and standing of a node. */
  place(node: string, zone: string, standing: Standing): void {
    const known = this.#members.get(node);
    if (known?.zone === zone && known.standing === standing) return;
    this.remove(node);
    this.#members.set(node, { zone, standing });
    for (const level of zoneLevels(zone)) {
      const entry = this.#zones.get(level) ?? this.#begin(level);
      entry.members[standing] += 1;
    }
  }

  #begin(zone: string): Zone {
    const entry: Zone = { members: { ready: 0, unready: 0, excluded: 0 }, plan: undefined };
    this.#zones.set(zone, entry);
    this.#publishState(zone, 'initial');
    return entry;
  }

  remove(node: string): void {
    const known = this.#members.get(node);
    if (known === undefined) return;
    this.#members.delete(node);
    for (const level of zoneLevels(known.zone)) {
      const zone = this.#zones.get(level);
      if (zone !== undefined) zone.members[known.standing] -= 1;
    }
  }

  /** Evaluates all zones together and returns what changed since the last call. */
  evaluate(): Evaluation {
    const vanished = this.#dropEmpty();
    const plan = planRates(this.#tallies(), this.#optionsOf);
    const fullDisruption = fullDisruptionChange(this.#fullDisruption, plan.fullDisruption);
    this.#fullDisruption = plan.fullDisruption;
    return { changes: this.#adopt(plan), vanished, fullDisruption };
  }

  /**
   * Whether the rate at which nodes of the zones of this node are tainted would be lower if all, or all but one, of so many ready
   * nodes by zone were unready, than if this node alone is.
   */
  isSlowerWithout(node: string, lostIn: (zone: string) => number): boolean {
    const levels = this.levelsOf(node);
    const own = this.#members.get(node)?.standing === 'ready' ? 1 : 0;
    const ownLoss = new Map(levels.map((level) => [level, own]));
    const alone = this.#lowestRate(
      ownLoss,
      this.#areOthersLost(levels, () => 0),
    );
    const lost = new Map(levels.map((level) => [level, Math.max(own, lostIn(level))]));
    const areOthersLost = this.#areOthersLost(levels, lostIn);
    if (this.#lowestRate(lost, areOthersLost) < alone) return true;
    return [...lost].some(([level, count]) => {
      const allButOne = new Map(lost).set(level, Math.min(count, this.#readyIn(level) - 1));
      return count > own && this.#lowestRate(allButOne, areOthersLost) < alone;
    });
  }

  /** The lowest rate of these zones if so many of their ready nodes were unready. */
  #lowestRate(lost: ReadonlyMap<string, number>, areOthersLost: boolean): number {
    const tallies = [...lost].map(([zone, count]) => {
      const { ready, unready } = this.#zones.get(zone)?.members ?? { ready: 0, unready: 0 };
      const lostNow = Math.min(ready, count);
      return { zone, ready: ready - lostNow, unready: unready + lostNow };
    });
    const fullDisruption = areOthersLost && tallies.every(({ ready }) => ready === 0);
    const rates = tallies.map((tally) => rateAt(tally, this.#optionsOf(tally.zone), fullDisruption));
    return Math.min(Infinity, ...rates);
  }

  #readyIn(zone: string): number {
    return this.#zones.get(zone)?.members.ready ?? 0;
  }

  /** Whether no other zone would have a ready node left. */
  #areOthersLost(levels: readonly string[], lostIn: (zone: string) => number): boolean {
    for (const [zone, { members }] of this.#zones)
      if (members.ready > 0 && !levels.includes(zone) && members.ready > lostIn(zone)) return false;
    return true;
  }

  #tallies(): ReadonlyMap<string, ZoneTally> {
    return new Map(
      this.zonesOfAllLevels().map((zone) => [zone, this.#zones.get(zone)?.members ?? { ready: 0, unready: 0 }]),
    );
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
    const vanished = this.zonesOfAllLevels().filter((zone) => isEmpty(this.#zones.get(zone)));
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

function fullDisruptionChange(was: boolean, is: boolean): Evaluation['fullDisruption'] {
  if (was === is) return 'unchanged';
  return is ? 'entered' : 'left';
}
