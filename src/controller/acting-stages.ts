// Builds the stages that act: the writer, and what marks, taints, evicts and collects.
import type { NodeView } from '../machinery/api/node.ts';
import { podKey, type PodView } from '../machinery/api/pod.ts';
import { isOlder } from '../machinery/api/resource-version.ts';
import { parseTimestamp } from '../machinery/api/timestamps.ts';
import type { StoreReader } from '../machinery/informer/informer.ts';
import { MutationCache } from '../machinery/informer/mutation-cache.ts';
import { OverdueNodes } from './early-warning/overdue-nodes.ts';
import { FlappingWatch } from './flapping/flapping-watch.ts';
import { readyOf } from './health/assess-node.ts';
import type { HealthRecord } from './health/health-record.ts';
import type { NodeLifecycleOptions } from './lifecycle-options.ts';
import { LiveNodes } from './live-nodes.ts';
import type { ClosableWriter, PodSource } from './model/commands.ts';
import { evaluationFailed } from './model/decisions.ts';
import type { NodeEvictor } from './model/node-evictor.ts';
import { type LastHeartbeat, renewsWithinMs } from './model/renewals.ts';
import type { ObservingStages } from './observing-stages.ts';
import { EvidenceWatch } from './out-of-service/evidence-watch.ts';
import { OutOfServiceTainter } from './out-of-service/out-of-service-tainter.ts';
import { PodEvictor } from './pod-eviction-mode/pod-evictor.ts';
import { PodGarbageCollector } from './pod-gc/pod-garbage-collector.ts';
import { buildMarkingState, isNotReadyForLong } from './pod-readiness/build-marking-state.ts';
import { type NodeMarkingState, PodMarker } from './pod-readiness/pod-marker.ts';
import { PodMarkingQueues } from './pod-readiness/pod-marking-queues.ts';
import { removalRules } from './removal-rules.ts';
import { EvictionResponders } from './taint-eviction/eviction-responders.ts';
import { TaintEvictor } from './taint-eviction/taint-evictor.ts';
import { evictionsTotal } from './tainting/metrics.ts';
import { NoExecuteTainter } from './tainting/no-execute-tainter.ts';
import { ApiWriter } from './writer/api-writer.ts';
import type { StageDependencies } from './model/dependencies.ts';

interface WritingStages extends ObservingStages {
  readonly pods: PodSource;
  /** Responses to writes of pods that the watch has not delivered yet. */
  readonly podResponses: MutationCache<PodView>;
  readonly writer: ClosableWriter;
  readonly liveNodes: LiveNodes;
  readonly dependencies: StageDependencies;
}

export interface ActingStages extends WritingStages {
  /** Undefined in taint mode. */
  readonly podEvictor: PodEvictor | undefined;
  /** The pod evictor, or in taint mode the tainter. */
  readonly noExecute: NodeEvictor;
  readonly evictor: TaintEvictor;
  /** Undefined: pods wait for no responder. */
  readonly responders: EvictionResponders | undefined;
  /** Evidence that nodes were fenced, and whether it came after their last heartbeats. */
  readonly evidence: EvidenceWatch;
  readonly outOfService: OutOfServiceTainter;
  /** Nodes that recover often, and are kept from new pods. */
  readonly flapping: FlappingWatch;
  /** Nodes whose heartbeat is overdue. */
  readonly overdue: OverdueNodes;
  readonly marking: PodMarkingQueues;
  readonly marker: PodMarker;
  readonly podGc: PodGarbageCollector;
}

/** What ends writes, and what follows from a live read of a node. */
interface WriteHooks {
  /** Aborts requests in flight. */
  readonly signal: AbortSignal;
  readonly onNodeRead: (node: string) => void;
}

