// What holds acts for a node now. It reads the stages, which do not know each other, and asks the table of holds.
import type { NodeView } from '../machinery/api/node.ts';
import { objectKey } from '../machinery/api/object-key.ts';
import { hasTaint, taintKeys } from '../machinery/api/taints.ts';
import type { Informer } from '../machinery/informer/informer.ts';
import type { MutationCache } from '../machinery/informer/mutation-cache.ts';
import type { Clock } from '../machinery/ports/clock.ts';
import type { Meter } from '../machinery/ports/meter.ts';
import type { WatchFreshness } from './freshness/watch-freshness.ts';
import { readyOf } from './health/assess-node.ts';
import type { HealthTable } from './health/health-table.ts';
import type { HealthTransitions } from './health/health-transitions.ts';
import { decideHold, everyAct, holdsOf, isIntendedHold } from './holds/decide-holds.ts';
import { HoldLog } from './holds/hold-log.ts';
import { HoldingWriter } from './holds/holding-writer.ts';
import type { ClosableWriter } from './model/commands.ts';
import type { DecisionLog } from './decision-log/decision-log.ts';
import {
  type Act,
  type EvictionCount,
  type Hold,
  type HoldEnd,
  type HoldEvidence,
  type HoldKind,
  type HoldReader,
  type Holds,
  noHolds,
  reportedAct,
} from './model/holds.ts';
import type { ControllerSelection } from './model/options.ts';
import type { OutageHold } from './outage/path-failure-hold.ts';
import type { OutageWatch } from './outage/outage-watch.ts';
import type { NextTaint } from './policies/emptying-nodes.ts';
import type { Place } from './policies/hourly-evictions.ts';
import type { PolicyStage } from './policies/policy-stage.ts';
import type { ZoneTaintQueues } from './tainting/zone-taint-queues.ts';
import type { AwaitedHeartbeats } from './zones/awaited-heartbeats.ts';
import type { ZoneTable } from './zones/zone-table.ts';

/** Of these holds follow. Read at each question. */
export interface HoldingStages {
  /** Nodes including live reads and the controller's own writes. */
  readonly nodes: MutationCache<NodeView>;
  /** The policy of each node, and what it holds. */
  readonly policies: PolicyStage;
  readonly freshness: WatchFreshness;
  readonly health: HealthTable;
  readonly transitions: HealthTransitions;
  readonly zones: ZoneTable;
  readonly outage: OutageWatch;
  readonly queues: ZoneTaintQueues;
  /** What the NoExecute taint of a silent node waits for. */
  readonly awaited: AwaitedHeartbeats;
  readonly decisions: DecisionLog;
}

interface NodeHoldsOptions {
  readonly controllers: ControllerSelection;
  readonly informers: { readonly nodes: Pick<Informer<NodeView>, 'isUndecoded'> };
  readonly meter: Meter;
  readonly clock: Pick<Clock, 'nowMs'>;
}

/** Those that follow from a mode or a pause; they come first. */
const modeHolds: ReadonlySet<HoldKind> = new Set<HoldKind>(['observed', 'paused', 'detect-only', 'pods-kept-ready']);
const ofLimits: ReadonlySet<HoldKind> = new Set<HoldKind>(['breaker', 'concurrency', 'hourly-limit']);
/** The other ends have their own place: the stage that needs a live read makes it, and tokens are taken from queues. */
const endsAsked: readonly HoldEnd[] = ['time', 'change'];

export class NodeHolds implements Holds, HoldReader {
  readonly #stages: HoldingStages;
  readonly #options: NodeHoldsOptions;
  readonly #log: HoldLog;

  constructor(stages: HoldingStages, options: NodeHoldsOptions) {
    this.#stages = stages;
    this.#options = options;
    this.#log = new HoldLog({ ...stages, meter: options.meter });
  }

