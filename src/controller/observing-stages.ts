// Builds the stages that observe: caches, policies, health, zones, outages, and what holds acts. They write nothing.
import type { NodeView } from '../machinery/api/node.ts';
import { findCondition } from '../machinery/api/conditions.ts';
import type { LeaseView } from '../machinery/api/lease.ts';
import { objectKey } from '../machinery/api/object-key.ts';
import { nodeLeaseNamespace } from '../machinery/api/resources.ts';
import { parseTimestamp } from '../machinery/api/timestamps.ts';
import { isControlPlaneNode, isExcludedFromDisruption, zoneOf } from '../machinery/api/topology.ts';
import { MutationCache } from '../machinery/informer/mutation-cache.ts';
import { Alarm } from '../machinery/supervision/alarm.ts';
import { DecisionLog } from './decision-log/decision-log.ts';
import { Canary } from './freshness/canary.ts';
import { WatchFreshness } from './freshness/watch-freshness.ts';
import { graceOf, readyOf, unobservedRenewalMs } from './health/assess-node.ts';
import { HealthTable } from './health/health-table.ts';
import { HealthTransitions } from './health/health-transitions.ts';
import { answerMsMax } from './health/silence-confirmer.ts';
import type { NodeLifecycleOptions } from './lifecycle-options.ts';
import type { Now } from './model/node-state.ts';
import { type HoldingStages, NodeHolds } from './node-holds.ts';
import { renewsWithinMs } from './model/renewals.ts';
import type { ObservedSilence } from './outage/estimate-silences.ts';
import { OutageWatch } from './outage/outage-watch.ts';
import type { EmptyingNodesOptions } from './policies/emptying-nodes.ts';
import type { Drain } from './policies/overflow-nodes.ts';
import { PolicyStage } from './policies/policy-stage.ts';
import { ZoneTaintQueues } from './tainting/zone-taint-queues.ts';
import { AwaitedHeartbeats, type NodeHeartbeats, type UnknownSince } from './zones/awaited-heartbeats.ts';
import { ZoneTable } from './zones/zone-table.ts';
import { podsByNode } from './model/indexes.ts';

/** What stages read, and what wakes the loops. */
interface Sources extends Pick<HoldingStages, 'nodes' | 'decisions'> {
  readonly leases: MutationCache<LeaseView>;
  /** Triggers a pass at once. */
  readonly alarm: Alarm;
  /** Woken when a queue of rate-limited actions may be due earlier than known. */
  readonly serving: Alarm;
}

export interface ObservingStages extends Sources, HoldingStages {
  readonly canary: Canary | undefined;
  readonly holds: NodeHolds;
  /** The current time on the health clock, which counts only time in which a heartbeat would have been received. */
  readonly healthNow: () => Now;
}

/** Nodes to which a NoExecute taint is being added: the stages that know them are built later. */
type BeingTainted = EmptyingNodesOptions['beingTainted'];