export function buildActingStages(
  observing: ObservingStages,
  options: NodeLifecycleOptions,
  hooks: WriteHooks,
): ActingStages {
  const stages = buildWriting(observing, options, hooks);
  const isEvicting = !options.options.current().taintBasedEvictions;
  const podEvictor = isEvicting ? buildPodEvictor(stages, options) : undefined;
  const noExecute = podEvictor ?? buildNoExecuteTainter(stages);
  const { evictions, clock } = options;
  const responders = evictions && new EvictionResponders({ evictions, clock });
  const evictor = buildTaintEvictor({ ...stages, responders }, options);
  const evidence = new EvidenceWatch((node) => stages.policies.outOfServiceOf(node));
  const outOfService = buildOutOfServiceTainter({ ...stages, evidence }, options, hooks.signal);
  const flapping = buildFlappingWatch(stages, options);
  const overdue = buildOverdueNodes(stages, options);
  const marking = buildMarkingQueues(stages, options);
  marking.onEarlier(() => stages.serving.wakeUp());
  const marker = buildMarker({ ...stages, marking }, options);
  const podGc = buildPodGc(stages, options);
  const evicting = { podEvictor, noExecute, evictor, responders };
  return { ...stages, ...evicting, evidence, outOfService, flapping, overdue, marking, marker, podGc };
}

function buildWriting(stages: ObservingStages, options: NodeLifecycleOptions, hooks: WriteHooks): WritingStages {
  const { informers, clock, meter } = options;
  const { nodes, decisions, holds } = stages;
  const podResponses = new MutationCache<PodView>((key) => informers.pods.store.get(key), {
    nowMs: () => clock.monotonicMs(),
    listSentAtMs: () => informers.pods.status().lastListSentAtMs,
    keyOf: podKey,
  });
  // A remembered response is dropped when the watch has caught up with it, not only at the next read.
  informers.pods.onChange('answers', ({ key }) => void podResponses.get(key));
  const toApi = { ...options, ...hooks, nodes, pods: podResponses, decisions };
  const writer = holds.holding(options.writer ?? new ApiWriter(toApi));
  return {
    ...stages,
    pods: overlaid(informers.pods.store, podResponses),
    podResponses,
    writer,
    liveNodes: buildLiveNodes(stages, options, hooks),
    dependencies: { nodes, writer, decisions, clock, meter },
  };
}

/** The pods of the store, each replaced by a newer response of the API server. */
function overlaid(store: StoreReader<PodView>, answers: MutationCache<PodView>): PodSource {
  return {
    get: (key) => answers.get(key),
    byIndex: (index, value) => {
      const stored = store.byIndex(index, value);
      return answers.size === 0 ? stored : stored.map((pod) => answers.get(podKey(pod)) ?? pod);
    },
  };
}

function buildLiveNodes(
  { nodes, decisions }: ObservingStages,
  { api, clock, writer }: NodeLifecycleOptions,
  { signal, onNodeRead }: WriteHooks,
): LiveNodes {
  return new LiveNodes({
    api,
    clock,
    signal,
    // Pauses, labels and signals of maintenance that a read shows hold the deletion that it was made for. Not where another writer
    // is used: the nodes of a shadow are not those of the API server. Nor of a node that registered again: its evaluation begins with
    // its event.
    onRead: (live) => {
      const known = writer === undefined ? nodes.get(live.name) : undefined;
      if (known?.uid === live.uid && nodes.remember(known, live)) onNodeRead(live.name);
    },
    onFault: (node, error) => {
      decisions.note(evaluationFailed('live read of a node', node, error));
    },
  });
}

function buildNoExecuteTainter(stages: WritingStages): NoExecuteTainter {
  const { dependencies, queues, serving, transitions, holds, zones } = stages;
  return new NoExecuteTainter({
    ...dependencies,
    queues,
    serving,
    readyOf,
    takeTransitionAgeMs: (node) => transitions.takeTransitionAgeMs(node),
    holds,
    fullDisruption: () => zones.fullDisruption,
  });
}