  /** The writer that sends nothing that is held. */
  holding(writer: ClosableWriter): ClosableWriter {
    return new HoldingWriter({ writer, holds: this, clock: this.#options.clock });
  }

  heldForMs(node: string, act: Act, pod?: string): number {
    const hold = this.ask(node, act, pod);
    return hold === undefined ? 0 : Math.min(hold.untilMs - this.#nowMs(), hold.askAgainMs);
  }

  isIntended(node: string, act: Act): boolean {
    for (const { kind } of this.of(node, act)) return isIntendedHold(kind);
    return false;
  }

  isHeldForAll(act: Act): boolean {
    const hold = decideHold(this.#evidenceOfAll(), act, { nowMs: this.#nowMs(), ends: endsAsked });
    return hold?.scope === 'cluster';
  }

  /** What holds an act that is about to be done, which is recorded; undefined: nothing does. `pod`: uid of the pod that is to be evicted. */
  ask(node: string, act: Act, pod?: string): Hold | undefined {
    const { policies } = this.#stages;
    policies.noteQuestion(node);
    const place: Place | undefined = pod === undefined ? undefined : { pod, besides: 'all' };
    const next = nextTaintOf([act]);
    const evidence = new NodeHoldEvidence(node, this.#stages, this.#options, { place, next });
    const hold = decideHold(evidence, act, { nowMs: this.#nowMs(), ends: endsAsked });
    this.#log.note(node, reportedAct[act], evidence.mode, hold !== undefined && modeHolds.has(hold.kind));
    const addsTaint = act === 'add-no-execute' || act === 'add-out-of-service';
    if (addsTaint && (hold === undefined || hold.kind === 'concurrency'))
      policies.emptying.noteTaint(node, hold !== undefined, next);
    return hold;
  }

  /** Where pods (uid) that are evicted for the health of their node are counted. */
  get evictions(): EvictionCount {
    return this.#stages.policies.hourly;
  }

  of(node: string, ...acts: readonly Act[]): Iterable<Hold> {
    return holdsOf(this.evidenceOf(node, ...acts), acts, this.#nowMs());
  }

  /**
   * Whether anything but a breaker or a maximum of its policy keeps a node from being emptied, or, where that has begun, its pods from
   * being evicted.
   */
  isHeldBesidesLimits(node: string, hasBegun: boolean): boolean {
    const act: Act = hasBegun ? 'delete-for-health' : 'add-no-execute';
    for (const { endsBy } of holdsOf(this.evidenceOf(node), [act], this.#nowMs(), ofLimits))
      if (endsBy !== 'live-read') return true;
    return false;
  }

  ofPod(node: string, pod: string, act: Act): Iterable<Hold> {
    const place: Place = { pod, besides: 'evicted' };
    return holdsOf(new NodeHoldEvidence(node, this.#stages, this.#options, { place }), [act], this.#nowMs());
  }

  *ofAll(): Iterable<Hold> {
    const { policies, outage, freshness } = this.#stages;
    const nowMs = this.#nowMs();
    const hold = outage.hold();
    const evidence = {
      ...this.#evidenceOfAll(),
      mode: policies.modeOf(''),
      outage: hold && toOutageEvidence(hold, hold.untilMs, nowMs - freshness.nowMs()),
    };
    yield* holdsOf(evidence, everyAct, nowMs);
  }

  evidenceOf(node: string, ...acts: readonly Act[]): HoldEvidence {
    return new NodeHoldEvidence(node, this.#stages, this.#options, { next: nextTaintOf(acts) });
  }

  /** What applies to all nodes. */
  #evidenceOfAll(): HoldEvidence {
    const { freshness, zones } = this.#stages;
    return {
      ...noHolds,
      stale: freshness.staleness(),
      arePodsStale: freshness.arePodsStale(),
      isFullyDisrupted: zones.fullDisruption,
    };
  }

  /** The node is evaluated. `isHealthy`: Ready, with a heartbeat within its grace period. */
  observe(node: string, isHealthy: boolean): void {
    if (isHealthy) this.#log.recovered(node);
  }

  /** The node no longer exists. */
  forget(node: string): void {
    this.#log.forget(node);
  }

  /** Nodes of which a mode or a pause withholds anything now. */
  withheldNodes(): readonly string[] {
    return this.#log.nodes().filter((node) => this.#stages.policies.modeOf(node) !== undefined);
  }

  /** Nodes for which a mode, a pause, planned maintenance or a breaker holds something now. */
  heldNodes(): ReadonlySet<string> {
    const { policies } = this.#stages;
    return new Set([...this.withheldNodes(), ...policies.maintenance.unready(), ...(policies.breakerHeld() ?? [])]);
  }

  /** Number of nodes that it remembers. */
  get size(): number {
    return this.#log.size;
  }

  #nowMs(): number {
    return this.#options.clock.nowMs();
  }
}

/** What the question about a node is for. */
interface Asked {
  /** Of a pod that is to be evicted. */
  readonly place?: Place | undefined;
  readonly next?: NextTaint;
}

function nextTaintOf(acts: readonly Act[]): NextTaint {
  return acts.includes('add-out-of-service') ? 'out-of-service' : 'of-status';
}

/** The evidence of one node, read from the stages when it is asked for. */
class NodeHoldEvidence implements HoldEvidence {
  readonly #node: string;
  readonly #stages: HoldingStages;
  readonly #options: NodeHoldsOptions;
  readonly #asked: Asked;

  constructor(node: string, stages: HoldingStages, options: NodeHoldsOptions, asked: Asked = {}) {
    this.#node = node;
    this.#stages = stages;
    this.#options = options;
    this.#asked = asked;
  }

  get mode(): HoldEvidence['mode'] {
    return this.#stages.policies.modeOf(this.#node);
  }

  get maintenance(): HoldEvidence['maintenance'] {
    return this.#stages.policies.maintenanceOf(this.#node);
  }

  get veto(): HoldEvidence['veto'] {
    return this.#stages.policies.vetoOf(this.#node);
  }

  /** Only the pass of this process counts. */
  get isUncounted(): boolean {
    return this.#options.controllers.nodeLifecycle && this.#stages.policies.maintenance.has(this.#node);
  }

  get breaker(): HoldEvidence['breaker'] {
    return this.#stages.policies.openBreakerOf(this.#node);
  }

  get emptying(): HoldEvidence['emptying'] {
    return this.#stages.policies.emptying.fullFor(this.#node, this.#asked.next);
  }

  get hourlyLimit(): HoldEvidence['hourlyLimit'] {
    return this.#stages.policies.hourly.reachedFor(this.#node, this.#asked.place);
  }

  get stale(): HoldEvidence['stale'] {
    return this.#stages.freshness.staleness();
  }

  get arePodsStale(): boolean {
    return this.#stages.freshness.arePodsStale();
  }

  get isFullyDisrupted(): boolean {
    return this.#stages.zones.fullDisruption;
  }

  get outage(): HoldEvidence['outage'] {
    const { outage, freshness } = this.#stages;
    const untilMs = outage.heldUntilMs(this.#node);
    const hold = outage.undecidedUntilMs(this.#node) === undefined ? outage.hold() : undefined;
    if (untilMs === undefined || hold === undefined) return undefined;
    const toWallMs = this.#options.clock.nowMs() - freshness.nowMs();
    return toOutageEvidence(hold, untilMs, toWallMs);
  }

  get unclassifiedUntilMs(): number | undefined {
    const { outage, freshness } = this.#stages;
    const untilMs = outage.undecidedUntilMs(this.#node);
    return untilMs === undefined ? undefined : untilMs + this.#options.clock.nowMs() - freshness.nowMs();
  }

  /** A node that reports itself as not ready has not failed with others. */
  get isAwaiting(): boolean {
    const node = this.#stages.nodes.get(this.#node);
    if (node !== undefined && readyOf(node) === 'False') return false;
    return this.#stages.awaited.heldForMs(this.#node) > 0;
  }

  get isUnconfirmed(): boolean {
    return this.#stages.transitions.isWithheld(this.#node);
  }

  /**
   * The node recovered, for example while no replica led, and its pods became due meanwhile: the new leader finds the
   * taint and an expired countdown, and is about to remove the taint. Where another controller manages taints, this
   * does not apply.
   */
  get isReady(): boolean {
    const node = this.#ownNode();
    return node !== undefined && readyOf(node) === 'True';
  }

  /**
   * The node is unreachable in the cache while its lease is being renewed, or was until the watch of leases may have died:
   * the node cache may be stale. Where another controller detects failures, its taints are used as they are.
   */
  get isLeaseRenewed(): boolean {
    const { health, freshness } = this.#stages;
    const node = this.#ownNode();
    if (node === undefined || health.get(this.#node)?.channel !== 'lease') return false;
    if (readyOf(node) === 'True' || !hasTaint(node.taints, taintKeys.unreachable, 'NoExecute')) return false;
    return health.hasRecovered(node, { monotonicMs: freshness.nowMs(), wallMs: this.#options.clock.nowMs() });
  }

  /** While the watches are observed after an interruption they are open, and deliver what changed. */
  get isCacheLate(): boolean {
    if (this.#options.informers.nodes.isUndecoded(objectKey('', this.#node))) return true;
    const { freshness } = this.#stages;
    const why = freshness.staleness();
    return freshness.usesFallback() || (why !== undefined && why !== 'observing');
  }

  get stoppedZone(): string | undefined {
    const { queues, zones, policies, nodes } = this.#stages;
    const node = nodes.get(this.#node);
    const zone = queues.zoneOf(this.#node) ?? (node && policies.zoneOf(node));
    if (zone === undefined || zones.fullDisruption) return undefined;
    return queues.get(zone)?.ratePerSecond === 0 ? zone : undefined;
  }

  /** The node, where this process detects failures. */
  #ownNode(): NodeView | undefined {
    return this.#options.controllers.nodeLifecycle ? this.#stages.nodes.get(this.#node) : undefined;
  }
}

function toOutageEvidence({ why, fromMs }: OutageHold, untilMs: number, toWallMs: number): HoldEvidence['outage'] {
  return { outage: why.outage, fromMs: fromMs + toWallMs, untilMs: untilMs + toWallMs };
}