export function buildObservingStages(options: NodeLifecycleOptions, beingTainted: BeingTainted): ObservingStages {
  const { clock, meter } = options;
  const sources = buildSources(options);
  const healthNow = (): Now => ({ monotonicMs: freshness.nowMs(), wallMs: clock.nowMs() });
  /** Ready, and not silent. Where another controller detects failures, Ready alone counts. */
  const isHealthy = (name: string): boolean => {
    const node = sources.nodes.get(name);
    if (node === undefined || readyOf(node) !== 'True') return false;
    return !options.controllers.nodeLifecycle || health.evaluate(node, healthNow()).kind === 'alive';
  };
  /** A node that is only suspected is alive. One that is Unknown is not before it has sent a heartbeat, also for a new process. */
  const isAlive = (node: NodeView): boolean => {
    if (!options.controllers.nodeLifecycle) return readyOf(node) !== 'Unknown';
    const record = health.get(node.name);
    const isRenewed = record?.heartbeatSinceUnknown === true && record.channel !== 'full-disruption-end';
    if (readyOf(node) === 'Unknown' && !isRenewed) return false;
    return health.evaluate(node, healthNow()).kind !== 'silent';
  };
  const healthNowMs = (): number => freshness.nowMs();
  const isHeld = (name: string, drain: Drain): boolean => holds.isHeldBesidesLimits(name, drain === 'begun');
  const policies = buildPolicies(sources, options, { isAlive, isHealthy, beingTainted, isHeld, healthNowMs });
  const canary = buildCanary(policies, options);
  const freshness = buildFreshness({ ...sources, policies, canary }, options);
  const health = new HealthTable(policies);
  const transitions = new HealthTransitions({ decisions: sources.decisions, meter, clock });
  const zones = new ZoneTable((zone) => policies.zoneOptions(zone), meter);
  const outage = buildOutageWatch({ ...sources, policies, freshness, health, healthNow }, options);
  const queues = new ZoneTaintQueues((zone) => policies.zoneOptions(zone), meter, clock);
  queues.onEarlier(() => sources.serving.wakeUp());
  const awaited = buildAwaitedHeartbeats({ ...sources, policies, freshness, health, zones, healthNow }, options);
  const observed = { ...sources, policies, freshness, health, transitions, zones, outage, queues, awaited };
  const holds = new NodeHolds(observed, options);
  return { ...observed, canary, holds, healthNow };
}

function buildSources({ informers, clock, logger, meter }: NodeLifecycleOptions): Sources {
  const nowMs = (): number => clock.monotonicMs();
  const leaseOf = (name: string): LeaseView | undefined =>
    informers.leases.store.get(objectKey(nodeLeaseNamespace, name));
  return {
    decisions: new DecisionLog(logger, meter, () => clock.nowMs()),
    nodes: new MutationCache((name) => informers.nodes.store.get(name), {
      nowMs,
      listSentAtMs: () => informers.nodes.status().lastListSentAtMs,
    }),
    leases: new MutationCache(leaseOf, {
      nowMs,
      listSentAtMs: () => informers.leases.status().lastListSentAtMs,
    }),
    alarm: new Alarm(clock),
    serving: new Alarm(clock),
  };
}

function buildPolicies(
  { nodes, decisions, alarm }: Sources,
  options: NodeLifecycleOptions,
  states: Pick<
    ConstructorParameters<typeof PolicyStage>[0],
    'isAlive' | 'isHealthy' | 'beingTainted' | 'isHeld' | 'healthNowMs'
  >,
): PolicyStage {
  const { informers, recorders } = options;
  const policies: PolicyStage = new PolicyStage({
    ...options,
    ...states,
    nodes,
    names: () => informers.nodes.store.keys(),
    onBreakerChange: () => alarm.wakeUp(),
    podsOn: (node) => informers.pods.store.byIndex(podsByNode, node),
    decisions,
    recorder: recorders.nodes,
  });
  // On standbys too: a new leader goes on counting.
  informers.pods.onChange('evictions', (change) => policies.hourly.observe(change));
  return policies;
}

function buildCanary(policies: PolicyStage, options: NodeLifecycleOptions): Canary | undefined {
  const { canaryLease, informers, clock, logger, meter } = options;
  if (canaryLease === undefined) return undefined;
  return new Canary({
    lease: canaryLease,
    leases: informers.leases,
    options: policies.strictest,
    reopen: () => reopenAll(options),
    clock,
    logger,
    meter,
  });
}

function reopenAll({ informers }: NodeLifecycleOptions, openedByMs?: number): void {
  for (const informer of Object.values(informers)) informer.reopen(openedByMs);
}

function buildFreshness(
  { policies, canary, decisions }: Pick<ObservingStages, 'policies' | 'canary' | 'decisions'>,
  options: NodeLifecycleOptions,
): WatchFreshness {
  const { informers, liveLeases, recorders, clock, meter } = options;
  return new WatchFreshness({
    options: policies.strictest,
    ...informers,
    live: liveLeases,
    canary,
    reopen: (openedByMs) => reopenAll(options, openedByMs),
    onRollback: () => {
      for (const informer of Object.values(informers)) informer.noticeRollback();
    },
    decisions,
    recorder: recorders.nodes,
    meter,
    clock,
  });
}

