// One look at the nodes that changed, fell due, or are new; then at the zones; only then may anything be written. Looking
// is synchronous and costs what changed, not what there is: a quiet cluster of any size costs a pass nothing.
import { findCondition } from '../api/conditions.ts';
import type { NodeView } from '../api/node.ts';
import { parseTimestamp } from '../api/timestamps.ts';
import { isExcludedFromDisruption, zoneOf } from '../api/topology.ts';
import type { StoreReader } from '../informer/informer.ts';
import type { LeaseView } from '../api/lease.ts';
import type { Clock } from '../ports/clock.ts';
import type { EventRecorder } from '../ports/event-recorder.ts';
import type { Meter } from '../ports/meter.ts';
import type { NodeSource } from './commands.ts';
import type { DecisionSink } from './decisions.ts';
import { type Now, readyOf } from './health/assess-node.ts';
import { nodeRegistered, nodeRemoved } from './health/events.ts';
import type { HealthTable, HealthVerdict } from './health/health-table.ts';
import type { VerdictBook } from './health/verdict-book.ts';
import { allNodesHealthDuration } from './health/metrics.ts';
import { healthTaintsOf } from './tainting/derive-taints.ts';
import type { OutageWatch } from './outage/outage-watch.ts';
import type { ZoneTaintQueues } from './tainting/zone-taint-queues.ts';
import type { Judgement, ZoneChange, ZoneTable } from './zones/zone-table.ts';

export interface MonitorPassOptions {
  readonly nodes: NodeSource;
  readonly store: Pick<StoreReader<NodeView>, 'keys' | 'get'>;
  readonly leases: (node: string) => LeaseView | undefined;
  readonly health: HealthTable;
  readonly verdicts: Pick<VerdictBook, 'conclude' | 'forget'>;
  readonly zones: ZoneTable;
  readonly outage: OutageWatch;
  readonly queues: ZoneTaintQueues;
  readonly decisions: DecisionSink;
  readonly recorder: EventRecorder;
  readonly meter: Meter;
  readonly clock: Clock;
  /** Time as health counts it: it stands still while we are blind. */
  readonly healthNow: () => Now;
  /** These nodes look silent: have it confirmed. */
  readonly confirm: (nodes: readonly string[]) => void;
  /** This node may need a write: have it looked at. */
  readonly attend: (node: string) => void;
  /** This node is not silent, or not any more. */
  readonly heardAgain: (node: string) => void;
  /** This node is gone: nobody may act on it any more. */
  readonly forget: (node: string) => void;
}

/** Stamps are cut off to whole seconds. */
const stampResolutionMs = 1_000;
/** Nodes that the first pass looks at before others get a turn, which must not wait for long. */
const nodesInARow = 1_000;
const restMs = 1;

interface KnownNode {
  readonly uid: string;
  readonly ready: string;
}

export class MonitorPass {
  readonly #options: MonitorPassOptions;
  readonly #touched = new Set<string>();
  readonly #known = new Map<string, KnownNode>();
  readonly #heldNoted = new Map<string, string>();
  #suspects: string[] = [];

  constructor(options: MonitorPassOptions) {
    this.#options = options;
  }

  /** Something about this node changed that a decision may depend on. */
  touch(name: string): void {
    this.#touched.add(name);
  }

  /** Nothing about this node matters any more to the next pass. */
  untouch(name: string): void {
    this.#touched.delete(name);
  }

  /**
   * The first pass, when we begin to lead: all nodes are new to it, and in a large cluster that takes longer than the lease
   * may wait, so others get a turn in between. Nobody may act before it is over. If the signal aborts it finds nothing.
   */
  async takeOver(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const startedAtMs = clock.monotonicMs();
    this.#touchAll();
    const names = this.#takeTouched();
    for (const [place, name] of names.entries()) {
      if (place > 0 && place % nodesInARow === 0) await clock.sleep(restMs, signal);
      if (signal.aborted) return;
      this.#look(name);
    }
    this.#conclude(names, startedAtMs);
  }

