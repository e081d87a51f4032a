// What holds a write as far as its sender knows: a policy, a pause, planned maintenance or the limits of a policy.
import type { NodeView } from '../../../src/machinery/api/node.ts';
import { objectKey } from '../../../src/machinery/api/object-key.ts';
import { autonomyLabel, type PodView } from '../../../src/machinery/api/pod.ts';
import {
  diffTaints,
  isForHealth,
  isOwnTaint,
  noExecuteTaints,
  type Taint,
  taintKeys,
} from '../../../src/machinery/api/taints.ts';
import { clockSkewMs, parseTimestamp } from '../../../src/machinery/api/timestamps.ts';
import { readyOf } from '../../../src/controller/health/assess-node.ts';
import type { MaintenanceRule, NodePolicy } from '../../../src/controller/model/policy.ts';
import type { Run } from '../../../src/simulator/cluster/replica.ts';
import { isDeletion, type RequestLine } from '../../../src/simulator/network/network.ts';
import { claimsOf, policyOf } from '../policy-zones.ts';
import type { World } from '../../../src/simulator/world.ts';
import { whyCrowded } from './find-crowded-policy.ts';

/** Clocks drift, and what is sent at the end of a hold is sent before it. */
const marginMs = 100;

/** By the settings as they are now. Pods that are over, or whose node is gone, are not held by a policy. */
export function whyHeld({ policies, paused }: World['config'], run: Run, line: RequestLine): string | undefined {
  const node = nodeOf(run, line);
  if (node === undefined) return undefined;
  const claims = claimsKnownTo(run, node, policies);
  if (claims.some(({ mode }) => mode === 'Observe')) return 'a policy of the node has mode Observe';
  const isPaused = paused || claims.some(({ mode }) => mode === 'Paused') || isPausedByAnnotation(run, node);
  if (isPaused && isWorse(run, line)) return 'the node is paused';
  return claims.flatMap((policy) => whyHeldForHealth(policy, run, { line, node, policies }) ?? [])[0];
}

interface Act {
  readonly line: RequestLine;
  readonly node: string;
  readonly policies: readonly NodePolicy[];
}

function whyHeldForHealth(policy: NodePolicy, run: Run, { line, node, policies }: Act): string | undefined {
  if (!isWriteForHealth(run, line, node)) return undefined;
  const why =
    whyLimited(policy, run, policies) ?? whyInMaintenance(policy, run, node) ?? whyKept(policy, run, { line, node });
  const claims = (name: string): readonly NodePolicy[] => claimsKnownTo(run, name, policies);
  if (why !== undefined || line.resource !== 'nodes') return why;
  return whyCrowded(policy, run, { node, added: addedForHealth(run, line, node) }, claims);
}

/** A NoExecute taint for the health of the node, or the eviction of a pod for such taints only. */
export function isWriteForHealth(run: Run, line: RequestLine, node: string): boolean {
  if (line.resource === 'pods') return isDeletion(line) && noExecuteTaints(carriedBy(run, node)).every(isForHealth);
  return !isUnknown(line) && addedForHealth(run, line, node).length > 0;
}

function addedForHealth(run: Run, line: RequestLine, node: string): readonly Taint[] {
  return noExecuteTaints(diffTaints(line.taints ?? [], carriedBy(run, node)).add).filter(isForHealth);
}

function carriedBy({ manager }: Run, node: string): readonly Taint[] {
  return manager.lifecycle.stages.nodes.get(node)?.taints ?? [];
}

/**
 * Only nodes count of which every cache says that they are not Ready: a silence that is not written is left out, and so is a
 * node that may be in maintenance. With a reset nodes may be exempt, and with an overflow some are emptied.
 */
