import { findCondition } from '../../machinery/api/conditions.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import { objectKey } from '../../machinery/api/object-key.ts';
import { podKey, type PodView } from '../../machinery/api/pod.ts';
import { nodeLeaseNamespace } from '../../machinery/api/resources.ts';
import { hasTaint, taintKeys } from '../../machinery/api/taints.ts';
import { formatMicroTime, parseTimestamp } from '../../machinery/api/timestamps.ts';
import { isExcludedFromDisruption } from '../../machinery/api/topology.ts';
import type { NotedDecision } from '../decision-log/decision-log.ts';
import { describeDecision } from '../decision-log/describe-decision.ts';
import { readyOf } from '../health/assess-node.ts';
import type { HealthRecord } from '../health/health-record.ts';
import type { GraceRule } from '../model/decisions.ts';
import type { FlappingReport } from '../model/flapping.ts';
import { describeHoldKind } from '../holds/decide-holds.ts';
import type { Act, HoldKind } from '../model/holds.ts';
import type { OutOfServiceState } from '../model/out-of-service.ts';
import type { BreakerStatus, EmptyingStatus, Maintenance, NodeHold, OverdueNode, Veto } from '../model/policy.ts';
import { healthTaintsOf } from '../tainting/decide-taints.ts';
import type { ZoneTally } from '../zones/plan-rates.ts';
import { buildExplainedHolds, type HoldDetails } from './build-holds.ts';
import { buildLifecycle } from './build-lifecycle.ts';
import { buildPolicyOutlook, selectGracePolicy } from './build-policy-outlook.ts';
import { buildTaintReport } from './build-taint-report.ts';
import { classifyNodeState, type NodeState } from './classify-node-state.ts';
import { estimateRateAfterLoss } from './estimate-hypotheses.ts';
import type { ExplainedHold, HistoryLine, LifecycleCondition, NodeOutlook, PolicyOutlook } from './pages.ts';
import { readOutage } from './read-cluster.ts';
import { readEviction } from './read-eviction.ts';
import { readHeldUntilMs } from './read-holds.ts';
import { type ReportSources, toMonotonicMs } from './report-sources.ts';
import type {
  AwaitedReport,
  ClusterReport,
  NodeEvictionReport,
  OutageHoldReport,
  PodBrief,
  TaintReport,
  ZoneReport,
} from './reports.ts';
import { podsByNode } from '../model/indexes.ts';

/** Reads a node; undefined: it does not exist. */
export function readNode(name: string, sources: ReportSources, cluster: ClusterReport): NodeReport | undefined {
  const node = sources.informers.nodes.store.get(name);
  return node && new NodeReport(node, sources, cluster);
}

/** The last heartbeat of a node, and its silence. Times are on the monotonic clock. */
interface HeartbeatReport extends Pick<HealthRecord, 'channel'> {
  readonly atMs: number;
  readonly rule: GraceRule;
  readonly graceMs: number;
  /** The policy that sets the grace period; null: the setting of the controller. */
  readonly policy: string | null;
  /** The earliest time at which it is or was silent; assumes fresh watches and no heartbeat. */
  readonly silentFromMs: number;
}

/** The state of a node at one moment. Each part is read when it is asked for, so that a reader pays for what it shows. */
export class NodeReport implements HoldDetails {
  readonly node: NodeView;
  readonly cluster: ClusterReport;
  readonly ready: string;
  /** Undefined: not evaluated yet. */
  readonly heartbeat: HeartbeatReport | undefined;
  /** The last heartbeat of the node is older than its grace period. */
  readonly isSilent: boolean;
  readonly #sources: ReportSources;
  readonly #record: HealthRecord | undefined;
  #pods: readonly PodView[] | undefined;
  #taints: TaintReport | undefined;
  #state: NodeState | undefined;

  constructor(node: NodeView, sources: ReportSources, cluster: ClusterReport) {
    const record = sources.stages.health.get(node.name);
    this.node = node;
    this.cluster = cluster;
    this.ready = readyOf(node);
    this.#sources = sources;
    // A record may be of an earlier node of the name.
    this.#record = record?.uid === node.uid ? record : undefined;
    this.heartbeat = this.#readHeartbeat();
    this.isSilent =
      this.heartbeat !== undefined && cluster.now.monotonicMs - this.heartbeat.atMs > this.heartbeat.graceMs;
  }

