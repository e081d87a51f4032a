// What one node needs written, in this order: the truth about its silence, the taints that keep new pods away, the taint
// that sends pods away. Each step looks at the node as the step before left it.
import type { LeaseView } from '../api/lease.ts';
import type { NodeView } from '../api/node.ts';
import { zoneOf } from '../api/topology.ts';
import type { Clock } from '../ports/clock.ts';
import type { EventRecorder } from '../ports/event-recorder.ts';
import type { Meter } from '../ports/meter.ts';
import { backOffAtLeast, forget, type Outcome } from '../queueing/work-queue.ts';
import type { CommandWriter, NodeSource } from './commands.ts';
import type { DecisionSink, SilenceOutage } from './decisions.ts';
import { type Now, readyOf, type Verdict } from './health/assess-node.ts';
import { nodeNotReady } from './health/events.ts';
import type { HealthTable, HealthVerdict } from './health/health-table.ts';
import type { VerdictBook } from './health/verdict-book.ts';
import { nodeHealthDuration } from './health/metrics.ts';
import type { LabelKeeper } from './labels/label-keeper.ts';
import type { NoScheduleTainter } from './tainting/no-schedule-tainter.ts';

/** `unsettled`: a write is still wanted and must be tried again. */
export interface PodMover {
  attend(node: NodeView, zone: string): Promise<'settled' | 'unsettled'>;
  pardon(node: NodeView): Promise<'settled' | 'unsettled'>;
}

export interface NodeReconcilerOptions {
  readonly nodes: NodeSource;
  readonly leases: (node: string) => LeaseView | undefined;
  readonly health: HealthTable;
  readonly verdicts: Pick<VerdictBook, 'fallSilent'>;
  /** What the silence of a node was taken for. */
  readonly outage: { outageOf(node: string): SilenceOutage | undefined };
  readonly noSchedule: NoScheduleTainter;
  /** What sends pods away: NoExecute taints, or in the older mode the pods' deletion. */
  readonly noExecute: PodMover;
  readonly labels: LabelKeeper;
  readonly writer: CommandWriter;
  readonly decisions: DecisionSink;
  readonly recorder: EventRecorder;
  readonly meter: Meter;
  readonly clock: Clock;
  /** Time as health counts it: it stands still while we are blind. */
  readonly healthNow: () => Now;
  readonly everyZoneDark: () => boolean;
  /** The Ready answer by which the last monitor pass counted the node in its zone. */
  readonly judged: (node: string) => string | undefined;
  /** The node's pods want marking. */
  readonly markPods: (node: string) => void;
}

type Silent = Extract<Verdict, { readonly kind: 'silent' }>;

export class NodeReconciler {
  readonly #options: NodeReconcilerOptions;

  constructor(options: NodeReconcilerOptions) {
    this.#options = options;
  }

  async reconcile(name: string): Promise<Outcome> {
    const startedAtMs = this.#options.clock.monotonicMs();
    const outcome = await this.#reconcile(name);
    this.#options.meter.observe(nodeHealthDuration, (this.#options.clock.monotonicMs() - startedAtMs) / 1_000);
    return outcome;
  }

  async #reconcile(name: string): Promise<Outcome> {
    const told = await this.#tellSilence(name);
    if (told.next !== 'forget') return told;
    const kept = await this.#options.noSchedule.reconcile(name);
    const sent = await this.#attendNoExecute(name);
    const labelled = await this.#options.labels.reconcile(name);
    return [kept, sent, labelled].find(({ next }) => next !== 'forget') ?? forget;
  }

  async #tellSilence(name: string): Promise<Outcome> {
    const node = this.#options.nodes.get(name);
    if (node === undefined) return forget;
    const verdict = this.#assess(node);
    if (verdict.kind !== 'silent') return forget;
    if (verdict.conditions.length > 0) return this.#writeUnknown(node, verdict);
    this.#options.markPods(name);
    return forget;
  }

  #assess(node: NodeView): HealthVerdict {
    const { health, leases, healthNow } = this.#options;
    return health.assess(node, leases(node.name), healthNow());
  }

  async #writeUnknown(node: NodeView, verdict: Silent): Promise<Outcome> {
    const { writer, health, verdicts, outage, nodes, decisions, recorder, markPods, healthNow } = this.#options;
    verdicts.fallSilent(node, verdict);
    const wasReady = node.conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
    const outcome = await writer.carryOut({ kind: 'set-node-conditions', node, conditions: verdict.conditions });
    if (outcome.result === 'failed') return backOffAtLeast(outcome.retryAfterMs);
    if (outcome.result !== 'written') return forget;
    health.becameUnknown(nodes.get(node.name) ?? node, healthNow().monotonicMs);
    const { silentMs, graceMs, rule } = verdict;
    const taken = outage.outageOf(node.name) ?? 'NodeFailure';
    decisions.note({ kind: 'node-silent', node: node.name, silentMs, graceMs, rule, outage: taken });
    if (wasReady) recorder.record(nodeNotReady(node));
    markPods(node.name);
    return forget;
  }

  /** Bad news is counted in its zone before anybody acts on it, and the next pass will have us look again. Good news is not kept waiting. */
  #awaitsJudgement(node: NodeView): boolean {
    const ready = readyOf(node);
    return ready !== 'True' && ready !== this.#options.judged(node.name);
  }

  async #attendNoExecute(name: string): Promise<Outcome> {
    const { nodes, noExecute, everyZoneDark } = this.#options;
    const node = nodes.get(name);
    if (node === undefined || this.#awaitsJudgement(node)) return forget;
    const settlement = everyZoneDark()
      ? await noExecute.pardon(node)
      : await noExecute.attend(node, zoneOf(node.labels));
    return settlement === 'settled' ? forget : backOffAtLeast(undefined);
  }
}
