import { type Condition, listConditions } from '../../api/conditions.ts';
import type { Node } from '../../api/node.ts';
import { sameJson } from '../diff-json.ts';

/** Would anybody but a clock see a difference? Heartbeat times do not count (kubelet `nodeStatusHasChanged`). */
export function diffNodeStatus(stored: Node, computed: Node): boolean {
  return !sameJson(withoutHeartbeats(stored), withoutHeartbeats(computed));
}

function withoutHeartbeats(node: Node): unknown {
  const conditions = listConditions(node.status?.conditions)
    .map((condition) => ({ ...condition, lastHeartbeatTime: undefined }))
    .sort((a, b) => (a.type < b.type ? -1 : 1));
  return { labels: node.metadata.labels ?? {}, status: { ...node.status, conditions } };
}

/**
 * The strategic-merge patch of `nodes/status` from the one to the other: metadata first, then what differs of the
 * status. It names no resourceVersion, so it never conflicts (component-helpers `PatchNodeStatus`).
 */
export function deriveNodeStatusPatch(stored: Node, computed: Node): unknown {
  const metadata = {
    ...differing('labels', stored.metadata.labels, computed.metadata.labels),
    ...differing('annotations', stored.metadata.annotations, computed.metadata.annotations),
  };
  const status = {
    ...differing('capacity', stored.status?.capacity, computed.status?.capacity),
    ...differing('allocatable', stored.status?.allocatable, computed.status?.allocatable),
    ...differing('nodeInfo', stored.status?.nodeInfo, computed.status?.nodeInfo),
    ...addressPatch(stored, computed),
    ...conditionPatch(listConditions(stored.status?.conditions), listConditions(computed.status?.conditions)),
  };
  return Object.keys(metadata).length === 0 ? { status } : { metadata, status };
}

type TextMap = Readonly<Record<string, string>> | undefined;

/** The entries of a map that were added or changed. The kubelet never takes one away. */
function differing(field: string, before: TextMap, after: TextMap): Readonly<Record<string, unknown>> {
  const changed = Object.entries(after ?? {}).filter(([key, value]) => before?.[key] !== value);
  return changed.length === 0 ? {} : { [field]: Object.fromEntries(changed) };
}

/** Addresses merge by type though a type may occur twice: a changed list replaces the stored one whole. */
function addressPatch(stored: Node, computed: Node): Readonly<Record<string, unknown>> {
  const before = stored.status?.addresses ?? [];
  const after = computed.status?.addresses ?? [];
  if (sameJson(before, after)) return {};
  return { addresses: before.length === 0 ? after : [...after, { $patch: 'replace' }] };
}

function conditionPatch(before: readonly Condition[], after: readonly Condition[]): Readonly<Record<string, unknown>> {
  const changed = after.filter((condition) => !before.some((other) => sameJson(other, condition)));
  if (changed.length === 0) return {};
  return {
    '$setElementOrder/conditions': after.map(({ type }) => ({ type })),
    conditions: changed,
  };
}
