import type { NodeView } from '../../machinery/api/node.ts';
import { isHealthTaint, type TaintChange } from '../../machinery/api/taints.ts';
import { formatTime } from '../../machinery/api/timestamps.ts';
import type { WriteLane } from '../../machinery/ports/write-lanes.ts';
import { forget, type WorkOutcome } from '../../machinery/queueing/work-queue.ts';
import { nextAfterWrite } from '../model/decide-next-step.ts';
import { decideNoScheduleChange, isNoScheduleStillRequired } from './decide-taints.ts';
import type { StageDependencies } from '../model/dependencies.ts';

type TaintChangePart = 'all' | 'additions' | 'removals';

/** The node changed before the write was sent: its conditions require another change now, or none. */
const evaluateAgain: WorkOutcome = { next: 'requeue', afterMs: 0 };

type NoScheduleTainterOptions = Omit<StageDependencies, 'meter'>;

/** Keeps the NoSchedule taints of one node equal to what its conditions require: at once, not rate-limited. */
export class NoScheduleTainter {
  readonly #options: NoScheduleTainterOptions;

  constructor(options: NoScheduleTainterOptions) {
    this.#options = options;
  }

  /** The required change, or a part of it: removals do not wait for additions. */
  async reconcile(name: string, part: TaintChangePart): Promise<WorkOutcome> {
    const { nodes, writer, clock } = this.#options;
    const node = nodes.get(name);
    if (node === undefined) return forget;
    const whole = decideNoScheduleChange(node, formatTime(clock.nowMs()));
    const change = { add: part === 'removals' ? [] : whole.add, remove: part === 'additions' ? [] : whole.remove };
    if (change.add.length + change.remove.length === 0) return forget;
    const stillWanted = (): boolean => isStillCalledFor(change, node.uid, nodes.get(name));
    const outcome = await writer.carryOut(
      { kind: 'change-taints', node, ...change, lane: laneOf(change) },
      stillWanted,
    );
    if (outcome.result === 'written') this.#note(name, change);
    return nextAfterWrite(outcome, evaluateAgain);
  }

  #note(node: string, change: TaintChange): void {
    const added = change.add.map((taint) => `${taint.key}:NoSchedule`);
    const removed = change.remove.map((taint) => `${taint.key}:NoSchedule`);
    this.#options.decisions.note({ kind: 'taints-changed', node, added, removed, why: 'conditions' });
  }
}

function laneOf({ add }: TaintChange): WriteLane {
  if (add.length === 0) return 'recovery';
  return add.some(isHealthTaint) ? 'detection' : 'housekeeping';
}

/** Whether the node exists, and its current conditions require all of the change. */
function isStillCalledFor(change: TaintChange, uid: string, node: NodeView | undefined): boolean {
  return node?.uid === uid && isNoScheduleStillRequired(change, node);
}