function buildPodEvictor(stages: WritingStages, lifecycle: NodeLifecycleOptions): PodEvictor {
  const { options, informers, recorders } = lifecycle;
  const { dependencies, queues, serving, policies, health, freshness, holds, liveNodes, zones } = stages;
  if (informers.daemonSets === undefined) throw new TypeError('eviction mode: an informer of DaemonSets is required');
  return new PodEvictor({
    ...dependencies,
    options,
    pods: informers.pods.store,
    daemonSets: informers.daemonSets.store,
    queues,
    zoneOf: (node) => policies.zoneOf(node),
    serving,
    recorder: recorders.nodes,
    evictionsTotal,
    readyOf,
    healthOf: (node) => health.get(node),
    healthNowMs: () => freshness.nowMs(),
    holds,
    deletionRateOf: (node) => policies.deletionRateOf(node),
    isNodeWatchBehind: (version) => isNodeWatchBehind(version, lifecycle),
    liveNode: (name) => liveNodes.latest(name),
    fullDisruption: () => zones.fullDisruption,
  });
}

/** Never for a shadow: the node of the API server has no taint of the shadow, so a read would confirm no deletion. */
function isNodeWatchBehind(version: string, { writer, informers }: NodeLifecycleOptions): boolean {
  return writer === undefined && isOlder(informers.nodes.status().resourceVersion, version);
}

function buildTaintEvictor(
  stages: WritingStages & Pick<ActingStages, 'responders'>,
  options: NodeLifecycleOptions,
): TaintEvictor {
  const { dependencies, pods, holds, liveNodes, responders } = stages;
  return new TaintEvictor({
    ...dependencies,
    pods,
    isUndecoded: (pod) => options.informers.pods.isUndecoded(pod),
    podListSentAtMs: () => options.informers.pods.status().lastListSentAtMs,
    writesAtOnceMax: options.lanes.concurrencyMax,
    recorder: options.recorders.evictions,
    holds,
    removals: removalRules(stages, options.controllers.nodeLifecycle, responders),
    isNodeWatchBehind: (version) => isNodeWatchBehind(version, options),
    liveNode: (name, sentSinceMs) => liveNodes.latest(name, sentSinceMs),
  });
}

function buildOutOfServiceTainter(
  stages: WritingStages & Pick<ActingStages, 'evidence'>,
  { recorders, writer, liveLeases }: NodeLifecycleOptions,
  signal: AbortSignal,
): OutOfServiceTainter {
  const { dependencies, policies, health, evidence, leases, holds, healthNow } = stages;
  return new OutOfServiceTainter({
    ...dependencies,
    recorder: recorders.nodes,
    // A shadow compares what both would do, and kube-controller-manager adds no such taint.
    ruleOf: (node) => (writer === undefined ? policies.outOfServiceOf(node) : undefined),
    isSilent: (node) => health.evaluate(node, healthNow()).kind === 'silent',
    evidence,
    renewedAt: (node) => leases.get(node)?.renewTime,
    live: liveLeases,
    signal,
    holds,
  });
}

function buildFlappingWatch(
  { policies, outage }: ObservingStages,
  { options, informers, writer, clock }: NodeLifecycleOptions,
): FlappingWatch {
  return new FlappingWatch({
    options,
    clock,
    names: () => informers.nodes.store.keys(),
    selectionOf: (node) => policies.flappingSelectionOf(node),
    isMaintained: (node) => policies.maintenanceOf(node) !== undefined,
    isPathFailure: (node) => outage.outageClassOf(node) === 'ControlPlanePathFailure',
    // A shadow compares what both would do, and kube-controller-manager keeps no flapping node.
    isEnabled: writer === undefined,
  });
}

function buildOverdueNodes(stages: WritingStages, lifecycle: NodeLifecycleOptions): OverdueNodes {
  const { dependencies, policies, holds, freshness } = stages;
  const { options, informers, recorders, writer } = lifecycle;
  return new OverdueNodes({
    ...dependencies,
    options,
    names: () => informers.nodes.store.keys(),
    selectionOf: (node) => policies.selectionOf(node),
    isMaintained: (node) => policies.maintenanceOf(node) !== undefined,
    heartbeatOf: (node) => heartbeatOf(node, stages),
    healthNowMs: () => freshness.nowMs(),
    // A shadow writes nothing.
    mayAnnotate: (node) => writer === undefined && holds.heldForMs(node, 'set-labels') === 0,
    recorder: recorders.nodes,
  });
}

