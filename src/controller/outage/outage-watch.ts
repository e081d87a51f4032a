// Names every silence before anybody acts on it, and holds the acts that hurt while the name says that the fault is in the
// way to the API server: pods stay ready and nobody is sent away. The hold is bounded: whatever we take it for, nodes that
// are still silent at its end are treated like any other.
import type { EventRecorder } from '../../ports/event-recorder.ts';
import type { Meter } from '../../ports/meter.ts';
import type { ControllerOptions } from '../options.ts';
import type { DecisionSink, OutageReckoning, SilenceOutage } from '../decisions.ts';
import { classifyOutage, deriveWindowMs, type Fall, type FallsByZone } from './classify-outage.ts';
import { actsHeld, actsResumed, zoneFailure } from './events.ts';
import { outageInForce, silentNodesTotal } from './metrics.ts';

const looksPerWindow = 12;

export interface OutageWatchOptions {
  /** The grace period, and the longest hold of a ControlPlanePathFailure (0 for none): read at each judgement. */
  readonly limits: Pick<ControllerOptions, 'nodeMonitorGracePeriodMs' | 'controlPlanePathFailureHoldMs'>;
  /** When each node that is not silent will be, if nothing more is heard of it; those that count, and have been heard. */
  readonly livingFalls: () => Iterable<Fall>;
  /** Health's clock, which stands still while we are blind. */
  readonly healthNowMs: () => number;
  readonly isBlind: () => boolean;
  readonly decisions: DecisionSink;
  readonly recorder: EventRecorder;
  readonly meter: Meter;
}

export interface OutageHold {
  readonly why: OutageReckoning;
  readonly fromMs: number;
  /** On health's clock. */
  readonly untilMs: number;
  /** Enough nodes are heard again; the rest gets a moment to follow. */
  readonly recovering: boolean;
  /** The fall by which it was named. */
  readonly fall: Fall;
}

/** What is remembered of a hold. When it ends follows from that, and from how long a hold may be. */
interface BegunHold extends Omit<OutageHold, 'untilMs' | 'recovering'> {
  readonly recoveredByMs: number | undefined;
}

interface Fallen extends Fall {
  readonly counts: boolean;
  outage: SilenceOutage | undefined;
}

export class OutageWatch {
  readonly #options: OutageWatchOptions;
  readonly #fallen = new Map<string, Fallen>();
  readonly #unnamed = new Set<string>();
  /** When what was last announced; a zone's failure is its own. */
  readonly #announced = new Map<string, number>();
  #falls: { readonly builtAtMs: number; readonly byZone: FallsByZone } | undefined;
  #begun: BegunHold | undefined;

  constructor(options: OutageWatchOptions) {
    this.#options = options;
  }

