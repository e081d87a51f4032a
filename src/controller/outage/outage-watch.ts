// Classifies every silence before any action. While the class is a failure of the path to the API server, the pods of
// the affected nodes stay ready and these nodes get no NoExecute taint; other silent nodes are handled as usual. The
// hold is bounded: nodes that are still silent at its end are handled as usual.
import type { EventRecorder } from '../../machinery/ports/event-recorder.ts';
import type { Meter } from '../../machinery/ports/meter.ts';
import { type ControllerOptions, controlPlanePathFailureHoldDefaults } from '../model/options.ts';
import type { DecisionSink, OutageArithmetic, SilenceOutageClass } from '../model/decisions.ts';
import { renewalWindowMs } from '../model/renewals.ts';
import { classifyOutage, classifyOutages, failedTogether, type LastHeartbeat } from './classify-outage.ts';
import {
  estimateSilence,
  measureRenewalDelays,
  type ObservedSilence,
  type RenewalDelays,
} from './estimate-silences.ts';
import { zoneFailure } from './events.ts';
import { type CountedHeartbeat, type Heartbeats, buildHeartbeats } from './build-heartbeats.ts';
import { outageHoldAge, outageHoldLimit, outageInForce, silentNodesTotal } from './metrics.ts';
import { type OutageHold, PathFailureHold } from './path-failure-hold.ts';
import type { Live } from '../../machinery/ports/live.ts';

/** What was read of all nodes serves further silences for the window divided by this. */
const readsPerWindow = 12;
/** Nodes of one outage may be confirmed one after the other: for so many windows it is not announced again. */
const windowsUntilForgotten = 20;

interface OutageWatchOptions {
  /**
   * The grace period, and the longest hold of a ControlPlanePathFailure (see planHoldMsMax): read at each evaluation.
   */
  readonly limits: Live<Pick<ControllerOptions, 'nodeMonitorGracePeriodMs' | 'controlPlanePathFailureHoldMs'>>;
  /**
   * When nodes that are not silent would become silent without a further heartbeat; counted nodes that have sent one.
   */
  readonly expectedSilences: () => Iterable<ObservedSilence>;
  /** The health clock, which stands still while watches are stale. */
  readonly healthNowMs: () => number;
  readonly isStale: () => boolean;
  readonly decisions: DecisionSink;
  readonly recorder: EventRecorder;
  readonly meter: Meter;
}

interface SilentNode {
  /** The silence as it was reported. */
  readonly observed: ObservedSilence;
  readonly zone: string;
  readonly counts: boolean;
  /** The node is in planned maintenance: no evidence meanwhile. */
  isMaintained: boolean;
  /** Both estimated until the silence is classified, and final then. */
  atMs: number;
  heartbeatAtMs: number;
  /**
   * The silence is not classified because nodes that may have failed with this one may still send a heartbeat: by then each has
   * sent one or is overdue, or this one has waited for its grace period.
   */
  undecidedUntilMs: number | undefined;
  outageClass: SilenceOutageClass | undefined;
  /** The hold that it is part of, which may have ended since. */
  holdSerial: number | undefined;
}

interface Announcement {
  /** The last heartbeat of the last node of them. */
  readonly heartbeatAtMs: number;
  readonly notedAtMs: number;
}

interface AssessedHeartbeat extends CountedHeartbeat {
  readonly isSilent: boolean;
}

/** A silence that is not classified yet, and its class by what is known now, and if no node sent a further heartbeat. */
interface UnnamedSilence {
  readonly node: string;
  readonly silent: SilentNode;
  readonly known: OutageArithmetic;
  readonly worst: OutageArithmetic;
}

/** The heartbeats of all counted nodes, as of a moment ago. */
interface HeartbeatEvidence {
  readonly builtAtMs: number;
  readonly delays: RenewalDelays;
  /** Those of nodes that are silent or overdue; the others renew. */
  readonly heartbeats: Heartbeats;
  /** As if no node sent a further one. */
  readonly withoutFurther: Heartbeats;
  /** The longest window of all nodes. */
  readonly windowMsMax: number;
}

export class OutageWatch {
  readonly #options: OutageWatchOptions;
  readonly #silent = new Map<string, SilentNode>();
  readonly #unnamed = new Set<string>();
  /** Recent announcements; a ZoneFailure is announced per zone. */
  readonly #announced = new Map<string, Announcement>();
  #evidence: HeartbeatEvidence | undefined;
  readonly #hold: PathFailureHold;

