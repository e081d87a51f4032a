import { type Condition, findCondition } from '../../machinery/api/conditions.ts';
import { ownValue } from '../../machinery/api/json-map.ts';
import { type NodeView, overdueAnnotation } from '../../machinery/api/node.ts';
import type { PodView } from '../../machinery/api/pod.ts';
import type { Taint } from '../../machinery/api/taints.ts';
import type { Command } from '../model/commands.ts';

type NodeCommand = Extract<Command, { readonly node: NodeView }>;
type PodCommand = Extract<Command, { readonly pod: PodView }>;

/**
 * Whether the node in the answer to a patch has what the command wrote. An admission webhook or policy may change the object
 * of a request, also back to what it was, and the API server answers 200 all the same. Other fields are not compared.
 */
export function nodeShows(command: NodeCommand, answer: NodeView): boolean {
  const { taints, conditions } = answer;
  const has = (taint: Taint): boolean => taints.some(({ key, effect }) => key === taint.key && effect === taint.effect);
  switch (command.kind) {
    case 'change-taints':
      return decisiveOf(command.add).every(has) && !decisiveOf(command.remove, command.add).some(has);
    case 'set-node-conditions':
      return isUnknown(conditions) || !isUnknown(command.conditions);
    case 'set-node-metadata':
      return metadataShows(command, answer);
  }
}

/** A NoExecute taint evicts pods, whatever became of the NoSchedule taints that were written with it. */
function decisiveOf(taints: readonly Taint[], added: readonly Taint[] = taints): readonly Taint[] {
  const isEvicting = added.some(({ effect }) => effect === 'NoExecute');
  return isEvicting ? taints.filter(({ effect }) => effect === 'NoExecute') : taints;
}

/** The other conditions of a silent node follow from this one, and are written with it only. */
function isUnknown(conditions: readonly Condition[]): boolean {
  return findCondition(conditions, 'Ready')?.status === 'Unknown';
}

/** Of annotations only those that are read. */
function metadataShows(
  { labels = {}, annotations }: Extract<Command, { kind: 'set-node-metadata' }>,
  answer: NodeView,
): boolean {
  const hasLabels = Object.entries(labels).every(([name, value]) => ownValue(answer.labels, name) === value);
  const overdue = annotations && ownValue(annotations, overdueAnnotation);
  return hasLabels && (overdue === undefined || overdue === (answer.overdue ?? null));
}

/** The same for a pod. The marks before a deletion are not compared: the pod is deleted without them too. */
export function podShows({ kind }: PodCommand, { ready }: PodView): boolean {
  return kind !== 'mark-pod-not-ready' || ready === 'False';
}