/** Undefined: its kubelet has not posted a status yet. */
export function heartbeatOf(
  { name, uid }: NodeView,
  { health }: Pick<ObservingStages, 'health'>,
): LastHeartbeat | undefined {
  const record = health.get(name);
  const grace = health.graceOf(name);
  if (record?.uid !== uid || !record.hasReady || grace === undefined) return undefined;
  const { graceMs } = grace;
  const written = [record.lease?.renewTime, record.readyHeartbeat].map((text) => parseTimestamp(text) ?? -Infinity);
  const wallMs = Math.max(...written);
  if (wallMs === -Infinity) return undefined;
  return {
    atMs: record.heartbeatAtMs,
    wallMs,
    isObserved: record.heartbeatSinceUnknown && record.channel !== 'full-disruption-end',
    graceMs,
    renewsWithinMs: renewsWithinMs({ ...record, graceMs }),
  };
}

function buildMarkingQueues(stages: ObservingStages, { clock, meter }: NodeLifecycleOptions): PodMarkingQueues {
  const { policies, nodes, health, holds } = stages;
  return new PodMarkingQueues({
    optionsOf: (zone) => policies.zoneOptions(zone),
    zoneOf: (name) => policies.zoneOf(nodes.get(name) ?? { name, labels: {} }),
    silenceOf: (node) =>
      reportsNotReadyForLong(node, stages) ? notReadySince(node, stages) : lastHeartbeatOf(health.get(node)),
    isNotReadyForLong: (node) => reportsNotReadyForLong(node, stages),
    holds,
    clock,
    meter,
  });
}

/** What the kubelet wrote last: the end of a full disruption, which begins new grace periods, does not change it. */
function lastHeartbeatOf(record: HealthRecord | undefined): string | undefined {
  return record && `${record.readyHeartbeat ?? ''} ${record.lease?.renewTime ?? ''}`;
}

/** As this process has seen it: a kubelet that reports NotReady may have another clock. */
function reportsNotReadyForLong(name: string, { nodes, health, policies, healthNow }: ObservingStages): boolean {
  const afterMs = policies.notReadyMarkedAfterMs(name);
  const record = health.get(name);
  const node = afterMs === Infinity ? undefined : nodes.get(name);
  if (node === undefined || record === undefined) return false;
  const { readyChangedAtMs } = record;
  return isNotReadyForLong({ ready: readyOf(node), readyChangedAtMs, afterMs, nowMs: healthNow().monotonicMs });
}

function notReadySince(name: string, { health }: ObservingStages): string {
  return `NotReady ${health.get(name)?.readyTransition ?? ''}`;
}

function buildMarker(
  stages: WritingStages & Pick<ActingStages, 'marking'>,
  { recorders }: NodeLifecycleOptions,
): PodMarker {
  return new PodMarker({
    ...stages.dependencies,
    pods: stages.pods,
    stateOf: (node) => markingStateOf(node, stages),
    slots: stages.marking,
    recorder: recorders.nodes,
  });
}

function markingStateOf(name: string, stages: ObservingStages): NodeMarkingState | undefined {
  const { nodes, health, policies } = stages;
  const node = nodes.get(name);
  const record = health.get(name);
  if (node === undefined || record === undefined) return undefined;
  const now = stages.healthNow();
  return buildMarkingState(node, {
    ready: readyOf(node),
    readyChangedAtMs: record.readyChangedAtMs,
    // A record made only from the caches, as after a restart, is not a heartbeat.
    hasRecentHeartbeat: health.hasRecovered(node, now),
    afterMs: policies.notReadyMarkedAfterMs(name),
    nowMs: now.monotonicMs,
  });
}

/** Pods as the newest answer shows them, which is what the writer deletes: a conflict may have shown that one runs again. */
function buildPodGc(
  { dependencies, liveNodes, pods }: WritingStages,
  { podGc, informers }: NodeLifecycleOptions,
): PodGarbageCollector {
  return new PodGarbageCollector({
    ...dependencies,
    podGc,
    pods: { get: (key) => pods.get(key), values: () => informers.pods.store.values() },
    readNode: (name, sentSinceMs) => liveNodes.read(name, sentSinceMs),
    relistNodes: () => informers.nodes.relist(),
  });
}
