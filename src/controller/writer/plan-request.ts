import { type Condition, evictedByTaint, conditionTimes } from '../../machinery/api/conditions.ts';
import { nodeLostMessage, nodeLostReason, type PodView } from '../../machinery/api/pod.ts';
import { changeTaints, equalTaints, type Taint } from '../../machinery/api/taints.ts';
import { formatTime } from '../../machinery/api/timestamps.ts';
import type { ResourceName } from '../../machinery/api/resources.ts';
import type { DeleteOptions } from '../../machinery/ports/kube-writer.ts';
import type { Command, DisruptionWords } from '../model/commands.ts';
import type { NodeView } from '../../machinery/api/node.ts';

export interface PatchRequest {
  readonly verb: 'patch';
  readonly resource: ResourceName;
  readonly namespace?: string;
  readonly name: string;
  readonly subresource?: 'status';
  readonly body: unknown;
}

export interface DeleteRequest {
  /** `evict`: by the Eviction API, of a pod. */
  readonly verb: 'delete' | 'evict';
  readonly resource: ResourceName;
  readonly namespace: string;
  readonly name: string;
  readonly options: Pick<DeleteOptions, 'uid' | 'resourceVersion' | 'gracePeriodSeconds'>;
}

/**
 * The request of a command. Strategic merge patches throughout; each contains the resourceVersion or the uid that was
 * evaluated, so that it can never revert another client's write or change another object of the same name (decision
 * 0003).
 */
export function planRequest(command: Command): PatchRequest | DeleteRequest {
  switch (command.kind) {
    case 'set-node-conditions': {
      const { node } = command;
      const conditions = [...command.conditions, ...planConditionRepairs(node, command.conditions)];
      const body = { metadata: guardOf(node), ...planTaintRepairs(node), status: { conditions } };
      return { verb: 'patch', resource: 'nodes', name: node.name, subresource: 'status', body };
    }
    case 'change-taints':
      return taintChange(command);
    case 'set-node-metadata':
      return nodeMetadata(command);
    case 'mark-pod-not-ready':
      return podStatus(command.pod, { type: 'Ready', status: 'False', lastTransitionTime: formatTime(command.atMs) });
    case 'mark-pod-disrupted':
      return podStatus(command.pod, disruption(command.pod, evictedByTaint, command.atMs));
    case 'mark-pod-lost':
      return patchPodStatus(command.pod, { reason: nodeLostReason, message: nodeLostMessage(command.pod) });
    case 'mark-pod-failed':
      return podFailed(command);
    case 'delete-pod':
      return podDeletion(command);
    case 'evict-pod': {
      const { namespace, name } = command.pod;
      return { verb: 'evict', resource: 'pods', namespace, name, options: guardOf(command.pod) };
    }
  }
}

/** Labels and annotations merge by key, so the uid is sufficient. */
function nodeMetadata({ node, labels, annotations }: Extract<Command, { kind: 'set-node-metadata' }>): PatchRequest {
  const metadata = { uid: node.uid, ...(labels && { labels }), ...(annotations && { annotations }) };
  return { verb: 'patch', resource: 'nodes', name: node.name, body: { metadata, ...planStatusRepairs(node) } };
}

/** A taint change without an effect on the list, and without annotations: not worth a request. */
export function changesNothing(command: Command): boolean {
  if (command.kind !== 'change-taints' || command.annotations !== undefined) return false;
  return equalTaints(command.node.taints, changeTaints(command.node.taints, command));
}

interface Guard {
  readonly uid: string;
  readonly resourceVersion: string;
}

function guardOf({ uid, resourceVersion }: Guard): Guard {
  return { uid, resourceVersion };
}

/** spec.taints has no merge key: the list is replaced, which is why the resourceVersion must be in the patch. */
function taintChange(command: Extract<Command, { kind: 'change-taints' }>): PatchRequest {
  const { node, annotations } = command;
  const taints = changeTaints(node.taints, command);
  const body = {
    metadata: { ...guardOf(node), ...(annotations === undefined ? {} : { annotations }) },
    spec: { taints: taints.length === 0 ? null : taints },
    ...planStatusRepairs(node),
  };
  return { verb: 'patch', resource: 'nodes', name: node.name, body };
}