function whyLimited(policy: NodePolicy, run: Run, policies: readonly NodePolicy[]): string | undefined {
  const { limits, maintenance } = policy;
  if (limits === undefined || limits.resetAtMs !== undefined || limits.overflow !== undefined) return undefined;
  const { percent = 0, count = 0 } = limits.maxUnhealthy;
  const isOf = (name: string, versions: readonly (NodeView | undefined)[]): boolean =>
    versions.some((node) => node !== undefined && claimsOf({ name, labels: node.labels }, policies).includes(policy));
  const existing = [...run.manager.informers.nodes.store.keys()].filter((name) => isOf(name, versionsOf(run, name)));
  const unready = existing.filter((name) => {
    const versions = versionsOf(run, name);
    const isUnready = versions.every((node) => node !== undefined && readyOf(node) !== 'True');
    const mayBeMaintained = versions.some((node) => node !== undefined && hasSignal(node, maintenance));
    return isUnready && claimsKnownTo(run, name, policies).includes(policy) && !mayBeMaintained;
  });
  const isTooMany = unready.length > Math.max((existing.length * percent) / 100, count);
  return isTooMany ? `${unready.length} of ${existing.length} nodes of its policy are not Ready` : undefined;
}

function hasSignal({ conditions, taints }: NodeView, rule: MaintenanceRule | undefined): boolean {
  const hasCondition = conditions.some(({ type }) => rule?.conditions.includes(type) === true);
  return hasCondition || taints.some(({ key }) => rule?.taints.includes(key) === true);
}

/** The node as the watch brought it, and as the newest answer shows it. */
export function versionsOf({ manager }: Run, name: string): readonly (NodeView | undefined)[] {
  return [manager.informers.nodes.store.get(name), manager.lifecycle.stages.nodes.get(name)];
}

/** The policies that claim a node by every version that the sender has. */
function claimsKnownTo(run: Run, name: string, policies: readonly NodePolicy[]): readonly NodePolicy[] {
  const [first = [], ...others] = versionsOf(run, name).map((node) => {
    return node === undefined ? [] : claimsOf({ name, labels: node.labels }, policies);
  });
  return first.filter((policy) => others.every((claims) => claims.includes(policy)));
}

/** The policy of a node by every version that the sender has; undefined also if these differ. */
export function policyKnownTo(run: Run, name: string, policies: readonly NodePolicy[]): NodePolicy | undefined {
  const [first, ...others] = versionsOf(run, name).map(
    (node) => node && policyOf({ name, labels: node.labels }, policies),
  );
  return others.every((policy) => policy === first) ? first : undefined;
}

/** Every version says so: a value that is no time was meant to pause the node. */
function isPausedByAnnotation(run: Run, name: string): boolean {
  const wallMs = run.process.nowMs();
  return versionsOf(run, name).every((node) => {
    const { pause = '' } = node ?? {};
    return !['', 'false'].includes(pause) && (parseTimestamp(pause) ?? Infinity) > wallMs + marginMs;
  });
}

/** Mode Detect, a mark of another tool, or in taint mode a pod that asks by its label; as long as every cache says so. */
function whyKept(
  { mode, detect, podAutonomy, vetoes }: NodePolicy,
  run: Run,
  { line, node }: Pick<Act, 'line' | 'node'>,
): string | undefined {
  const left = (evictAfterMs = Infinity): number => unhealthyLeftMs(run, node, evictAfterMs);
  if (mode === 'Detect' && left(detect?.evictAfterMs) > marginMs) return 'a policy of the node has mode Detect';
  if (vetoes !== undefined && isMarked(run, node) && left(vetoes.maxDurationMs) > marginMs)
    return 'another tool marked the node';
  if (podAutonomy === undefined || line.resource !== 'pods') return undefined;
  const key = objectKey('default', line.name);
  const { informers, lifecycle } = run.manager;
  if (lifecycle.stages.podEvictor !== undefined) return undefined;
  const isInherited = informers.autonomousNamespaces?.store.get(objectKey('', 'default')) !== undefined;
  const asks = [informers.pods.store.get(key), lifecycle.stages.pods.get(key)].every(
    (pod) => (pod?.labels[autonomyLabel] ?? String(isInherited)) === 'true',
  );
  return asks && left(podAutonomy.evictAfterMs) > marginMs ? 'the pod asks to be kept' : undefined;
}

