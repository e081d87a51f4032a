// The writes for one node: conditions of a silent node, NoSchedule taints, the NoExecute taint, and labels. Each step
// evaluates the node as the previous step left it, and again immediately before its request.
import type { NodeView } from '../machinery/api/node.ts';
import type { Clock } from '../machinery/ports/clock.ts';
import type { EventRecorder } from '../machinery/ports/event-recorder.ts';
import type { Meter } from '../machinery/ports/meter.ts';
import { forget, type WorkOutcome } from '../machinery/queueing/work-queue.ts';
import { abortReason } from '../machinery/supervision/abort.ts';
import { mayHaveBeenDone } from './model/commands.ts';
import { evaluateAfterHold, retryLater } from './model/decide-next-step.ts';
import type { FlappingTainter } from './flapping/flapping-tainter.ts';
import type { NodeWork } from './node-work/decide-node-work.ts';
import { readyOf } from './health/assess-node.ts';
import { nodeNotReady } from './health/events.ts';
import type { HealthAssessment } from './health/health-table.ts';
import { nodeHealthDuration } from './health/metrics.ts';
import { UnansweredUnknowns } from './health/unanswered-unknowns.ts';
import type { OverdueAnnotator } from './early-warning/overdue-annotator.ts';
import type { LabelKeeper } from './labels/label-keeper.ts';
import type { MonitorPass } from './monitor-pass.ts';
import type { NoScheduleTainter } from './tainting/no-schedule-tainter.ts';
import type { Now } from './model/node-state.ts';
import type { ActingStages } from './acting-stages.ts';

/** A NoSchedule taint waits this long for a NoExecute taint, to be written with it. */
const taintTogetherMsMax = 250;

interface NodeReconcilerOptions extends Omit<ActingStages, 'flapping'> {
  readonly monitor: MonitorPass;
  readonly noSchedule: NoScheduleTainter;
  readonly flapping: FlappingTainter;
  readonly labels: LabelKeeper;
  readonly warnings: OverdueAnnotator;
  readonly recorder: EventRecorder;
  readonly meter: Meter;
  readonly clock: Clock;
}

type Silent = Extract<HealthAssessment, { readonly kind: 'silent' }>;

export class NodeReconciler {
  readonly #options: NodeReconcilerOptions;
  readonly #unanswered = new UnansweredUnknowns();

  constructor(options: NodeReconcilerOptions) {
    this.#options = options;
  }

  /** Does the work of this kind for the node, from its current state. Never rejects for an API error. */
  async reconcile(work: NodeWork, name: string): Promise<WorkOutcome> {
    const { clock, meter } = this.#options;
    const startedAtMs = clock.monotonicMs();
    const outcome = await this.#reconcile(work, name);
    meter.observe(nodeHealthDuration, (clock.monotonicMs() - startedAtMs) / 1_000);
    return outcome;
  }

  /** Number of nodes that it remembers, as those with a write of Unknown that was not answered. */
  get remembered(): number {
    return Math.max(this.#unanswered.size, this.#options.outOfService.size, this.#options.flapping.size);
  }

  /** The node no longer exists. */
  forget(name: string): void {
    this.#unanswered.forget(name);
    this.#options.outOfService.forget(name);
    this.#options.flapping.forget(name);
  }

  #reconcile(work: NodeWork, name: string): Promise<WorkOutcome> {
    this.#settleUnanswered(name);
    switch (work) {
      case 'recovery':
        return this.#revert(name);
      case 'detection':
        return this.#detect(name);
      case 'housekeeping':
        return this.#complete(name);
    }
  }

