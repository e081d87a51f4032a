// Builds the stages and connects them, in the order of construction. Dependencies between stages are passed as functions
// (`isHeld`, `stateOf`): no stage imports another. Options may change at run time, so a stage gets them as a `Live` value.
import type { NodeView } from '../machinery/api/node.ts';
import { type ActingStages, buildActingStages, heartbeatOf } from './acting-stages.ts';
import { EarlyDetection } from './detection/early-detection.ts';
import { ProbeRounds } from './detection/probe-rounds.ts';
import { PodTargets } from './detection/pod-targets.ts';
import { ProvenSilences } from './detection/proven-silences.ts';
import { ProbedNodes } from './detection/probed-nodes.ts';
import { WitnessReporter } from './detection/witness-reporter.ts';
import { WitnessView } from './detection/witness-view.ts';
import { OverdueAnnotator } from './early-warning/overdue-annotator.ts';
import { FlappingTainter } from './flapping/flapping-tainter.ts';
import { LeaseLoss } from './health/lease-loss.ts';
import { SilenceConfirmer } from './health/silence-confirmer.ts';
import { LabelKeeper } from './labels/label-keeper.ts';
import { readyOf } from './health/assess-node.ts';
import type { NodeLifecycleOptions, Probing } from './lifecycle-options.ts';
import { podsByNode } from './model/indexes.ts';
import type { LastHeartbeat } from './model/renewals.ts';
import { MonitorPass } from './monitor-pass.ts';
import { NodeReconciler } from './node-reconciler.ts';
import { NodeWorkLoops } from './node-work/node-work-loops.ts';
import { ResyncSchedule } from './node-work/resync-schedule.ts';
import { buildObservingStages } from './observing-stages.ts';
import { RecoveryTimes } from './recovery-times/recovery-times.ts';
import { showHeldNodes } from './report/held-nodes.ts';
import { showWaitingPods } from './report/waiting-pods.ts';
import { NoScheduleTainter } from './tainting/no-schedule-tainter.ts';

/** All stages of a controller. */
export interface Stages extends ActingStages {
  readonly confirmer: SilenceConfirmer;
  readonly monitor: MonitorPass;
  readonly loops: NodeWorkLoops;
  readonly resync: ResyncSchedule;
  readonly recoveries: RecoveryTimes;
  /** Undefined: no node is silent before its grace period is over. */
  readonly detection: EarlyDetection | undefined;
}

/** `abortWrites` aborts requests in flight. */
export function buildStages(options: NodeLifecycleOptions, abortWrites: AbortSignal): Stages {
  const observing = buildObservingStages(options, () => {
    const { noExecute, outOfService } = acting;
    return [
      { next: 'of-status', nodes: noExecute.beingTainted() },
      { next: 'out-of-service', nodes: outOfService.beingTainted() },
    ];
  });
  const onNodeRead = (name: string): void => {
    observing.policies.noteStarts(name);
    observing.policies.recount(name);
    // Only if nothing else evaluates it: the retry of the refused write is not to come before its backoff.
    if (monitor.isCovered(name) && !observing.policies.maintenance.isOutdated(name)) return;
    monitor.touch(name);
    observing.alarm.wakeUp();
  };
  const acting = buildActingStages(observing, options, { signal: abortWrites, onNodeRead });
  const confirmer = buildConfirmer(acting, options);
  const monitor = buildMonitor(acting, options);
  const loops = buildLoops({ ...acting, monitor }, options);
  const resync = new ResyncSchedule({
    periodMs: () => options.options.current().nodeMonitorResyncPeriodMs,
    names: () => monitor.names(),
  });
  const recoveries = buildRecoveryTimes(acting, options);
  const detection = options.probing && buildDetection(acting, options, options.probing);
  const stages = { ...acting, confirmer, monitor, loops, resync, recoveries, detection };
  showHeldNodes(options.meter, stages);
  showWaitingPods(options.meter, stages);
  return stages;
}