  /** The node fell silent then. One that does not count in its zone is named too, but is no evidence. */
  fell(node: string, fall: Fall, counts: boolean): void {
    if (this.#fallen.has(node)) return;
    this.#fallen.set(node, { ...fall, counts, outage: undefined });
    this.#unnamed.add(node);
  }

  /** The node is heard, or no longer exists. */
  stands(node: string): void {
    this.#fallen.delete(node);
    this.#unnamed.delete(node);
  }

  hasFallen(node: string): boolean {
    return this.#fallen.has(node);
  }

  /** The outage that this silent node is part of; undefined for one that is not silent. */
  outageOf(node: string): SilenceOutage | undefined {
    return this.#fallen.get(node)?.outage;
  }

  /** The hold in force. */
  hold(): OutageHold | undefined {
    const hold = this.#lastHold();
    return hold !== undefined && this.#options.healthNowMs() < hold.untilMs ? hold : undefined;
  }

  #lastHold(): OutageHold | undefined {
    if (this.#begun === undefined) return undefined;
    const { recoveredByMs, ...hold } = this.#begun;
    const longestMs = hold.fromMs + this.#options.limits.controlPlanePathFailureHoldMs;
    const untilMs = Math.min(longestMs, recoveredByMs ?? Infinity);
    return { ...hold, untilMs, recovering: recoveredByMs !== undefined };
  }

  get #windowMs(): number {
    return deriveWindowMs(this.#options.limits.nodeMonitorGracePeriodMs);
  }

  /** Names what is not named yet, begins a hold, ends one. To be called when all nodes have been looked at. */
  judge(): void {
    if (this.#unnamed.size > 0 || this.#begun !== undefined) {
      const falls = this.#lookAround();
      for (const node of [...this.#unnamed].sort()) this.#name(node, falls);
      this.#unnamed.clear();
      this.#review(falls);
    }
    this.#publish();
  }

  #name(node: string, falls: FallsByZone): void {
    const fallen = this.#fallen.get(node);
    if (fallen === undefined) return;
    const why = classifyOutage(falls, fallen, this.#windowMs);
    fallen.outage = why.outage;
    this.#options.meter.add(silentNodesTotal, 1, { outage: why.outage });
    if (why.outage === 'NodeFailure') return;
    if (why.outage === 'ControlPlanePathFailure') this.#begin(why, fallen, falls);
    // A hold says by itself what it is for.
    if (why.outage !== this.#begun?.why.outage) this.#announce(why, fallen.atMs);
  }

  /** Once for all nodes that fell together. */
  #announce(why: OutageReckoning, atMs: number): void {
    const key = why.outage === 'ZoneFailure' ? `${why.outage} ${why.zone}` : why.outage;
    const before = this.#announced.get(key) ?? -Infinity;
    this.#announced.set(key, atMs);
    if (Math.abs(atMs - before) <= 2 * this.#windowMs) return;
    this.#options.decisions.note({ kind: 'outage-named', why });
    if (why.outage === 'ZoneFailure') this.#options.recorder.record(zoneFailure(why));
  }

  /** The time of the hold counts from the first fall, however late we come to know of it: a restart does not begin it anew. */
  #begin(why: OutageReckoning, fall: Fall, falls: FallsByZone): void {
    if (this.#begun !== undefined) return;
    const { decisions, recorder, limits, healthNowMs } = this.#options;
    const fromMs = firstFallSince(falls, fall.atMs - this.#windowMs);
    const holdMs = fromMs + limits.controlPlanePathFailureHoldMs - healthNowMs();
    if (holdMs <= 0) return;
    this.#begun = { why, fromMs, recoveredByMs: undefined, fall: { zone: fall.zone, atMs: fall.atMs } };
    decisions.note({ kind: 'acts-held', outage: why.outage, holdMs, why });
    recorder.record(actsHeld(why, holdMs));
  }

  #review(falls: FallsByZone): void {
    const hold = this.#lastHold();
    if (hold === undefined || this.#begun === undefined) return;
    const nowMs = this.#options.healthNowMs();
    if (nowMs >= hold.untilMs) this.#end(hold, nowMs);
    else if (!hold.recovering && classifyOutage(falls, hold.fall, this.#windowMs).outage !== hold.why.outage) {
      this.#begun = { ...this.#begun, recoveredByMs: nowMs + this.#windowMs };
    }
  }

  #end({ fromMs, recovering, why }: OutageHold, nowMs: number): void {
    this.#begun = undefined;
    const ending = recovering ? 'recovered' : 'expired';
    const heldMs = nowMs - fromMs;
    this.#options.decisions.note({ kind: 'acts-resumed', outage: why.outage, heldMs, ending });
    this.#options.recorder.record(actsResumed(why, heldMs, ending));
  }

  /** In a storm nodes fall one by one, and a look at all of them for each would be felt: one serves for a moment. */
  #lookAround(): FallsByZone {
    const nowMs = this.#options.healthNowMs();
    if (this.#falls === undefined || nowMs - this.#falls.builtAtMs >= this.#windowMs / looksPerWindow) {
      const counted = [...this.#fallen.values()].filter(({ counts }) => counts);
      this.#falls = { builtAtMs: nowMs, byZone: byZone([...counted, ...this.#options.livingFalls()]) };
    }
    return this.#falls.byZone;
  }

  #publish(): void {
    const { meter, isBlind } = this.#options;
    meter.set(outageInForce, isBlind() ? 1 : 0, { outage: 'ObserverStale' });
    meter.set(outageInForce, this.hold() === undefined ? 0 : 1, { outage: 'ControlPlanePathFailure' });
  }
}

function byZone(falls: readonly Fall[]): FallsByZone {
  const zones = new Map<string, number[]>();
  for (const { zone, atMs } of falls) {
    const times = zones.get(zone);
    if (times === undefined) zones.set(zone, [atMs]);
    else times.push(atMs);
  }
  for (const times of zones.values()) times.sort((a, b) => a - b);
  return zones;
}

function firstFallSince(falls: FallsByZone, sinceMs: number): number {
  const firsts = [...falls.values()].map((times) => times.find((atMs) => atMs >= sinceMs) ?? Infinity);
  return Math.min(...firsts);
}
