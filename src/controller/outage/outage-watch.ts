// Classifies every silence before any action. While the class is a failure of the path to the API server, the pods of
// the affected nodes stay ready and these nodes get no NoExecute taint; other silent nodes are handled as usual. The
// hold is bounded: nodes that are still silent at its end are handled as usual.
import type { EventRecorder } from '../../machinery/ports/event-recorder.ts';
import type { Meter } from '../../machinery/ports/meter.ts';
import { type ControllerOptions, controlPlanePathFailureHoldDefaults } from '../model/options.ts';
import type { DecisionSink, OutageArithmetic, SilenceOutageClass } from '../model/decisions.ts';
import { classifyOutage, type Silence, type Silences, silenceWindowMs } from './classify-outage.ts';
import { estimateSilenceMs, type MarkDelays, measureMarkDelays, type ObservedSilence } from './estimate-silences.ts';
import { zoneFailure } from './events.ts';
import { outageHoldAge, outageHoldLimit, outageInForce, silentNodesTotal } from './metrics.ts';
import { type OutageHold, PathFailureHold } from './path-failure-hold.ts';
import type { Live } from '../../machinery/ports/live.ts';

const looksPerWindow = 12;
/** Nodes of one outage may be confirmed one after the other: for so many windows it is not announced again. */
const windowsUntilForgotten = 20;

interface OutageWatchOptions {
  /**
   * The grace period, and the longest hold of a ControlPlanePathFailure (see planHoldMsMax): read at each evaluation.
   */
  readonly limits: Live<Pick<ControllerOptions, 'nodeMonitorGracePeriodMs' | 'controlPlanePathFailureHoldMs'>>;
  /**
   * Times at which nodes that are not silent would become silent without a further heartbeat; counted nodes that have
   * sent one.
   */
  readonly expectedSilences: () => Iterable<ObservedSilence>;
  /** The health clock, which stands still while watches are stale. */
  readonly healthNowMs: () => number;
  readonly isStale: () => boolean;
  readonly decisions: DecisionSink;
  readonly recorder: EventRecorder;
  readonly meter: Meter;
}

interface SilentNode extends Silence {
  /** The silence as it was reported. */
  readonly observed: ObservedSilence;
  readonly counts: boolean;
  /** The node is in planned maintenance: no evidence meanwhile. */
  isMaintained: boolean;
  /** Estimated until the silence is classified, and final then. */
  atMs: number;
  outageClass: SilenceOutageClass | undefined;
  /** The hold that it is part of, which may have ended since. */
  holdSerial: number | undefined;
}

interface Announcement {
  /** Time at which the last node of them became silent. */
  readonly silentAtMs: number;
  readonly notedAtMs: number;
}

interface CountedSilence extends Silence {
  readonly isControlPlane: boolean;
}

/** All silences including expected ones, as of a moment ago. */
interface SilenceEvidence {
  readonly builtAtMs: number;
  readonly delays: MarkDelays;
  readonly silences: Silences;
}

export class OutageWatch {
  readonly #options: OutageWatchOptions;
  readonly #silent = new Map<string, SilentNode>();
  readonly #unnamed = new Set<string>();
  /** Recent announcements; a ZoneFailure is announced per zone. */
  readonly #announced = new Map<string, Announcement>();
  #silenceEvidence: SilenceEvidence | undefined;
  readonly #hold: PathFailureHold;