  #touchAll(): void {
    for (const name of this.#options.store.keys()) this.touch(name);
    for (const name of this.#known.keys()) this.touch(name);
  }

  /** The options changed: what was said of a node that is not ready may be otherwise now, or due at another time. */
  touchUnready(): void {
    for (const [name, { ready }] of this.#known) if (ready !== 'True') this.touch(name);
  }

  /** The Ready answer by which the last pass counted this node; undefined before its first. */
  judged(name: string): string | undefined {
    return this.#known.get(name)?.ready;
  }

  run(): void {
    const startedAtMs = this.#options.clock.monotonicMs();
    const names = this.#takeTouched();
    for (const name of names) this.#look(name);
    this.#conclude(names, startedAtMs);
  }

  /** In the same order whatever they came in. */
  #takeTouched(): readonly string[] {
    const { health, healthNow } = this.#options;
    const names = [...new Set([...this.#touched, ...health.takeDue(healthNow().monotonicMs)])].sort();
    this.#touched.clear();
    return names;
  }

  /** All have been looked at: now the zones, then whoever acts. */
  #conclude(names: readonly string[], startedAtMs: number): void {
    const { clock, meter } = this.#options;
    this.#options.outage.judge();
    this.#judgeZones();
    for (const name of names) this.#options.attend(name);
    this.#noteHeld();
    this.#askForConfirmation();
    meter.observe(allNodesHealthDuration, (clock.monotonicMs() - startedAtMs) / 1_000);
  }

  #look(name: string): void {
    const node = this.#options.nodes.get(name);
    const known = this.#known.get(name);
    if (known !== undefined && known.uid !== node?.uid) this.#remove(name, known);
    if (node === undefined) return this.#options.verdicts.forget(name);
    const isNew = !this.#known.has(name);
    if (isNew) this.#register(node);
    const ready = this.#assess(node, isNew);
    const standing = ready === 'True' ? 'ready' : 'unready';
    this.#options.zones.place(name, zoneOf(node.labels), isExcludedFromDisruption(node.labels) ? 'excluded' : standing);
    this.#noteReady(node, ready);
  }

  /** The Ready answer that counts: a node that is silent is Unknown from now on, written or not. */
  #assess(node: NodeView, isNew: boolean): string {
    const { health, verdicts, leases, healthNow } = this.#options;
    const verdict = health.assess(node, leases(node.name), healthNow());
    if (verdict.kind === 'suspect') this.#suspects.push(node.name);
    const ready = verdict.kind === 'silent' ? 'Unknown' : readyOf(node);
    verdicts.conclude(node, { verdict, ready, isNew, record: health.get(node.name) });
    if (ready === 'Unknown') this.#noteFall(node, verdict);
    else {
      this.#options.outage.stands(node.name);
      this.#options.heardAgain(node.name);
    }
    return ready;
  }

  /** Since when it is silent: we saw it fall, or whoever called it Unknown before we came wrote down when. */
  #noteFall(node: NodeView, verdict: HealthVerdict): void {
    const { outage, healthNow } = this.#options;
    const now = healthNow();
    const counts = !isExcludedFromDisruption(node.labels) && !(verdict.kind === 'silent' && verdict.rule === 'startup');
    const sawItFall = verdict.kind === 'silent' && verdict.conditions.length > 0;
    const agoMs = sawItFall
      ? verdict.silentMs - verdict.graceMs
      : Math.max(0, now.wallMs - unknownSinceMs(node, now.wallMs));
    outage.fell(node.name, { zone: zoneOf(node.labels), atMs: now.monotonicMs - agoMs }, counts);
  }

