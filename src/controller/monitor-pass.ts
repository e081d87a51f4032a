// One evaluation of the nodes that changed, are due, or are new, and then of the zones. It is synchronous, its cost
// depends on the number of changes, and it writes nothing: the necessary actions are its result.
import { findCondition } from '../machinery/api/conditions.ts';
import type { NodeView } from '../machinery/api/node.ts';
import { parseTimestamp } from '../machinery/api/timestamps.ts';
import { isControlPlaneNode, isExcludedFromDisruption, zoneOf } from '../machinery/api/topology.ts';
import { zoneLevels } from '../machinery/api/zone.ts';
import type { StoreReader } from '../machinery/informer/informer.ts';
import { type Clock, instantOf } from '../machinery/ports/clock.ts';
import type { EventRecorder } from '../machinery/ports/event-recorder.ts';
import type { Meter } from '../machinery/ports/meter.ts';
import { readyOf, unobservedRenewalMs } from './health/assess-node.ts';
import { nodeRegistered, nodeRemoved } from './health/events.ts';
import type { HealthRecord } from './health/health-record.ts';
import type { HealthAssessment } from './health/health-table.ts';
import { allNodesHealthDuration, uncoveredNodes, unnoticedSilentNodes } from './health/metrics.ts';
import type { SilenceAnswer, Suspect } from './health/silence-confirmer.ts';
import { graceOfUnknown } from './outage/estimate-silences.ts';
import { healthTaintsOf } from './tainting/decide-taints.ts';
import type { Evaluation, ZoneChange } from './zones/zone-table.ts';
import type { Now } from './model/node-state.ts';
import { renewsWithinMs } from './model/renewals.ts';
import type { ActingStages } from './acting-stages.ts';

/** `timeAdded` has whole seconds: a taint may be up to this much younger. */
const stampResolutionMs = 1_000;
/** Nodes evaluated without yielding at a takeover, because the leader lease must be renewed meanwhile. */
const nodesInARow = 1_000;
const restMs = 1;
/** A node without a heartbeat for so many grace periods that is Ready=True in the API counts as unnoticed. */
const unnoticedGraces = 2;

interface MonitorPassOptions extends ActingStages {
  readonly store: StoreReader<NodeView>;
  readonly recorder: EventRecorder;
  readonly meter: Meter;
  readonly clock: Clock;
}

/** Actions that a pass found necessary. */
export interface PassResult {
  /** Silent according to the caches: their leases are to be read live. */
  readonly toConfirm: readonly Suspect[];
  /** A write may be necessary. */
  readonly toReconcile: readonly string[];
  /** Had a heartbeat within the grace period: what is queued because of a silence is dequeued. */
  readonly recovered: readonly string[];
  /** No longer exist. */
  readonly removed: readonly string[];
}

type Findings = { readonly [K in 'toConfirm' | 'recovered' | 'removed']: PassResult[K][number][] };

interface KnownNode {
  readonly uid: string;
  /** The effective Ready status: `Unknown` while the node is silent, whether written or not. */
  readonly ready: string;
  /** The node was silent in the last pass. */
  readonly isSilent: boolean;
}

export class MonitorPass {
  readonly #options: MonitorPassOptions;
  readonly #touched = new Set<string>();
  readonly #known = new Map<string, KnownNode>();
  /** Of these, the ones that are not Ready. */
  readonly #unready = new Set<string>();
  readonly #heldNoted = new Map<string, string>();
  readonly #unnoticed = new Set<string>();