  get name(): string {
    return this.node.name;
  }

  get now(): ClusterReport['now'] {
    return this.cluster.now;
  }

  get policySource(): ClusterReport['policySource'] {
    return this.cluster.policySource;
  }

  get stale(): string | undefined {
    return this.cluster.stale;
  }

  #readHeartbeat(): HeartbeatReport | undefined {
    const { policies, health } = this.#sources.stages;
    const record = this.#record;
    const grace = health.graceOf(this.name);
    if (record === undefined || grace === undefined) return undefined;
    const { rule, graceMs } = grace;
    const { now, healthNowMs } = this.cluster;
    const atMs = now.monotonicMs + record.heartbeatAtMs - healthNowMs;
    const policy = selectGracePolicy(rule, policies.selectionOf(this.name));
    return { channel: record.channel, atMs, rule, graceMs, policy, silentFromMs: atMs + graceMs + 1 };
  }

  /** The one state of the node that is shown. */
  get state(): NodeState {
    return (this.#state ??= classifyNodeState({
      ready: this.ready,
      isSilent: this.isSilent,
      isTainted: this.isTainted,
      isEvicted: this.isEvicted,
      hasLeavingPods: this.hasLeavingPods,
      isMaintained: this.maintenance?.hold !== undefined,
      isPaused: this.mode?.mode === 'Paused' && this.mode.source.kind !== 'config-file',
    }));
  }

  /** Wall time of the beginning of its state, where the API or the last heartbeat shows it. */
  get sinceMs(): number | undefined {
    return sinceMsOf[this.state](this);
  }

  /** It has a NoExecute taint for its health. */
  get isTainted(): boolean {
    return healthTaintsOf(this.node.taints).length > 0;
  }

  /** Eviction mode: it is queued for the deletion of its pods, or they are being deleted. */
  get isEvicted(): boolean {
    const { podEvictor } = this.#sources.stages;
    return podEvictor !== undefined && podEvictor.markOf(this.name) !== 'unmarked';
  }

  /** Pods of it are scheduled for deletion for its health. */
  get hasLeavingPods(): boolean {
    const { evictor, podEvictor } = this.#sources.stages;
    if (podEvictor !== undefined)
      return this.isEvicted && this.podViews.some((pod) => podEvictor.fateOf(pod).fate !== 'spared');
    return this.isTainted && this.podViews.some((pod) => evictor.timedEviction(podKey(pod)) !== undefined);
  }

  get podViews(): readonly PodView[] {
    return (this.#pods ??= this.#sources.informers.pods.store.byIndex(podsByNode, this.name));
  }

  get pods(): readonly PodBrief[] {
    return this.podViews.map((pod) => readPodBrief(pod, this.#sources));
  }

  /** Whether the node counts for the disruption state of its zone. */
  get counted(): boolean {
    return !isExcludedFromDisruption(this.node.labels) && !(this.maintenance !== undefined && this.ready !== 'True');
  }

  get zoneKey(): string {
    return this.#sources.stages.policies.zoneOf(this.node);
  }

  get zone(): ZoneReport {
    return this.cluster.zone(this.zoneKey);
  }

  /** The zone of the node, and its outer zone. */
  get zones(): readonly ZoneReport[] {
    const { zone } = this;
    return zone.outer === undefined ? [zone] : [zone, zone.outer];
  }

  /** Evictions per second in its zone if this node, and no other, became silent. */
  get ratePerSecondIfSilent(): number {
    const isLost = this.counted && this.ready === 'True' && this.maintenance === undefined;
    return isLost ? this.#rateAfterLoss() : this.zone.allowed.ratePerSecond;
  }

  #rateAfterLoss(): number {
    const { zones, policies } = this.#sources.stages;
    const tallies = zones.zonesOfAllLevels().flatMap((name): (readonly [string, ZoneTally])[] => {
      const why = zones.plan(name)?.why;
      return why === undefined ? [] : [[name, why]];
    });
    return estimateRateAfterLoss(this.zoneKey, new Map(tallies), (each) => policies.zoneOptions(each));
  }

  /** Null: there are no policies. */
  get policy(): PolicyOutlook | null {
    const { stages, options } = this.#sources;
    return buildPolicyOutlook(options.current(), stages.policies.selectionOf(this.name));
  }

  get mode(): NodeHold | undefined {
    return this.#sources.stages.policies.modeOf(this.name);
  }

  get veto(): Veto | undefined {
    return this.#sources.stages.policies.vetoOf(this.name);
  }

  get maintenance(): Maintenance | undefined {
    return this.#sources.stages.policies.maintenanceOf(this.name);
  }

  get lifecycle(): readonly LifecycleCondition[] {
    const { policies } = this.#sources.stages;
    return buildLifecycle(this.node.conditions, (condition) => policies.meaningOf(this.node, condition), this.now);
  }

  get breaker(): BreakerStatus | undefined {
    return this.#sources.stages.policies.breakerOf(this.name);
  }

  get emptying(): EmptyingStatus | undefined {
    const { emptying } = this.#sources.stages.policies;
    const full = emptying.fullFor(this.name, this.outOfService.kind === 'due' ? 'out-of-service' : 'of-status');
    return full && emptying.statuses().find(({ policy }) => policy === full.policy);
  }

  get outage(): OutageHoldReport | undefined {
    const hold = readOutage(this.#sources);
    const untilMs = this.#sources.stages.outage.heldUntilMs(this.name);
    if (hold === undefined || untilMs === undefined) return undefined;
    return { ...hold, untilMs: toMonotonicMs(untilMs, this.#sources) };
  }

  /** What its NoExecute taint waits for, or would wait for if it sent no further heartbeat. */
  get awaited(): AwaitedReport | undefined {
    const { awaited, outage } = this.#sources.stages;
    const { taints } = this.node;
    if (this.ready === 'False') return undefined;
    if ([taintKeys.unreachable, taintKeys.notReady].some((key) => hasTaint(taints, key, 'NoExecute'))) return undefined;
    const undecidedUntilMs = outage.undecidedUntilMs(this.name);
    const found =
      undecidedUntilMs === undefined ? awaited.awaitedFor(this.name) : { nodes: [], untilMs: undecidedUntilMs };
    return found && { ...found, untilMs: toMonotonicMs(found.untilMs, this.#sources) };
  }

  get unconfirmed(): HoldDetails['unconfirmed'] {
    const held = this.#sources.stages.decisions.of(this.name).map(({ decision }) => decision);
    const last = held.findLast((decision) => decision.kind === 'confirmation-held');
    return last === undefined || last.why === 'lease-renewed' ? undefined : last.why;
  }

  /** Whether the node has, gets or loses the taint out-of-service. */
  get outOfService(): OutOfServiceState {
    return this.#sources.stages.outOfService.assess(this.node);
  }

  /** Why it is not silent before its grace period ends, although it sends no heartbeat; undefined: nothing is asked. */
  get detection(): NodeOutlook['detection'] {
    return this.#sources.stages.detection?.stateOf(this.name);
  }

  /** An early warning that its heartbeat is overdue; undefined: none. */
  get overdue(): OverdueNode | undefined {
    return this.#sources.stages.overdue.of(this.name);
  }

  /** Whether the node recovers often, and is kept from new pods. */
  get flapping(): FlappingReport {
    return this.#sources.stages.flapping.reportOf(this.node);
  }

  get taints(): TaintReport {
    return (this.#taints ??= buildTaintReport(this.node, this.ready, this.cluster));
  }

  /** Undefined in taint mode. */
  get eviction(): NodeEvictionReport | undefined {
    return readEviction(this.node, this.#record, this.#sources, this.cluster);
  }

  /** What begins to empty it. */
  get emptyingAct(): Act {
    return this.cluster.mode === 'taint' ? 'add-no-execute' : 'empty-node';
  }

  /** The acts that are next for it as it is: all that its holds are shown of. */
  get nextActs(): readonly Act[] {
    const { podEvictor } = this.#sources.stages;
    const isEmptied = podEvictor === undefined ? this.isTainted : podEvictor.markOf(this.name) === 'evicted';
    if (this.outOfService.kind === 'due') return ['delete-for-health', 'add-out-of-service'];
    if (isEmptied) return ['delete-for-health'];
    const isSettled = this.ready === 'Unknown' || this.ready === 'False';
    return isSettled ? [this.emptyingAct] : ['mark-unknown', this.emptyingAct];
  }

  /** Every hold of what is next for the node, in the order of precedence. */
  get holds(): readonly ExplainedHold[] {
    // Marks are held with the emptying, and only here without it.
    const isMarkingHeld = this.ready === 'Unknown' && this.mode?.keepsPodsReady === true;
    const acts: readonly Act[] = isMarkingHeld ? [...this.nextActs, 'mark-pods'] : this.nextActs;
    const held = [...this.#sources.stages.holds.of(this.name, ...acts)];
    return held.flatMap((hold) => buildExplainedHolds(hold, this));
  }

  /** The words of the table, also for the dashboard. */
  readonly words = (kind: HoldKind): string => {
    return describeHoldKind(kind, this.#sources.stages.holds.evidenceOf(this.name, ...this.nextActs));
  };

  /** See {@link readHeldUntilMs}. */
  heldUntilMs(...acts: readonly Act[]): number {
    return readHeldUntilMs(this.name, acts, this.#sources, this.cluster);
  }

  /** Malformed fields of the node and its lease: field, value, accepted values. */
  get problems(): readonly string[] {
    const lease = this.#sources.informers.leases.store.get(objectKey(nodeLeaseNamespace, this.name));
    return [...(this.node.problems ?? []), ...(lease?.problems ?? []).map((problem) => `lease ${problem}`)];
  }

  get history(): readonly HistoryLine[] {
    return readHistoryOfNode(this.name, this.#sources).map(toHistoryLine);
  }
}

const sinceMsOf: Readonly<Record<NodeState, (report: NodeReport) => number | undefined>> = {
  ready: readySinceMs,
  'not-ready': readySinceMs,
  unreachable: readySinceMs,
  tainted: taintedSinceMs,
  emptying: taintedSinceMs,
  maintenance: ({ maintenance }) => maintenance?.hold && earliest(maintenance.hold.by.map(({ at }) => at)),
  suspect: ({ heartbeat, now }) => heartbeat && heartbeat.silentFromMs - now.monotonicMs + now.wallMs,
  paused: () => undefined,
};

/** A node without a Ready condition has been so since its creation. */
function readySinceMs({ node, ready }: NodeReport): number | undefined {
  if (ready === 'missing') return node.createdAtMs === 0 ? undefined : node.createdAtMs;
  return parseTimestamp(findCondition(node.conditions, 'Ready')?.lastTransitionTime);
}

function taintedSinceMs({ node }: NodeReport): number | undefined {
  return earliest(healthTaintsOf(node.taints).map(({ timeAdded }) => timeAdded));
}

function earliest(texts: readonly (string | undefined)[]): number | undefined {
  const times = texts.flatMap((text) => parseTimestamp(text) ?? []);
  return times.length === 0 ? undefined : Math.min(...times);
}

/** The part of a pod that matters for its eviction. */
export function readPodBrief(pod: PodView, { stages }: ReportSources): PodBrief {
  const { evictor, podEvictor, policies } = stages;
  const fate = podEvictor?.fateOf(pod);
  return {
    pod: podKey(pod),
    tolerations: pod.tolerations,
    timedEviction: evictor.timedEviction(podKey(pod)),
    wait: evictor.waitOf(podKey(pod)) ?? podEvictor?.waitOf(pod),
    keeper: podEvictor === undefined ? policies.keeperOf(pod) : undefined,
    stuck: policies.stuckOf(pod),
    terminating: fate === undefined ? pod.terminating : fate.fate === 'terminating',
    daemonSet: fate?.fate === 'spared' ? fate.daemonSet : undefined,
  };
}

/** Also of a node that no longer exists. */
export function readHistoryOfNode(name: string, { stages }: ReportSources): readonly NotedDecision[] {
  // A zone without a region may have the key of a node.
  return stages.decisions.of(name).filter(({ decision }) => 'node' in decision || 'subject' in decision);
}

export function toHistoryLine({ atMs, decision }: NotedDecision): HistoryLine {
  return { at: formatMicroTime(atMs), decision, text: describeDecision(decision) };
}