function buildAwaitedHeartbeats(
  stages: Pick<ObservingStages, 'nodes' | 'policies' | 'freshness' | 'health' | 'zones' | 'healthNow'>,
  { options }: NodeLifecycleOptions,
): AwaitedHeartbeats {
  const { nodes, policies, freshness, health, zones, healthNow } = stages;
  const heartbeatsOf = (name: string): NodeHeartbeats | undefined => {
    const record = health.get(name);
    if (record === undefined || policies.maintenanceOf(name) !== undefined) return undefined;
    const { heartbeatAtMs, intervalsMs } = record;
    const isReset = record.channel === 'full-disruption-end';
    const isObserved = intervalsMs.length > 0 && !isReset;
    const { graceMs } = graceOf(record, policies.current(name));
    return { heartbeatAtMs, isObserved, isReset, graceMs, windowMs: renewsWithinMs({ ...record, graceMs }) };
  };
  const unknownSince = (name: string): UnknownSince | undefined => {
    const ready = findCondition(nodes.get(name)?.conditions ?? [], 'Ready');
    if (ready?.status !== 'Unknown') return undefined;
    const { monotonicMs, wallMs } = healthNow();
    const transitionAtMs = parseTimestamp(ready.lastTransitionTime);
    const ageMs = transitionAtMs === undefined ? 0 : Math.max(0, wallMs - transitionAtMs);
    return { atMs: monotonicMs - ageMs, transitionAtMs: transitionAtMs ?? 0 };
  };
  /** The hold of a lease that cannot be read ends with one more read. */
  const confirmedWithinMs = (): number => options.current().leaseConfirmationHoldMs + answerMsMax;
  const nowMs = (): number => freshness.nowMs();
  return new AwaitedHeartbeats({ zones, heartbeatsOf, unknownSince, confirmedWithinMs, nowMs });
}

type SilenceSources = Pick<
  ObservingStages,
  'nodes' | 'leases' | 'decisions' | 'policies' | 'freshness' | 'health' | 'healthNow'
>;

function buildOutageWatch(sources: SilenceSources, lifecycle: NodeLifecycleOptions): OutageWatch {
  const { options, informers, recorders, meter } = lifecycle;
  const { freshness, decisions } = sources;
  const outage: OutageWatch = new OutageWatch({
    limits: options,
    expectedSilences: () => findExpectedSilences(informers.nodes.store.keys(), { ...sources, outage }),
    healthNowMs: () => freshness.nowMs(),
    isStale: () => freshness.staleness() !== undefined,
    decisions,
    recorder: recorders.nodes,
    meter,
  });
  return outage;
}

/** Counted nodes that have sent a heartbeat and are not silent. */
function* findExpectedSilences(
  names: Iterable<string>,
  { nodes, leases, health, policies, outage, healthNow }: SilenceSources & Pick<ObservingStages, 'outage'>,
): Iterable<ObservedSilence> {
  const now = healthNow();
  for (const name of names) {
    const node = nodes.get(name);
    const record = health.get(name);
    if (node === undefined || record === undefined || outage.isSilent(name)) continue;
    const { rule, graceMs } = graceOf(record, policies.current(name));
    const isMaintained = policies.maintenanceOf(name) !== undefined;
    if (rule !== 'monitor' || isExcludedFromDisruption(node.labels) || isMaintained) continue;
    const renewedAtMs = unobservedRenewalMs(record, leases.get(name), now);
    const isControlPlane = isControlPlaneNode(node.labels);
    const atMs = record.heartbeatAtMs + graceMs;
    const windowMs = renewsWithinMs({ ...record, graceMs });
    yield { zone: zoneOf(node.labels), atMs, graceMs, windowMs, isControlPlane, renewedAtMs };
  }
}
