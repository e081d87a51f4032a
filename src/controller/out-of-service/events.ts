import type { EventDraft } from '../../machinery/api/event.ts';
import { outOfServiceAnnotation } from '../../machinery/api/node.ts';
import { describeFencingDoubt, type FencingDoubt } from '../model/out-of-service.ts';
import { aboutNode, type NodeIdentity } from '../model/subjects.ts';

export function addedOutOfService(node: NodeIdentity, evidence: string): EventDraft {
  const message = `Added the taint out-of-service: ${evidence} proves that the node was fenced; its pods are deleted by force and their volumes detached`;
  return { about: aboutNode(node), type: 'Warning', reason: 'NodeOutOfService', message };
}

export function backInService(node: NodeIdentity): EventDraft {
  const message = 'Removed the taint out-of-service: the node has another boot ID';
  return { about: aboutNode(node), type: 'Normal', reason: 'NodeBackInService', message };
}

/** Once for each evidence and reason. */
export function fencingNotProven(node: NodeIdentity, evidence: string, why: FencingDoubt): EventDraft {
  const message = `Did not add the taint out-of-service: ${evidence} does not prove that the node was fenced, because ${describeFencingDoubt(why)}; it counts when it is removed and set again`;
  return { about: aboutNode(node), type: 'Warning', reason: 'NodeFencingNotProven', message };
}

/** Once for each return. */
export function neverFenced(node: NodeIdentity, evidence: string): EventDraft {
  const message = `The node is Ready with the boot ID of before: it was not fenced, although ${evidence} said so; the taint out-of-service stays until the node is rebooted, or the taint and the annotation ${outOfServiceAnnotation} are removed`;
  return { about: aboutNode(node), type: 'Warning', reason: 'NodeWasNotFenced', message };
}
