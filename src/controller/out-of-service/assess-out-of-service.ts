// Decides whether a node gets, keeps or loses the taint out-of-service. It has pods deleted by force and volumes detached,
// which destroys data if the node still runs: so it needs a proof that this boot of the node was ended, never a time
// alone, and it ends when another boot has reported itself.
import { fencedAnnotation, type NodeView } from '../../api/node.ts';
import { findCondition } from '../../api/conditions.ts';
import { mapOf } from '../../api/json-map.ts';
import { hasTaint, outOfServiceTaintKey, taintKeys } from '../../api/taints.ts';
import { outOfServiceLabel } from '../../api/topology.ts';
import { clockSkewMs, parseTimestamp } from '../../api/timestamps.ts';
import type { OutOfServiceRecord, OutOfServiceState } from '../model/out-of-service.ts';
import type { OutOfServiceRule } from '../model/policy.ts';

/** The only value of the label that allows it: an empty or a mistyped one allows nothing. */
const allowed = 'allowed';
const recordCharsMax = 1_000;

type FencedNode = Pick<NodeView, 'labels' | 'taints' | 'conditions' | 'bootID' | 'fenced' | 'outOfService'>;

interface Assessment {
  /** That of the policy of the node; undefined: it adds none. */
  readonly rule: OutOfServiceRule | undefined;
  /** No heartbeat within the grace period. */
  readonly isSilent: boolean;
}

export function assessOutOfService(node: FencedNode, { rule, isSilent }: Assessment): OutOfServiceState {
  if (node.outOfService !== undefined) return assessRecorded(node, node.outOfService, isSilent);
  if (rule === undefined || node.labels[outOfServiceLabel] !== allowed) return { kind: 'none' };
  if (isTainted(node)) return { kind: 'foreign' };
  const evidence = findEvidence(node, rule);
  if (evidence === undefined) return { kind: 'unproven' };
  if (node.bootID === '') return { kind: 'no-boot-id', evidence };
  // The NoExecute taint was subject to the rate of the zone and to every hold: what follows it need not repeat them.
  const isUnreachable = isSilent && readyStatus(node) === 'Unknown';
  const isEvicted = hasTaint(node.taints, taintKeys.unreachable, 'NoExecute');
  return { kind: isUnreachable && isEvicted ? 'due' : 'not-unreachable', evidence };
}

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
  const { bootID, evidence, addedAt } = mapOf(parseJson(text));
  const isWhole = [bootID, evidence, addedAt].every((field) => typeof field === 'string' && field !== '');
  return isWhole ? { bootID: String(bootID), evidence: String(evidence), addedAt: String(addedAt) } : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What proves now that this boot was fenced; undefined: nothing. */
function findEvidence(node: FencedNode, { conditions, taints }: OutOfServiceRule): string | undefined {
  // Evidence of an earlier outage that was not removed names another boot.
  if (node.bootID !== '' && node.fenced === node.bootID) return `annotation ${fencedAnnotation}`;
  const condition = node.conditions.find(
    ({ type, status, lastTransitionTime }) =>
      status === 'True' && conditions.includes(type) && isAfterLastStatus(node, lastTransitionTime),
  );
  if (condition !== undefined) return `condition ${condition.type}`;
  // A taint without NoExecute has no time: the client that set it removes it when the node is back.
  const taint = node.taints.find(
    ({ key, timeAdded }) => taints.includes(key) && ((timeAdded ?? '') === '' || isAfterLastStatus(node, timeAdded)),
  );
  return taint === undefined ? undefined : `taint ${taint.key}`;
}

/** A node that was fenced posts nothing after it; one that posted is back, or was never fenced. */
function isAfterLastStatus({ conditions }: FencedNode, at: string | null | undefined): boolean {
  const atMs = parseTimestamp(at);
  const postedMs = parseTimestamp(findCondition(conditions, 'Ready')?.lastHeartbeatTime);
  return atMs !== undefined && (postedMs === undefined || atMs >= postedMs - clockSkewMs);
}

function isTainted({ taints }: FencedNode): boolean {
  return taints.some(({ key }) => key === outOfServiceTaintKey);
}

function readyStatus({ conditions }: FencedNode): string | undefined {
  return findCondition(conditions, 'Ready')?.status;
}
