import type { TaintChange } from '../../api/taints.ts';
import { formatTime } from '../../api/timestamps.ts';
import type { Clock } from '../../ports/clock.ts';
import { backOffAtLeast, forget, type Outcome } from '../../queueing/work-queue.ts';
import type { CommandWriter, NodeSource, WriteOutcome } from '../commands.ts';
import type { DecisionSink } from '../decisions.ts';
import { deriveNoScheduleChange } from './derive-taints.ts';

export interface NoScheduleTainterOptions {
  readonly nodes: NodeSource;
  readonly writer: CommandWriter;
  readonly decisions: DecisionSink;
  readonly clock: Clock;
}

/** Keeps the NoSchedule taints of one node equal to what its conditions call for: at once, not rationed. */
export class NoScheduleTainter {
  readonly #options: NoScheduleTainterOptions;

  constructor(options: NoScheduleTainterOptions) {
    this.#options = options;
  }

  async reconcile(name: string): Promise<Outcome> {
    const { nodes, writer, clock } = this.#options;
    const node = nodes.get(name);
    if (node === undefined) return forget;
    const change = deriveNoScheduleChange(node, formatTime(clock.nowMs()));
    if (change.add.length + change.remove.length === 0) return forget;
    const urgency = change.add.length === 0 ? 'untaint' : 'other';
    const outcome = await writer.carryOut({ kind: 'change-taints', node, ...change, urgency });
    if (outcome.result === 'written') this.#note(name, change);
    return nextAfter(outcome);
  }

  #note(node: string, change: TaintChange): void {
    const added = change.add.map((taint) => `${taint.key}:NoSchedule`);
    const removed = change.remove.map((taint) => `${taint.key}:NoSchedule`);
    this.#options.decisions.note({ kind: 'taints-changed', node, added, removed, why: 'conditions' });
  }
}

/** A write that failed is tried again until it is done or no longer wanted; one that may not be made is for another leader. */
function nextAfter(outcome: WriteOutcome): Outcome {
  switch (outcome.result) {
    case 'written':
    case 'gone':
    case 'not-leader':
      return forget;
    case 'failed':
      return backOffAtLeast(outcome.retryAfterMs);
  }
}
