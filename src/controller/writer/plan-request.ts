import { evictedByTaint } from '../../api/conditions.ts';
import type { PodView } from '../../api/pod.ts';
import { changeTaints } from '../../api/taints.ts';
import { formatTime } from '../../api/timestamps.ts';
import type { ResourceName } from '../../api/resources.ts';
import type { Command } from '../commands.ts';

export interface PatchRequest {
  readonly verb: 'patch';
  readonly resource: ResourceName;
  readonly namespace?: string;
  readonly name: string;
  readonly subresource?: 'status';
  readonly body: unknown;
}

export interface DeleteRequest {
  readonly verb: 'delete';
  readonly resource: ResourceName;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/**
 * The one request a command becomes. Strategic merge patches throughout; each names the version or the uid that was
 * decided upon, so that it can never undo somebody else's write or hit a namesake (decision 0003).
 */
export function planRequest(command: Command): PatchRequest | DeleteRequest {
  switch (command.kind) {
    case 'set-node-conditions': {
      const { node, conditions } = command;
      const body = { metadata: guardOf(node), status: { conditions } };
      return { verb: 'patch', resource: 'nodes', name: node.name, subresource: 'status', body };
    }
    case 'change-taints': {
      const { node } = command;
      // spec.taints has no merge key: the list replaces the list, which is why the version must be in the patch.
      const taints = changeTaints(node.taints, command);
      const body = { metadata: guardOf(node), spec: { taints: taints.length === 0 ? null : taints } };
      return { verb: 'patch', resource: 'nodes', name: node.name, body };
    }
    case 'mark-pod-not-ready':
      return podStatus(command.pod, { type: 'Ready', status: 'False', lastTransitionTime: formatTime(command.atMs) });
    case 'mark-pod-disrupted':
      return podStatus(command.pod, disruption(command.pod, command.atMs));
    case 'delete-pod': {
      const { namespace, name, uid } = command.pod;
      return { verb: 'delete', resource: 'pods', namespace, name, uid };
    }
  }
}

function guardOf({ uid, resourceVersion }: { readonly uid: string; readonly resourceVersion: string }): object {
  return { uid, resourceVersion };
}

function podStatus(pod: PodView, condition: object): PatchRequest {
  const { namespace, name, uid } = pod;
  const body = { metadata: { uid }, status: { conditions: [condition] } };
  return { verb: 'patch', resource: 'pods', namespace, name, subresource: 'status', body };
}

function disruption(pod: PodView, atMs: number): object {
  const { type, reason, message } = evictedByTaint;
  const observed = pod.generation === undefined ? {} : { observedGeneration: pod.generation };
  return { type, status: 'True', reason, message, lastTransitionTime: formatTime(atMs), ...observed };
}