  constructor(options: MonitorPassOptions) {
    const { meter } = options;
    this.#options = options;
    meter.add(uncoveredNodes, 0);
    meter.onRead(() => {
      meter.set(unnoticedSilentNodes, this.#unnoticed.size);
    });
  }

  /** The node changed in a way that may affect a decision. */
  touch(name: string): void {
    this.#touched.add(name);
  }

  /** The next pass need not evaluate this node. */
  untouch(name: string): void {
    this.#touched.delete(name);
  }

  /**
   * The node is evaluated in the next pass even if no change was seen. A node that nothing else would have evaluated is
   * counted: no single change, deadline or response may be the only trigger for a node.
   */
  resync(name: string): void {
    if (!this.isCovered(name)) {
      this.#options.meter.add(uncoveredNodes, 1);
      this.#options.decisions.note({ kind: 'node-uncovered', node: name });
    }
    this.touch(name);
  }

  /**
   * Each node that exists and is not Unknown has a deadline or is queued for evaluation. (A node whose lease is being
   * read has a deadline too.) A node that no longer exists is queued for removal.
   */
  isCovered(name: string): boolean {
    if (this.#touched.has(name)) return true;
    const node = this.#options.nodes.get(name);
    const known = this.#known.get(name);
    if (node === undefined || known === undefined) return node === undefined && known === undefined;
    return node.uid === known.uid && (readyOf(node) === 'Unknown' || this.#options.health.hasDeadline(name));
  }

  /** All nodes that are registered or in the cache. */
  names(): readonly string[] {
    return [...new Set([...this.#options.store.keys(), ...this.#known.keys()])];
  }

  /** Number of entries of the largest collection with an entry for each node. */
  get size(): number {
    return Math.max(this.#touched.size, this.#known.size, this.#unnoticed.size);
  }

  /** Number of zones whose stop is noted. */
  get heldZones(): number {
    return this.#heldNoted.size;
  }

  /** The result of a live read for a suspect. */
  noteAnswer({ node, heartbeatAtMs, found }: SilenceAnswer): void {
    if (found === 'unconfirmed') return; // its deadline triggers another read
    if (found === 'silent') this.#options.health.confirmSilence(node, heartbeatAtMs);
    this.touch(node);
  }

  /**
   * The first pass of a leader evaluates all nodes; in a large cluster that takes longer than the renewal of the lease
   * may wait, so it yields in between. Nothing may be written before it ends. Undefined if the signal aborted.
   */
  async takeOver(signal: AbortSignal): Promise<PassResult | undefined> {
    const { clock } = this.#options;
    const startedAtMs = clock.monotonicMs();
    this.touchAll();
    const names = this.#takeTouched();
    const findings = noFindings();
    for (const [place, name] of names.entries()) {
      if (place > 0 && place % nodesInARow === 0) await clock.sleep(restMs, signal);
      if (signal.aborted) return undefined;
      this.#evaluate(name, findings);
    }
    return this.#conclude(names, findings, startedAtMs);
  }

  /** The options changed: nodes that are not ready may have another result or another deadline. */
  touchUnready(): void {
    for (const name of this.#unready) this.touch(name);
  }

  /** The policies changed: any node may have another result. */
  touchAll(): void {
    for (const name of this.names()) this.touch(name);
  }

  /** The Ready status with which the last pass counted this node; undefined before its first. */
  evaluated(name: string): string | undefined {
    return this.#known.get(name)?.ready;
  }

  /** Nodes that reported Ready=False in the last pass. */
  *notReady(): Iterable<string> {
    for (const name of this.#unready) if (this.evaluated(name) === 'False') yield name;
  }

  /** Whether the last pass found all nodes Ready. */
  get areAllReady(): boolean {
    return this.#unready.size === 0;
  }

  /** Whether the last pass found this node silent: its next heartbeat triggers a pass at once. */
  isSilent(name: string): boolean {
    return this.#known.get(name)?.isSilent === true;
  }

  /** Whether a pass would find anything to evaluate. */
  hasWork(): boolean {
    const { health, freshness, policies, flapping, outage } = this.#options;
    if (policies.maintenance.endsInMs() === 0 || flapping.endsInMs() === 0 || outage.reviewInMs() === 0) return true;
    health.settleDeadlines(freshness.nowMs());
    return this.#touched.size > 0 || health.hasDue(freshness.nowMs());
  }

  run(): PassResult {
    const startedAtMs = this.#options.clock.monotonicMs();
    const names = this.#takeTouched();
    const findings = noFindings();
    for (const name of names) this.#evaluate(name, findings);
    return this.#conclude(names, findings, startedAtMs);
  }

  /** Sorted, so that the order is deterministic. */
  #takeTouched(): readonly string[] {
    const { health, freshness, policies, flapping } = this.#options;
    const due = [...health.takeDue(freshness.nowMs()), ...policies.maintenance.takeEnded(), ...flapping.takeEnded()];
    const names = [...new Set([...this.#touched, ...due])].sort();
    this.#touched.clear();
    return names;
  }

  /** All nodes have been evaluated: evaluates the zones and collects the actions. */
  #conclude(names: readonly string[], findings: Findings, startedAtMs: number): PassResult {
    const { clock, meter, outage, policies } = this.#options;
    outage.evaluate();
    const disruption = this.#evaluateZones();
    const released = policies.evaluateBreakers();
    this.#noteHeld();
    meter.observe(allNodesHealthDuration, (clock.monotonicMs() - startedAtMs) / 1_000);
    // Entering or leaving a full disruption concerns all nodes: taints are removed, or may be added again.
    const evaluated = released.length === 0 ? names : [...new Set([...names, ...released])];
    const toReconcile = disruption === 'unchanged' ? evaluated : [...this.#known.keys()];
    return { ...findings, toReconcile };
  }

  #evaluate(name: string, findings: Findings): void {
    const node = this.#options.nodes.get(name);
    const known = this.#known.get(name);
    if (known !== undefined && known.uid !== node?.uid) this.#remove(name, known, findings);
    if (node === undefined) return this.#options.transitions.forget(name);
    const isNew = !this.#known.has(name);
    if (isNew) this.#register(node);
    const { health, leases, freshness, evidence } = this.#options;
    const now = this.#now();
    const record = health.observe(node, leases.get(name), { ...now, monotonicMs: freshness.arrivalMs() });
    evidence.observeHeartbeat(name, record);
    this.#adopt(node, health.evaluate(node, now), { isNew, now, findings });
  }

  /** The only place that updates the state of a node from its assessment. */
  #adopt(
    node: NodeView,
    assessment: HealthAssessment,
    { isNew, now, findings }: { readonly isNew: boolean; readonly now: Now; readonly findings: Findings },
  ): void {
    const { name } = node;
    const { health, transitions, outage, store, policies, holds } = this.#options;
    const record = health.get(name);
    const ready = assessment.kind === 'silent' ? 'Unknown' : readyOf(node);
    health.schedule(name, assessment, now.monotonicMs, store.get(name)?.resourceVersion === node.resourceVersion);
    transitions.conclude(node, { assessment, ready, isNew, record });
    if (assessment.kind === 'suspect')
      findings.toConfirm.push({ node: name, heartbeatAtMs: record?.heartbeatAtMs ?? -Infinity });
    policies.noteStarts(name);
    const isMaintained = policies.maintenance.observe(name, ready === 'True') !== undefined;
    if (ready === 'Unknown') this.#noteSilence(node, assessment, now);
    else outage.clear(name);
    outage.setMaintained(name, isMaintained);
    if (assessment.kind === 'alive' && hasHeartbeat(ready, record)) findings.recovered.push(name);
    this.#count(node, ready, isMaintained);
    this.#noteReady(node, { uid: node.uid, ready, isSilent: assessment.kind === 'silent' });
    this.#noteUnnoticed(node, now);
    const isHealthy = assessment.kind === 'alive' && ready === 'True';
    policies.observe(node, isHealthy);
    holds.observe(name, isHealthy);
  }

  /** A node that is not ready because of planned maintenance is no evidence of a disruption. */
  #count(node: NodeView, ready: string, isMaintained: boolean): void {
    const { zones, policies } = this.#options;
    const readiness = ready === 'True' ? 'ready' : 'unready';
    const isExcluded = isExcludedFromDisruption(node.labels) || (isMaintained && readiness === 'unready');
    zones.place(node.name, policies.zoneOf(node), isExcluded ? 'excluded' : readiness);
  }

  /** Does not depend on assessments and deadlines, so that it detects what they miss. */
  #noteUnnoticed(node: NodeView, now: Now): void {
    const { health, transitions, policies } = this.#options;
    const silentMs = now.monotonicMs - (health.get(node.name)?.heartbeatAtMs ?? now.monotonicMs);
    const graceMs = policies.current(node.name).nodeMonitorGracePeriodMs;
    const isUnnoticed = readyOf(node) === 'True' && silentMs > unnoticedGraces * graceMs;
    const { mode = 'Enforce' } = policies.modeOf(node.name) ?? {};
    const isMarked = mode === 'Enforce' || mode === 'Detect';
    if (isUnnoticed && isMarked && !transitions.isWithheld(node.name)) this.#unnoticed.add(node.name);
    else this.#unnoticed.delete(node.name);
  }

  /**
   * Records since when the node is silent: this process saw it become silent, found it Unknown, or found its lease
   * expired. In the latter cases the last renewal is recorded too.
   */
  #noteSilence(node: NodeView, assessment: HealthAssessment, now: Now): void {
    const { outage, health, leases, policies } = this.#options;
    const counts =
      !isExcludedFromDisruption(node.labels) && !(assessment.kind === 'silent' && assessment.rule === 'startup');
    const isMarked = !(assessment.kind === 'silent' && assessment.conditions.length > 0);
    const currentMs =
      assessment.kind === 'silent' ? assessment.graceMs : policies.current(node.name).nodeMonitorGracePeriodMs;
    const agoMs = isMarked
      ? Math.max(0, now.wallMs - unknownSinceMs(node, now.wallMs))
      : assessment.silentMs - currentMs;
    const lease = leases.get(node.name);
    const record = health.get(node.name);
    const renewedAtMs = unobservedRenewalMs(record, lease, now);
    const known = { atMs: now.monotonicMs - agoMs, graceMs: currentMs, renewedAtMs };
    const graceMs = isMarked ? graceOfUnknown(known, policies.earliestOf(node.name)) : currentMs;
    const isControlPlane = isControlPlaneNode(node.labels);
    const windowMs = renewsWithinMs({ intervalsMs: record?.intervalsMs ?? [], lease, graceMs });
    const silence = { ...known, zone: zoneOf(node.labels), graceMs, windowMs };
    outage.markSilent(node.name, { ...silence, isControlPlane, isMarked }, counts);
  }

  #register(node: NodeView): void {
    const { decisions, recorder, policies } = this.#options;
    const zone = policies.zoneOf(node);
    this.#restoreSpentTokens(node, zone);
    recorder.record(nodeRegistered(node));
    decisions.note({ kind: 'node-registered', node: node.name, zone });
    this.#remember(node.name, { uid: node.uid, ready: readyOf(node), isSilent: false });
  }

  /** Taints added by the previous leader count against the zone's rate: a restart does not refill the bucket. */
  #restoreSpentTokens(node: NodeView, zone: string): void {
    const { queues, clock } = this.#options;
    const now = instantOf(clock);
    const queue = queues.ensure(zone, now.monotonicMs);
    for (const { timeAdded } of healthTaintsOf(node.taints)) {
      const addedAtMs = parseTimestamp(timeAdded);
      if (addedAtMs === undefined) continue;
      const agoMs = Math.max(0, now.wallMs - addedAtMs - stampResolutionMs);
      queue.restoreSpent(now.monotonicMs - agoMs, now.monotonicMs);
    }
  }

  #remove(name: string, { uid }: KnownNode, findings: Findings): void {
    const { health, transitions, zones, outage, policies, holds, awaited, recorder, decisions } = this.#options;
    this.#known.delete(name);
    this.#unready.delete(name);
    this.#unnoticed.delete(name);
    health.forget(name);
    transitions.forget(name);
    outage.clear(name);
    zones.remove(name);
    policies.forget(name);
    holds.forget(name);
    awaited.forget(name);
    findings.removed.push(name);
    recorder.record(nodeRemoved({ name, uid }));
    decisions.note({ kind: 'node-removed', node: name });
  }

  #noteReady(node: NodeView, known: KnownNode): void {
    const { ready } = known;
    const was = this.#known.get(node.name)?.ready;
    this.#remember(node.name, known);
    if (was === ready) return;
    if (ready === 'True') this.#options.decisions.note({ kind: 'node-ready', node: node.name, was: was ?? 'missing' });
    if (ready === 'False') {
      const reason = node.conditions.find((condition) => condition.type === 'Ready')?.reason ?? 'no reason given';
      this.#options.decisions.note({ kind: 'node-not-ready', node: node.name, reason });
    }
  }

  #remember(name: string, known: KnownNode): void {
    this.#known.set(name, known);
    if (known.ready === 'True') this.#unready.delete(name);
    else this.#unready.add(name);
  }

  #evaluateZones(): Evaluation['fullDisruption'] {
    const { zones, queues, marking, clock } = this.#options;
    const evaluation = zones.evaluate();
    for (const zone of evaluation.vanished) this.#forgetZone(zone);
    queues.dropFullBuckets(clock.monotonicMs());
    marking.dropFullBuckets();
    for (const change of evaluation.changes) this.#applyRate(change);
    this.#noteDisruption(evaluation.fullDisruption);
    return evaluation.fullDisruption;
  }