  #register(node: NodeView): void {
    const { decisions, recorder } = this.#options;
    const zone = zoneOf(node.labels);
    this.#recallTaints(node, zone);
    recorder.record(nodeRegistered(node));
    decisions.note({ kind: 'node-registered', node: node.name, zone });
    this.#known.set(node.name, { uid: node.uid, ready: readyOf(node) });
  }

  /** What whoever led before us did at the zone's rate counts against ours: restarts do not hand out tokens. */
  #recallTaints(node: NodeView, zone: string): void {
    const { queues, clock } = this.#options;
    const now = { monotonicMs: clock.monotonicMs(), wallMs: clock.nowMs() };
    const line = queues.ensure(zone, now.monotonicMs);
    for (const { timeAdded } of healthTaintsOf(node.taints)) {
      const addedAtMs = parseTimestamp(timeAdded);
      if (addedAtMs === undefined) continue;
      const agoMs = Math.max(0, now.wallMs - addedAtMs - stampResolutionMs);
      line.recall(now.monotonicMs - agoMs, now.monotonicMs);
    }
  }

  #remove(name: string, { uid }: KnownNode): void {
    const { health, verdicts, zones, outage, recorder, decisions, forget } = this.#options;
    this.#known.delete(name);
    health.forget(name);
    verdicts.forget(name);
    outage.stands(name);
    zones.leave(name);
    forget(name);
    recorder.record(nodeRemoved({ name, uid }));
    decisions.note({ kind: 'node-removed', node: name });
  }

  #noteReady(node: NodeView, ready: string): void {
    const was = this.#known.get(node.name)?.ready;
    this.#known.set(node.name, { uid: node.uid, ready });
    if (was === ready) return;
    if (ready === 'True') this.#options.decisions.note({ kind: 'node-ready', node: node.name, was: was ?? 'missing' });
    if (ready === 'False') {
      const reason = node.conditions.find((condition) => condition.type === 'Ready')?.reason ?? 'no reason given';
      this.#options.decisions.note({ kind: 'node-not-ready', node: node.name, reason });
    }
  }

  #judgeZones(): void {
    const judgement = this.#options.zones.judge();
    for (const zone of judgement.vanished) this.#options.queues.forget(zone);
    for (const change of judgement.changes) this.#applyRate(change);
    this.#handleOutage(judgement.outage);
  }

  #applyRate({ from, plan }: ZoneChange): void {
    const { queues, decisions, clock } = this.#options;
    const { zone, condition, ratePerSecond, why } = plan;
    queues.swapRate(zone, ratePerSecond, clock.monotonicMs());
    decisions.note({ kind: 'zone-changed', zone, from, to: condition, ratePerSecond, why });
  }

  #handleOutage(outage: Judgement['outage']): void {
    if (outage === 'unchanged') return;
    const { zones, decisions, health, healthNow } = this.#options;
    const count = zones.zones().length;
    if (outage === 'entered') decisions.note({ kind: 'outage-entered', zones: count });
    else {
      // What we did not hear while everything was dark is not held against anybody.
      health.trustAll(healthNow().monotonicMs);
      decisions.note({ kind: 'outage-left', zones: count });
    }
    for (const name of this.#known.keys()) this.#options.attend(name);
    if (outage === 'left') this.#touchAll();
  }

  #askForConfirmation(): void {
    const suspects = this.#suspects;
    this.#suspects = [];
    if (suspects.length > 0) this.#options.confirm(suspects);
  }

  /** Says once for each stop that nodes wait and none is served, and why. */
  #noteHeld(): void {
    const { queues, zones, decisions } = this.#options;
    if (zones.everyZoneDark) return; // said once for all, and nobody stays in line
    for (const zone of queues.zones()) {
      const waiting = queues.get(zone)?.size ?? 0;
      const plan = zones.plan(zone);
      const held = waiting > 0 && plan?.ratePerSecond === 0;
      if (!held) this.#heldNoted.delete(zone);
      else if (this.#heldNoted.get(zone) !== plan.why.rule) {
        this.#heldNoted.set(zone, plan.why.rule);
        decisions.note({ kind: 'taints-held', zone, waiting, why: plan.why });
      }
    }
  }
}

/** By the API server's clients' clocks; now, where nobody says. */
function unknownSinceMs(node: NodeView, nowMs: number): number {
  const since = findCondition(node.conditions, 'Ready')?.lastTransitionTime;
  return (since === undefined ? undefined : parseTimestamp(since)) ?? nowMs;
}