  constructor(options: OutageWatchOptions) {
    this.#options = options;
    this.#hold = new PathFailureHold({
      ...options,
      holdMsMax: (why) => this.#holdMsMax(why),
      windowMs: () => this.#windowMs,
    });
    options.meter.onRead(() => this.#showHold());
  }

  /**
   * The node became silent at the observed time. One that does not count in its zone is classified too, but is no
   * evidence.
   */
  markSilent(node: string, observed: ObservedSilence, counts: boolean): void {
    if (this.#silent.has(node)) return;
    const { zone, atMs, graceMs } = observed;
    const times = { atMs, heartbeatAtMs: atMs - graceMs, undecidedUntilMs: undefined };
    const unnamed = { isMaintained: false, outageClass: undefined, holdSerial: undefined };
    this.#silent.set(node, { zone, observed, counts, ...times, ...unnamed });
    this.#unnamed.add(node);
  }

  /** Whether the node is in planned maintenance: if it is silent, it is no evidence while it is. */
  setMaintained(node: string, isMaintained: boolean): void {
    const silent = this.#silent.get(node);
    if (silent !== undefined) silent.isMaintained = isMaintained;
  }

  /** The node sent a heartbeat, or no longer exists. */
  clear(node: string): void {
    this.#silent.delete(node);
    this.#unnamed.delete(node);
  }

  isSilent(node: string): boolean {
    return this.#silent.has(node);
  }

  /** The outage that this silent node is part of; undefined for one that is not silent. */
  outageClassOf(node: string): SilenceOutageClass | undefined {
    return this.#silent.get(node)?.outageClass;
  }

  /** The hold in force, if any. It does not apply to every node: see {@link isHeld}. */
  hold(): OutageHold | undefined {
    return this.#hold.inForce();
  }

  /**
   * Until when, on the health clock, the pods of this node stay ready and it gets no NoExecute taint, unless the hold
   * ends earlier. Undefined where nothing is held: the node is not silent, or became silent for another reason, before
   * or during the hold. A silence that is not classified yet, and may be a path failure, is held until it is.
   */
  heldUntilMs(node: string): number | undefined {
    const silent = this.#silent.get(node);
    if (silent?.undecidedUntilMs !== undefined) return silent.undecidedUntilMs;
    const serial = silent?.holdSerial;
    const hold = serial === undefined ? undefined : this.#hold.inForce();
    return hold?.serial === serial ? hold?.untilMs : undefined;
  }

  /** When it is known at the latest whether the silence of this node is a path failure; undefined: it is classified, or none. */
  undecidedUntilMs(node: string): number | undefined {
    return this.#silent.get(node)?.undecidedUntilMs;
  }

  /** Whether {@link heldUntilMs} is in the future. */
  isHeld(node: string): boolean {
    return this.heldUntilMs(node) !== undefined;
  }

  get #windowMs(): number {
    return renewalWindowMs(this.#options.limits.current().nodeMonitorGracePeriodMs);
  }

  /** Ends a hold, classifies new silences, begins a hold. To be called when all nodes have been evaluated. */
  evaluate(): void {
    if (this.#unnamed.size > 0 || this.#hold.last() !== undefined) {
      const evidence = this.#readHeartbeats();
      this.#hold.review((last) => classifyOutage(evidence.heartbeats, last));
      for (const unnamed of this.#classifyUnnamed(evidence))
        if (this.#name(unnamed, evidence)) this.#unnamed.delete(unnamed.node);
    }
    this.#forgetWhatIsOld();
    this.#publish();
  }

  /** Milliseconds until a silence that could not be classified should be evaluated again; Infinity: there is none. */
  reviewInMs(): number {
    if (this.#unnamed.size === 0 || this.#evidence === undefined) return Infinity;
    return Math.max(0, this.#evidence.builtAtMs + this.#readEveryMs - this.#options.healthNowMs());
  }

  get #readEveryMs(): number {
    return this.#windowMs / readsPerWindow;
  }

  /** Number of silent nodes. */
  get size(): number {
    return Math.max(this.#silent.size, this.#unnamed.size);
  }

  /** Number of remembered announcements: those of the last minutes. */
  get announced(): number {
    return this.#announced.size;
  }

  /** Nodes that are not classified yet, in the order in which they became silent: a hold counts from the first. */
  #classifyUnnamed({ heartbeats, withoutFurther }: HeartbeatEvidence): readonly UnnamedSilence[] {
    const unnamed = [...this.#unnamed].sort().flatMap((node) => {
      const silent = this.#silent.get(node);
      return silent === undefined ? [] : [{ node, silent, last: lastHeartbeatOf(silent) }];
    });
    const known = classifyOutages(heartbeats, unnamed).map(([each, why]) => ({ ...each, known: why }));
    const worst = classifyOutages(withoutFurther, known).map(([each, why]) => ({ ...each, worst: why }));
    return worst.sort((a, b) => a.silent.atMs - b.silent.atMs);
  }

  /** Names the class of a silence, unless that has to wait. */
  #name(unnamed: UnnamedSilence, evidence: HeartbeatEvidence): boolean {
    const { silent, known: why } = unnamed;
    if (this.#isUndecided(unnamed, evidence)) {
      silent.undecidedUntilMs = decidedByMs(silent, evidence);
      return false;
    }
    silent.undecidedUntilMs = undefined;
    const isPathFailure = why.outage === 'ControlPlanePathFailure';
    silent.outageClass = why.outage;
    if (isPathFailure) this.#beginHold(why, silent);
    const hold = this.#hold.last();
    if (hold !== undefined && (isPathFailure || this.#isCounted(silent, hold))) holdNode(silent, hold);
    this.#options.meter.add(silentNodesTotal, 1, { outage: silent.outageClass });
    // A hold is announced with its reason.
    if (why.outage !== 'NodeFailure' && silent.holdSerial === undefined) this.#announce(why, silent.heartbeatAtMs);
    return true;
  }

  /**
   * Whether it may yet become a ControlPlanePathFailure that is held: nodes that sent their last heartbeat when this one did are
   * not overdue, because grace periods are short or intervals differ.
   */
  #isUndecided({ silent, known, worst }: UnnamedSilence, evidence: HeartbeatEvidence): boolean {
    if (known.outage === 'ControlPlanePathFailure') return false;
    if (this.#options.healthNowMs() >= decidedByMs(silent, evidence)) return false;
    const hold = this.#hold.last();
    if (hold !== undefined && failedTogether(lastHeartbeatOf(silent), hold.silence)) return false;
    return worst.outage === 'ControlPlanePathFailure' && this.#holdMsMax(worst) > 0;
  }

  #holdMsMax(why: OutageArithmetic): number {
    return planHoldMsMax(why, this.#options.limits.current().controlPlanePathFailureHoldMs);
  }

  /** Nodes that became silent before may have been classified on less evidence: the hold applies to them from now on. */
  #beginHold(why: OutageArithmetic, silent: SilentNode): void {
    const begun = this.#hold.begin(why, lastHeartbeatOf(silent), () => this.#firstSilenceMs(silent));
    if (begun === undefined) return;
    for (const other of this.#silent.values()) {
      if (other.holdSerial === undefined && this.#isCounted(other, begun)) holdNode(other, begun);
    }
  }

  /** When the first of the nodes became silent that may have failed with this one. */
  #firstSilenceMs(silent: SilentNode): number {
    const last = lastHeartbeatOf(silent);
    const counted = [...this.#silent.values()].filter(
      (other) => isEvidence(other) && failedTogether(lastHeartbeatOf(other), last),
    );
    return counted.reduce((first, { atMs }) => Math.min(first, atMs), silent.atMs);
  }

  /** Whether a silence is part of the evidence for the hold. */
  #isCounted(silent: SilentNode, { silence }: OutageHold): boolean {
    return silent.outageClass !== undefined && failedTogether(lastHeartbeatOf(silent), silence);
  }

  /** Once for all nodes that failed together. */
  #announce(why: OutageArithmetic, heartbeatAtMs: number): void {
    const key = why.outage === 'ZoneFailure' ? `${why.outage} ${why.zone}` : why.outage;
    const before = this.#announced.get(key)?.heartbeatAtMs ?? -Infinity;
    this.#announced.set(key, { heartbeatAtMs, notedAtMs: this.#options.healthNowMs() });
    if (Math.abs(heartbeatAtMs - before) <= 2 * this.#windowMs) return;
    this.#options.decisions.note({ kind: 'outage-named', why });
    if (why.outage === 'ZoneFailure') this.#options.recorder.record(zoneFailure(why));
  }

  /** Removes old announcements and what was read of all nodes: their zones and nodes may no longer exist. */
  #forgetWhatIsOld(): void {
    const nowMs = this.#options.healthNowMs();
    if (this.#evidence !== undefined && this.#evidence.builtAtMs < nowMs - this.#windowMs) this.#evidence = undefined;
    for (const [key, { notedAtMs }] of this.#announced)
      if (notedAtMs < nowMs - windowsUntilForgotten * this.#windowMs) this.#announced.delete(key);
  }

  /** When many nodes become silent one by one, what was read of all of them is reused for a short time. */
  #readHeartbeats(): HeartbeatEvidence {
    const nowMs = this.#options.healthNowMs();
    if (this.#evidence === undefined || nowMs - this.#evidence.builtAtMs >= this.#readEveryMs) {
      const delays = measureRenewalDelays(this.#observed(), this.#windowMs);
      this.#estimateUnnamed(delays);
      this.#evidence = buildEvidence([...this.#countedHeartbeats(delays)], delays, nowMs);
    } else this.#estimateUnnamed(this.#evidence.delays);
    return this.#evidence;
  }

  *#observed(): Iterable<ObservedSilence> {
    for (const { observed } of this.#silent.values()) yield observed;
  }

  #estimateUnnamed(delays: RenewalDelays): void {
    for (const node of this.#unnamed) {
      const silent = this.#silent.get(node);
      if (silent !== undefined) Object.assign(silent, estimateSilence(silent.observed, delays, this.#windowMs));
    }
  }

  *#countedHeartbeats(delays: RenewalDelays): Iterable<AssessedHeartbeat> {
    for (const silent of this.#silent.values())
      if (isEvidence(silent)) yield toCounted(silent.observed, silent.heartbeatAtMs, true);
    for (const living of this.#options.expectedSilences())
      yield toCounted(living, estimateSilence(living, delays, this.#windowMs).heartbeatAtMs, false);
  }

  #showHold(): void {
    const { meter, healthNowMs } = this.#options;
    const hold = this.hold();
    const limitMs = hold && this.#holdMsMax(hold.why);
    meter.set(outageHoldAge, hold === undefined ? 0 : (healthNowMs() - hold.fromMs) / 1_000);
    meter.set(outageHoldLimit, (limitMs ?? 0) / 1_000);
  }

  #publish(): void {
    const { meter, isStale } = this.#options;
    meter.set(outageInForce, isStale() ? 1 : 0, { outage: 'ObserverStale' });
    meter.set(outageInForce, this.hold() === undefined ? 0 : 1, { outage: 'ControlPlanePathFailure' });
  }
}

function holdNode(silent: SilentNode, { why, serial }: OutageHold): void {
  silent.outageClass = why.outage;
  silent.holdSerial = serial;
}

/**
 * When the silence is classified at the latest: every node that may have failed with this one has sent a heartbeat or is overdue.
 * Other nodes may renew every ten minutes, so it is not more than the grace period of this node after the end of that.
 */
function decidedByMs(
  { atMs, heartbeatAtMs, observed: { windowMs, graceMs } }: SilentNode,
  { windowMsMax }: Pick<HeartbeatEvidence, 'windowMsMax'>,
): number {
  return Math.min(heartbeatAtMs + windowMs + windowMsMax, atMs + graceMs);
}

function lastHeartbeatOf({ zone, heartbeatAtMs, observed: { windowMs } }: SilentNode): LastHeartbeat {
  return { zone, heartbeatAtMs, windowMs };
}

function isEvidence({ counts, isMaintained }: SilentNode): boolean {
  return counts && !isMaintained;
}

function toCounted(
  { zone, windowMs, isControlPlane = false }: ObservedSilence,
  atMs: number,
  isSilent: boolean,
): AssessedHeartbeat {
  return { zone, atMs, nextByMs: atMs + windowMs, isControlPlane, isSilent };
}

function buildEvidence(
  counted: readonly AssessedHeartbeat[],
  delays: RenewalDelays,
  builtAtMs: number,
): HeartbeatEvidence {
  const renews = ({ isSilent, nextByMs }: AssessedHeartbeat): boolean => !isSilent && builtAtMs <= nextByMs;
  const known = counted.map((each) => (renews(each) ? { ...each, atMs: Infinity, nextByMs: Infinity } : each));
  return {
    builtAtMs,
    delays,
    heartbeats: buildHeartbeats(known),
    withoutFurther: buildHeartbeats(counted),
    windowMsMax: counted.reduce((longest, { atMs, nextByMs }) => Math.max(longest, nextByMs - atMs), 0),
  };
}

/**
 * The longest hold for this outage in milliseconds: the configured value (0: none; negative: no limit, Infinity here).
 * The default is long where nodes of several zones, or all control-plane nodes, are silent, as these do not fail at the
 * same moment. In one zone without that evidence a power failure looks the same, and its pods must be removed from
 * their Services soon.
 */
export function planHoldMsMax(
  { zones, controlPlane }: Pick<OutageArithmetic, 'zones' | 'controlPlane'>,
  configuredMs: number | undefined,
): number {
  if (configuredMs !== undefined) return configuredMs < 0 ? Infinity : configuredMs;
  return zones > 1 || controlPlane.evidence === 'silent'
    ? controlPlanePathFailureHoldDefaults.longMs
    : controlPlanePathFailureHoldDefaults.oneZoneMs;
}