  #forgetZone(zone: string): void {
    const { queues, marking, clock } = this.#options;
    queues.forget(zone, clock.monotonicMs());
    marking.forgetZone(zone);
    this.#heldNoted.delete(zone);
  }

  #applyRate({ from, plan }: ZoneChange): void {
    const { queues, decisions, clock } = this.#options;
    const { zone, condition, ratePerSecond, why } = plan;
    queues.swapRate(zone, ratePerSecond, clock.monotonicMs());
    decisions.note({ kind: 'zone-changed', zone, from, to: condition, ratePerSecond, why });
  }

  #noteDisruption(change: Evaluation['fullDisruption']): void {
    const { zones, decisions, health, freshness } = this.#options;
    const count = zones.zones().length;
    if (change === 'entered') decisions.note({ kind: 'full-disruption-entered', zones: count });
    if (change !== 'left') return;
    // Heartbeats missed while all zones were disrupted do not count against any node.
    health.restartGracePeriods(freshness.nowMs());
    this.touchAll();
    decisions.note({ kind: 'full-disruption-left', zones: count });
  }

  /** Records once for each stop of a zone that nodes wait and none is served, and why. */
  #noteHeld(): void {
    const { zones, decisions } = this.#options;
    if (zones.fullDisruption) return; // recorded once for all zones, whose queues are empty
    const stopped = this.#stoppedZones();
    for (const zone of this.#heldNoted.keys()) if (!stopped.has(zone)) this.#heldNoted.delete(zone);
    for (const [zone, waiting] of stopped) {
      const why = zones.plan(zone)?.why;
      if (why === undefined || this.#heldNoted.get(zone) === why.rule) continue;
      this.#heldNoted.set(zone, why.rule);
      decisions.note({ kind: 'taints-held', zone, waiting, why });
    }
  }

  /** The zones whose rate is 0, and how many nodes wait for that: of a zone that is not stopped those may wait for its outer zone. */
  #stoppedZones(): ReadonlyMap<string, number> {
    const { queues, zones } = this.#options;
    const stopped = new Map<string, number>();
    for (const queued of queues.zones()) {
      const waiting = queues.get(queued)?.size ?? 0;
      const zone = zoneLevels(queued).find((level) => zones.plan(level)?.ratePerSecond === 0);
      if (waiting > 0 && zone !== undefined) stopped.set(zone, (stopped.get(zone) ?? 0) + waiting);
    }
    return stopped;
  }

  #now(): Now {
    return { monotonicMs: this.#options.freshness.nowMs(), wallMs: this.#options.clock.nowMs() };
  }
}

/**
 * An Unknown node has a heartbeat time when it is first seen and at the end of a full disruption; neither is a
 * recovery.
 */
function hasHeartbeat(ready: string, record: HealthRecord | undefined): boolean {
  return ready !== 'Unknown' || (record?.heartbeatSinceUnknown === true && record.channel !== 'full-disruption-end');
}

function noFindings(): Findings {
  return { toConfirm: [], recovered: [], removed: [] };
}

/**
 * Time since which the node is Unknown, by the clock of the client that wrote the condition; the current time if there
 * is none.
 */
function unknownSinceMs(node: NodeView, nowMs: number): number {
  const since = findCondition(node.conditions, 'Ready')?.lastTransitionTime;
  return (since === undefined ? undefined : parseTimestamp(since)) ?? nowMs;
}