  async #complete(name: string): Promise<WorkOutcome> {
    const { noSchedule, labels, warnings } = this.#options;
    const added = await noSchedule.reconcile(name, 'additions');
    return firstUnsettled([added, await labels.reconcile(name), await warnings.reconcile(name)]);
  }

  async #revert(name: string): Promise<WorkOutcome> {
    const { noSchedule, outOfService, flapping } = this.#options;
    const evicted = await this.#reconcileNoExecute(name);
    const keeping = flapping.reconcile(name);
    const kept = keeping === undefined ? undefined : await keeping;
    const removed = kept?.isReplacing === true ? forget : await noSchedule.reconcile(name, 'removals');
    return firstUnsettled([evicted, removed, await outOfService.reconcile(name), kept?.work ?? forget]);
  }

  async #detect(name: string): Promise<WorkOutcome> {
    const { noSchedule, outOfService, flapping, zones } = this.#options;
    const written = await this.#writeSilence(name);
    const keeping = flapping.reconcile(name);
    const kept = keeping === undefined ? forget : (await keeping).work;
    // A pause may hold the conditions for long, and holds no release.
    if (written.next !== 'forget') return written.next === 'backoff' || kept.next === 'forget' ? written : kept;
    await this.#taintAtOnce(name);
    // A node that has recovered meanwhile is in the recovery queue.
    const added = this.#isReady(name) ? forget : await noSchedule.reconcile(name, 'all');
    // In a full disruption the node is in the recovery queue too, which removes its NoExecute taint.
    const evicted = zones.fullDisruption ? forget : await this.#reconcileNoExecute(name);
    return firstUnsettled([added, evicted, await outOfService.reconcile(name), kept]);
  }

  /** A NoExecute taint that is being written brings the NoSchedule taint along, unless it waits behind other writes. */
  async #taintAtOnce(name: string): Promise<void> {
    const { nodes, noExecute, policies, zones, clock } = this.#options;
    const node = nodes.get(name);
    if (node === undefined || zones.fullDisruption || this.#awaitsPass(node)) return;
    const writing = noExecute.start(node, policies.zoneOf(node));
    if (writing === undefined) return;
    const over = new AbortController();
    await Promise.race([writing, clock.sleep(taintTogetherMsMax, over.signal)]);
    over.abort(abortReason);
  }

  #isReady(name: string): boolean {
    const node = this.#options.nodes.get(name);
    return node !== undefined && readyOf(node) === 'True';
  }

  async #writeSilence(name: string): Promise<WorkOutcome> {
    const node = this.#options.nodes.get(name);
    if (node === undefined) return forget;
    const assessment = this.#evaluate(node);
    if (assessment.kind !== 'silent') return forget;
    if (assessment.conditions.length > 0) return this.#writeUnknown(node, assessment);
    this.#options.marker.evaluateNode(name);
    return forget;
  }

  #evaluate(node: NodeView): HealthAssessment {
    const { health, freshness, clock } = this.#options;
    const now: Now = { monotonicMs: freshness.nowMs(), wallMs: clock.nowMs() };
    return health.evaluate(node, now);
  }

  async #writeUnknown(node: NodeView, assessment: Silent): Promise<WorkOutcome> {
    this.#options.transitions.becomeSilent(node, assessment);
    const command = { kind: 'set-node-conditions', node, conditions: assessment.conditions } as const;
    const outcome = await this.#options.writer.carryOut(command, () => this.#isStillSilent(node));
    const exists = this.#options.nodes.get(node.name)?.uid === node.uid;
    if (mayHaveBeenDone(outcome) && exists) this.#unanswered.add(node, assessment);
    if (outcome.result === 'failed') return retryLater(outcome);
    if (outcome.result === 'held') return evaluateAfterHold(outcome.forMs);
    if (outcome.result === 'written') {
      this.#unanswered.forget(node.name);
      this.#noteUnknown(node, assessment);
    }
    return forget;
  }

  /** The response to a write was lost, and the node shows now that the write was applied. */
  #settleUnanswered(name: string): void {
    const node = this.#options.nodes.get(name);
    const written = node === undefined ? undefined : this.#unanswered.take(node);
    if (written !== undefined) this.#noteUnknown(written.node, written.assessment);
  }

  /** While watches are stale no assessment is written: the deadline of the node queues it again. */
  #isStillSilent({ name, uid }: NodeView): boolean {
    const { nodes, freshness } = this.#options;
    const node = nodes.get(name);
    return node?.uid === uid && freshness.staleness() === undefined && this.#evaluate(node).kind === 'silent';
  }

  #noteUnknown(node: NodeView, { silentMs, graceMs, rule }: Silent): void {
    const { outage, decisions, recorder, marker } = this.#options;
    const taken = outage.outageClassOf(node.name) ?? 'NodeFailure';
    decisions.note({ kind: 'node-silent', node: node.name, silentMs, graceMs, rule, outage: taken });
    const wasReady = node.conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
    if (wasReady) recorder.record(nodeNotReady(node));
    marker.evaluateNode(node.name);
  }

  /** An unready node is counted in its zone, and where that is another one now in that, before it is rate-limited: the next pass queues it again. */
  #awaitsPass(node: NodeView): boolean {
    const { monitor, zones, policies } = this.#options;
    const ready = readyOf(node);
    if (ready === 'True') return false;
    return ready !== monitor.evaluated(node.name) || zones.zoneOfMember(node.name) !== policies.zoneOf(node);
  }

  async #reconcileNoExecute(name: string): Promise<WorkOutcome> {
    const { nodes, noExecute, policies, zones } = this.#options;
    const node = nodes.get(name);
    if (node === undefined || this.#awaitsPass(node)) return forget;
    return zones.fullDisruption ? noExecute.revokeNoExecute(node) : noExecute.reconcile(node, policies.zoneOf(node));
  }
}

function firstUnsettled(outcomes: readonly WorkOutcome[]): WorkOutcome {
  return outcomes.find(({ next }) => next !== 'forget') ?? forget;
}
