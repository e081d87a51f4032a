// Decides whether a node is to be kept, stays kept, or is to be released, from the node and the time.
import type { NodeView } from '../../machinery/api/node.ts';
import { flappingTaintKey } from '../../machinery/api/taints.ts';
import { clockSkewMs } from '../../machinery/api/timestamps.ts';
import type { AppliedFlappingRule, DueKeeping, FlappingState } from '../model/flapping.ts';
import { parseRecord } from './parse-flapping-record.ts';

interface Assessment {
  /** Undefined: no policy keeps this node. */
  readonly applied: AppliedFlappingRule | undefined;
  readonly due: DueKeeping | undefined;
  readonly wallMs: number;
}

type FlappingNode = Pick<NodeView, 'taints' | 'flapping'>;

const none: FlappingState = { kind: 'none' };

export function assessFlapping(node: FlappingNode, { applied, due, wallMs }: Assessment): FlappingState {
  const isMarked = isTaintedFlapping(node) || node.flapping !== undefined;
  if (applied === undefined) return isMarked ? { kind: 'no-rule' } : none;
  const isDue = due === undefined ? none : ({ kind: 'due', ...applied, due } as const);
  if (!isMarked) return isDue;
  const kept = assessKept(node, applied.rule.maxMs, wallMs);
  // It recovered again, so it is kept for longer. A record that is not followed is removed before.
  return due !== undefined && (kept.kind === 'kept' || kept.kind === 'over') ? isDue : kept;
}

/** An end that is far in the future, as by a step of the wall clock or a typing error, would keep it beyond the maximum. */
function assessKept(node: FlappingNode, maxMs: number, wallMs: number): FlappingState {
  if (node.flapping === undefined || !isTaintedFlapping(node)) return { kind: 'cleared' };
  const record = parseRecord(node.flapping);
  if (record === undefined) return { kind: 'malformed' };
  if (record.untilMs > wallMs + maxMs + clockSkewMs) return { kind: 'too-long' };
  return record.untilMs <= wallMs ? { kind: 'over' } : { kind: 'kept', record };
}

/** Whether the node has the taint, whatever its effect and value: the key belongs to this controller. */
export function isTaintedFlapping({ taints }: Pick<NodeView, 'taints'>): boolean {
  return taints.some(({ key }) => key === flappingTaintKey);
}