function buildRecoveryTimes(
  { decisions, policies }: ActingStages,
  { informers, clock, meter }: NodeLifecycleOptions,
): RecoveryTimes {
  const policyOf = (node: string): string | undefined => {
    const selection = policies.selectionOf(node);
    return selection.kind === 'policy' ? selection.policy.name : undefined;
  };
  const recoveries = new RecoveryTimes({ pods: informers.pods.store, policyOf, clock, meter });
  decisions.onDecision(({ decision }) => recoveries.onDecision(decision));
  return recoveries;
}

function buildDetection(
  stages: ActingStages,
  { options, informers, api, clock, meter, logger }: NodeLifecycleOptions,
  { dialer, reports }: Probing,
): EarlyDetection {
  const { nodes, decisions, policies, health, freshness, alarm, pods } = stages;
  const names = (): Iterable<string> => informers.nodes.store.keys();
  const healthNowMs = (): number => freshness.nowMs();
  const last = (node: NodeView): LastHeartbeat | undefined => heartbeatOf(node, stages);
  const probed = new ProbedNodes({
    options,
    nodes,
    decisions,
    names,
    selectionOf: (node) => policies.selectionOf(node),
    claimsOf: (node) => policies.claimsOf(node).flatMap(({ name, limits }) => (limits === undefined ? [] : name)),
    isMaintained: (node) => policies.maintenanceOf(node) !== undefined,
    heartbeatOf: last,
    healthNowMs,
  });
  const isControl = (node: NodeView): boolean =>
    node.name !== reports.own.place && readyOf(node) === 'True' && probed.isFresh(node);
  const podTargets = new PodTargets({ api, podsOn: (node) => pods.byIndex(podsByNode, node), clock });
  const common = { probed, decisions, clock, meter, nodes, names, healthNowMs };
  return new EarlyDetection({
    ...common,
    rounds: new ProbeRounds({ ...common, pods: podTargets, dialer, isControl }),
    proven: new ProvenSilences({ ...common, options, heartbeatOf: last }),
    reporter: new WitnessReporter({ reports, clock, logger }),
    witness: new WitnessView({ reports, clock }),
    isStale: () => freshness.staleness() !== undefined || freshness.usesFallback(),
    isUnhealthy: (node) => !policies.isHealthy(node),
    roomOf: (policy) => policies.roomOf(policy),
    proveSilence: ({ node, heartbeatAtMs, rule }) => {
      const isProven = health.proveSilence(node, heartbeatAtMs, rule.earliestMs);
      policies.recount(node);
      alarm.wakeUp();
      return isProven;
    },
  });
}

function buildConfirmer(stages: ActingStages, lifecycle: NodeLifecycleOptions): SilenceConfirmer {
  const { leases, transitions, decisions, freshness, alarm, health } = stages;
  const { liveLeases: live, options, clock, informers } = lifecycle;
  const loss = new LeaseLoss({
    hadLease: (node) => health.get(node)?.lease !== undefined,
    areMostMissing: () => 2 * informers.leases.store.size < informers.nodes.store.size,
    clock,
  });
  return new SilenceConfirmer({ live, leases, loss, options, freshness, transitions, decisions, clock, alarm });
}

function buildMonitor(stages: ActingStages, { informers, recorders, meter, clock }: NodeLifecycleOptions): MonitorPass {
  return new MonitorPass({ ...stages, store: informers.nodes.store, recorder: recorders.nodes, meter, clock });
}

function buildLoops(
  stages: ActingStages & Pick<Stages, 'monitor'>,
  { recorders, meter, clock }: NodeLifecycleOptions,
): NodeWorkLoops {
  const { dependencies } = stages;
  const recorder = recorders.nodes;
  const reconciler = new NodeReconciler({
    ...stages,
    flapping: new FlappingTainter({ ...dependencies, watch: stages.flapping, recorder }),
    noSchedule: new NoScheduleTainter(dependencies),
    labels: new LabelKeeper(dependencies),
    warnings: new OverdueAnnotator({ ...dependencies, overdue: stages.overdue }),
    recorder,
    meter,
    clock,
  });
  return new NodeWorkLoops({ ...dependencies, reconciler });
}