function podStatus(pod: PodView, condition: object): PatchRequest {
  return patchPodStatus(pod, { conditions: [condition] });
}

/**
 * A patch of the status of a pod, with the evaluated resourceVersion: a newer write of the kubelet wins, and is
 * evaluated first.
 */
function patchPodStatus(pod: PodView, status: object): PatchRequest {
  const { namespace, name } = pod;
  const body = { metadata: guardOf(pod), status };
  return { verb: 'patch', resource: 'pods', namespace, name, subresource: 'status', body };
}

/**
 * A deletion of a pod, with the evaluated resourceVersion where the pod itself decides: the watch may not have brought a toleration, or
 * that a restore of etcd brought it back as it ran.
 */
function podDeletion({
  pod,
  gracePeriodSeconds,
  onlyThisVersion,
}: Extract<Command, { kind: 'delete-pod' }>): DeleteRequest {
  const { namespace, name, uid } = pod;
  const grace = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds };
  const options = { ...(onlyThisVersion === true ? guardOf(pod) : { uid }), ...grace };
  return { verb: 'delete', resource: 'pods', namespace, name, options };
}

function podFailed({ pod, disruption: words, atMs }: Extract<Command, { kind: 'mark-pod-failed' }>): PatchRequest {
  const status = { phase: 'Failed' };
  if (words === undefined) return patchPodStatus(pod, status);
  const { lastTransitionTime, ...condition } = disruption(pod, words, atMs);
  // A condition that is True already has no transition: the merge keeps its time.
  const transition = pod.disruptionReason === undefined ? { lastTransitionTime } : {};
  return patchPodStatus(pod, { ...status, conditions: [{ ...condition, ...transition }] });
}

function disruption(pod: PodView, { reason, message }: DisruptionWords, atMs: number): Condition {
  const observed = pod.generation === undefined ? {} : { observedGeneration: pod.generation };
  const { type } = evictedByTaint;
  return { type, status: 'True', reason, message, lastTransitionTime: formatTime(atMs), ...observed };
}

/**
 * The API server accepts times of any year in protobuf, and then rejects every patch of the object that keeps one of them
 * (422, `parsing time`): after one such heartbeat a node could be neither marked nor tainted. So a patch of such a node
 * also sets these times to null, wherever they are.
 */
interface ConditionRepair {
  readonly type: string;
  readonly lastHeartbeatTime?: null;
  readonly lastTransitionTime?: null;
}

/** Repairs for a patch of the status: conditions other than `written`. Empty for nodes whose times can be parsed. */
function planConditionRepairs(node: NodeView, written: readonly Condition[] = []): readonly ConditionRepair[] {
  if (node.problems === undefined) return [];
  return node.conditions
    .filter(({ type }) => written.every((condition) => condition.type !== type))
    .map((condition) => ({ type: condition.type, ...absentTimes(condition) }))
    .filter((repair) => Object.keys(repair).length > 1);
}

/** Repairs for a patch of the node. The API server ignores the status in it once the patch applies. */
function planStatusRepairs(node: NodeView): {
  readonly status?: { readonly conditions: readonly ConditionRepair[] };
} {
  const conditions = planConditionRepairs(node);
  return conditions.length === 0 ? {} : { status: { conditions } };
}

/** Repairs for a patch of the status. The API server ignores the spec in it once the patch applies. */
function planTaintRepairs({ problems = [], taints }: NodeView): {
  readonly spec?: { readonly taints: readonly Taint[] };
} {
  return problems.some((problem) => problem.startsWith('spec.taints[')) ? { spec: { taints } } : {};
}

/** The view has null in place of a time that cannot be parsed. */
function absentTimes(condition: Condition): Omit<ConditionRepair, 'type'> {
  const times: Readonly<Record<string, unknown>> = { ...condition };
  return Object.fromEntries(conditionTimes.filter((name) => times[name] === null).map((name) => [name, null]));
}