  constructor(options: OutageWatchOptions) {
    this.#options = options;
    this.#hold = new PathFailureHold({
      ...options,
      holdMsMax: (why) => planHoldMsMax(why, options.limits.current().controlPlanePathFailureHoldMs),
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
    const { zone, atMs } = observed;
    const unnamed = { isMaintained: false, outageClass: undefined, holdSerial: undefined };
    this.#silent.set(node, { zone, atMs, observed, counts, ...unnamed });
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
   * or during the hold.
   */
  heldUntilMs(node: string): number | undefined {
    const serial = this.#silent.get(node)?.holdSerial;
    const hold = serial === undefined ? undefined : this.#hold.inForce();
    return hold?.serial === serial ? hold?.untilMs : undefined;
  }

  /** Whether {@link heldUntilMs} is in the future. */
  isHeld(node: string): boolean {
    return this.heldUntilMs(node) !== undefined;
  }

  get #windowMs(): number {
    return silenceWindowMs(this.#options.limits.current().nodeMonitorGracePeriodMs);
  }

  /** Ends a hold, classifies new silences, begins a hold. To be called when all nodes have been evaluated. */
  evaluate(): void {
    if (this.#unnamed.size > 0 || this.#hold.last() !== undefined) {
      const silences = this.#snapshotSilences();
      this.#hold.review((silence) => classifyOutage(silences, silence, this.#windowMs));
      for (const silent of this.#unnamedInOrder()) this.#name(silent, silences);
      this.#unnamed.clear();
    }
    this.#forgetWhatIsOld();
    this.#publish();
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
  #unnamedInOrder(): readonly SilentNode[] {
    const unnamed = [...this.#unnamed].sort().flatMap((node) => this.#silent.get(node) ?? []);
    return unnamed.sort((a, b) => a.atMs - b.atMs);
  }

  #name(silent: SilentNode, silences: Silences): void {
    const why = classifyOutage(silences, silent, this.#windowMs);
    const isPathFailure = why.outage === 'ControlPlanePathFailure';
    silent.outageClass = why.outage;
    if (isPathFailure) this.#beginHold(why, silent, silences);
    const hold = this.#hold.last();
    if (hold !== undefined && (isPathFailure || this.#isCounted(silent, hold))) holdNode(silent, hold);
    this.#options.meter.add(silentNodesTotal, 1, { outage: silent.outageClass });
    // A hold is announced with its reason.
    if (why.outage !== 'NodeFailure' && silent.holdSerial === undefined) this.#announce(why, silent.atMs);
  }

  /** Nodes that became silent before may have been classified on less evidence: the hold applies to them from now on. */
  #beginHold(why: OutageArithmetic, silent: SilentNode, silences: Silences): void {
    const begun = this.#hold.begin(why, silent, () => firstSilenceSince(silences, silent.atMs - this.#windowMs));
    if (begun === undefined) return;
    for (const other of this.#silent.values()) {
      if (other.holdSerial === undefined && this.#isCounted(other, begun)) holdNode(other, begun);
    }
  }

  /** Whether a silence is part of the evidence for the hold. */
  #isCounted({ atMs, outageClass }: SilentNode, { silence }: OutageHold): boolean {
    return outageClass !== undefined && Math.abs(atMs - silence.atMs) <= this.#windowMs;
  }

  /** Once for all nodes that became silent together. */
  #announce(why: OutageArithmetic, atMs: number): void {
    const key = why.outage === 'ZoneFailure' ? `${why.outage} ${why.zone}` : why.outage;
    const before = this.#announced.get(key)?.silentAtMs ?? -Infinity;
    this.#announced.set(key, { silentAtMs: atMs, notedAtMs: this.#options.healthNowMs() });
    if (Math.abs(atMs - before) <= 2 * this.#windowMs) return;
    this.#options.decisions.note({ kind: 'outage-named', why });
    if (why.outage === 'ZoneFailure') this.#options.recorder.record(zoneFailure(why));
  }

  /** Removes old announcements and the old snapshot of all nodes: their zones and nodes may no longer exist. */
  #forgetWhatIsOld(): void {
    const nowMs = this.#options.healthNowMs();
    const sinceMs = nowMs - windowsUntilForgotten * this.#windowMs;
    if (this.#silenceEvidence !== undefined && this.#silenceEvidence.builtAtMs < nowMs - this.#windowMs)
      this.#silenceEvidence = undefined;
    for (const [key, { notedAtMs }] of this.#announced) if (notedAtMs < sinceMs) this.#announced.delete(key);
  }

  /** When many nodes become silent one by one, a snapshot of all of them is reused for a short time. */
  #snapshotSilences(): Silences {
    const nowMs = this.#options.healthNowMs();
    if (
      this.#silenceEvidence === undefined ||
      nowMs - this.#silenceEvidence.builtAtMs >= this.#windowMs / looksPerWindow
    ) {
      const delays = measureMarkDelays(this.#observed(), this.#windowMs);
      this.#estimateUnnamed(delays);
      this.#silenceEvidence = { builtAtMs: nowMs, delays, silences: sortSilences(this.#countedSilences(delays)) };
    } else this.#estimateUnnamed(this.#silenceEvidence.delays);
    return this.#silenceEvidence.silences;
  }

  *#observed(): Iterable<ObservedSilence> {
    for (const { observed } of this.#silent.values()) yield observed;
  }

  #estimateUnnamed(delays: MarkDelays): void {
    for (const node of this.#unnamed) {
      const silent = this.#silent.get(node);
      if (silent !== undefined) silent.atMs = estimateSilenceMs(silent.observed, delays, this.#windowMs);
    }
  }

  *#countedSilences(delays: MarkDelays): Iterable<CountedSilence> {
    for (const { zone, atMs, observed, counts, isMaintained } of this.#silent.values()) {
      if (counts && !isMaintained) yield { zone, atMs, isControlPlane: observed.isControlPlane === true };
    }
    for (const living of this.#options.expectedSilences()) {
      const atMs = estimateSilenceMs(living, delays, this.#windowMs);
      yield { zone: living.zone, atMs, isControlPlane: living.isControlPlane === true };
    }
  }

  #showHold(): void {
    const { meter, limits, healthNowMs } = this.#options;
    const hold = this.hold();
    const limitMs = hold && planHoldMsMax(hold.why, limits.current().controlPlanePathFailureHoldMs);
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

function sortSilences(silences: Iterable<CountedSilence>): Silences {
  const byZone = new Map<string, number[]>();
  const controlPlane: number[] = [];
  for (const { zone, atMs, isControlPlane } of silences) {
    const times = byZone.get(zone);
    if (times === undefined) byZone.set(zone, [atMs]);
    else times.push(atMs);
    if (isControlPlane) controlPlane.push(atMs);
  }
  for (const times of [...byZone.values(), controlPlane]) times.sort((a, b) => a - b);
  return { byZone, controlPlane };
}

function firstSilenceSince({ byZone }: Silences, sinceMs: number): number {
  const firsts = [...byZone.values()].map((times) => times.find((atMs) => atMs >= sinceMs) ?? Infinity);
  return Math.min(...firsts);
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