/** By every version. */
function isMarked(run: Run, name: string): boolean {
  const label = 'remediation.medik8s.io/exclude-from-remediation';
  return versionsOf(run, name).every((node) => {
    return node !== undefined && ((node.vetoes?.length ?? 0) > 0 || (node.labels[label] ?? 'false') !== 'false');
  });
}

/** Until a node has been unhealthy for this time, by every version; Infinity: none of the times is known. */
function unhealthyLeftMs(run: Run, name: string, evictAfterMs: number): number {
  const wallMs = run.process.nowMs();
  const ends = versionsOf(run, name).map((node) => {
    if (node === undefined || readyOf(node) === 'True') return -Infinity;
    const key = readyOf(node) === 'False' ? taintKeys.notReady : taintKeys.unreachable;
    const added = node.taints.filter((taint) => taint.key === key).map(({ timeAdded }) => parseTimestamp(timeAdded));
    const ready = node.conditions.find(({ type }) => type === 'Ready');
    // The process may have seen it so before its taint was written.
    const since = [...added, parseTimestamp(ready?.lastTransitionTime)].map((at) => at ?? Infinity);
    return Math.min(wallMs, ...since) + evictAfterMs;
  });
  return Math.min(...ends) - wallMs;
}

/** A signal that every cache shows, and that counts by its own time; others are left to the drill. */
function whyInMaintenance({ maintenance }: NodePolicy, run: Run, name: string): string | undefined {
  if (maintenance === undefined) return undefined;
  const leftAt = (wallMs: number): number => {
    const ends = versionsOf(run, name).map((node) =>
      node === undefined ? -Infinity : maintenanceEndMs(maintenance, node, wallMs),
    );
    return Math.min(...ends) - wallMs;
  };
  // A signal whose time was in the future counts from when it was seen, also after the clock was stepped.
  const leftMs = Math.min(leftAt(run.process.nowMs()), leftAt(run.process.machine.steadyWallMs()));
  return leftMs > marginMs ? `the node is in maintenance for ${Math.round(leftMs / 1_000)} s more` : undefined;
}

/** By wall time. A time in the future is none at which anything began. */
function maintenanceEndMs(
  { conditions, taints, maxDurationMs }: MaintenanceRule,
  node: NodeView,
  wallMs: number,
): number {
  const stamps = [
    ...node.conditions.filter(({ type, status }) => status === 'True' && conditions.includes(type)),
    ...node.taints
      .filter(({ key }) => taints.includes(key))
      .map(({ timeAdded }) => ({ lastTransitionTime: timeAdded })),
  ].flatMap(({ lastTransitionTime }) => parseTimestamp(lastTransitionTime) ?? []);
  return Math.max(...stamps.filter((atMs) => atMs <= wallMs + clockSkewMs).map((atMs) => atMs + maxDurationMs));
}

function isWorse({ manager }: Run, line: RequestLine): boolean {
  if (line.resource === 'pods' || isUnknown(line)) return true;
  const before = manager.lifecycle.stages.nodes.get(line.name)?.taints ?? [];
  // Of a list that is longer than is used the controller knows its own taints.
  return diffTaints((line.taints ?? []).filter(isOwnTaint), before).add.length > 0;
}

/** The node that exists and that a write to a node, or to a pod that is not over, is about. */
function nodeOf({ manager }: Run, { resource, name }: RequestLine): string | undefined {
  const { nodes, pods } = manager.informers;
  const pod = resource === 'pods' ? pods.store.get(objectKey('default', name)) : undefined;
  const node = pod === undefined || isOver(pod) ? undefined : pod.nodeName;
  const subject = resource === 'nodes' ? name : node;
  return subject === undefined || nodes.store.get(subject) === undefined ? undefined : subject;
}

export function isUnknown({ verb, resource, subresource }: RequestLine): boolean {
  return verb === 'patch' && resource === 'nodes' && subresource === 'status';
}

export function isOver({ terminating, phase }: PodView): boolean {
  return terminating || phase === 'Succeeded' || phase === 'Failed';
}
