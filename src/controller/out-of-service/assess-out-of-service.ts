// Decides whether a node gets, keeps or loses the taint out-of-service. It has pods deleted by force and volumes detached,
// which destroys data if the node still runs: so it needs a proof that this boot of the node was ended, never a time
// alone, and it ends when another boot has reported itself.
import type { NodeView } from '../../machinery/api/node.ts';
import { findCondition } from '../../machinery/api/conditions.ts';
import { mapOf, parsedOf } from '../../machinery/api/json-map.ts';
import { hasTaint, outOfServiceTaintKey, taintKeys } from '../../machinery/api/taints.ts';
import { outOfServiceLabel } from '../../machinery/api/topology.ts';
import type { OutOfServiceRecord, OutOfServiceState } from '../model/out-of-service.ts';
import type { OutOfServiceRule } from '../model/policy.ts';
import type { EvidenceOrder } from './decide-order.ts';
import { type FencingEvidence, selectEvidence } from './select-evidence.ts';

/** The only value of the label that allows it: an empty or a mistyped one allows nothing. */
const allowed = 'allowed';
const recordCharsMax = 1_000;

type FencedNode = Pick<NodeView, 'labels' | 'taints' | 'conditions' | 'bootID' | 'fenced' | 'outOfService'>;

interface Assessment {
  /** Rule of the policy of the node; undefined: the policy adds no taint. */
  readonly rule: OutOfServiceRule | undefined;
  /** No heartbeat within the grace period. */
  readonly isSilent: boolean;
  /** Order of a piece of evidence and the last heartbeat of the node. */
  readonly orderOf: (evidence: FencingEvidence) => EvidenceOrder;
}

export function assessOutOfService(node: FencedNode, assessment: Assessment): OutOfServiceState {
  const { rule, isSilent } = assessment;
  if (node.outOfService !== undefined) return assessRecorded(node, node.outOfService, isSilent);
  if (rule === undefined || node.labels[outOfServiceLabel] !== allowed) return { kind: 'none' };
  if (isTainted(node)) return { kind: 'foreign' };
  return assessEvidence(node, selectEvidence(node, rule), assessment);
}

function assessEvidence(
  node: FencedNode,
  found: readonly FencingEvidence[],
  { isSilent, orderOf }: Assessment,
): OutOfServiceState {
  const ordered = found.map((evidence) => ({ evidence: evidence.source, order: orderOf(evidence) }));
  const best = orders.flatMap((order) => ordered.find((each) => each.order === order) ?? [])[0];
  if (best === undefined) return { kind: 'unproven' };
  const { evidence, order } = best;
  if (node.bootID === '') return { kind: 'no-boot-id', evidence };
  // The NoExecute taint was subject to the rate of the zone and to every hold: what follows it need not repeat them.
  const isUnreachable = isSilent && readyStatus(node) === 'Unknown';
  const isEvicted = isUnreachable && hasTaint(node.taints, taintKeys.unreachable, 'NoExecute');
  if (order !== 'newer') return { kind: order === 'unknown' ? 'unordered' : 'disproved', evidence, isEvicted };
  return { kind: isEvicted ? 'due' : 'not-unreachable', evidence };
}

/** The first that one of several pieces of evidence has decides. */
const orders: readonly EvidenceOrder[] = ['newer', 'unknown', 'disproved'];

function assessRecorded(node: FencedNode, text: string, isSilent: boolean): OutOfServiceState {
  const record = parseRecord(text);
  if (record === undefined) return { kind: 'malformed' };
  if (node.bootID !== '' && node.bootID !== record.bootID) return { kind: 'back', record };
  if (readyStatus(node) === 'True' && !isSilent) return { kind: 'same-boot', record };
  return { kind: isTainted(node) ? 'in-place' : 'removed-by-other', record };
}

/** Undefined: malformed. */
function parseRecord(text: string): OutOfServiceRecord | undefined {
  if (text.length > recordCharsMax) return undefined;
  const { bootID, evidence, addedAt } = mapOf(parsedOf(text));
  const isWhole = [bootID, evidence, addedAt].every((field) => typeof field === 'string' && field !== '');
  return isWhole ? { bootID: String(bootID), evidence: String(evidence), addedAt: String(addedAt) } : undefined;
}

function isTainted({ taints }: FencedNode): boolean {
  return taints.some(({ key }) => key === outOfServiceTaintKey);
}

function readyStatus({ conditions }: FencedNode): string | undefined {
  return findCondition(conditions, 'Ready')?.status;
}
