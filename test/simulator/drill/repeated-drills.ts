// Drills in which something happens a second time: what the controller remembers of the first time may not count again.
import type { Random } from '../../../src/machinery/ports/random.ts';
import { oneOf } from '../../../src/simulator/draw.ts';
import type { PlannedFault, WorldFault } from '../faults/world-fault.ts';
import { drawNodes, type Drill, type DrillCluster, isPathFailure, silenceOf, tailMs } from './drill-plan.ts';
import { leaseReadMs, retriedMs } from './write-drills.ts';

/** The nodes have renewed their leases and sent their status, and their recovery is written. */
const recoveredMs = 40_000;
/** Until nodes that failed together are all silent, and their class is known. */
const classifiedMs = 20_000;
/** By then a node that is silent from the beginning is Unknown and has its taints. */
const taintedMs = 15_000;
/** The longest toleration that is waited for. */
const toleratedMs = 75_000;
/** The longest hold of a deletion while the lease of its node is renewed. */
const renewedHoldMs = 300_000;
/** A renewal, until the controller knows it. */
const renewedMs = 15_000;

/** The lease of a node cannot be read in two silences, one after the other: each time the node is held. */
export function planTwoUnreadLeases(random: Random, cluster: DrillCluster): Drill | undefined {
  const [name] = drawNodes(random, cluster);
  if (name === undefined) return undefined;
  const silentMs = cluster.graceMs + cluster.leaseHoldMs + leaseReadMs;
  const durationMs = 2 * silentMs + recoveredMs + tailMs;
  const answer = oneOf(random, [403, 503] as const);
  const fault = { kind: 'stuck-object', name, verbs: ['get'], part: 'any', answer } as const;
  const acts: PlannedFault[] = [
    { atMs: 50, forMs: durationMs, fault },
    silenceOf([name], 100, silentMs),
    silenceOf([name], 100 + silentMs + recoveredMs, silentMs),
  ];
  const stuckMs = cluster.leaseHoldMs + leaseReadMs;
  return { name: 'two-unread-leases', acts, durationMs, stuck: [name], stuckMs, unread: name };
}

/**
 * Of the nodes that a path failure held, one is still silent when the next path failure begins: that one does not hold it.
 * Until then its pods could not be marked.
 */
export function planTwoPathFailures(_random: Random, cluster: DrillCluster): Drill | undefined {
  const { nodes, graceMs, pathFailureHoldMs, withPods } = cluster;
  const names = nodes.slice(1).map(({ name }) => name);
  const stays = names.find((name) => withPods.has(name));
  const others = names.filter((name) => name !== stays);
  if (stays === undefined || !isPathFailure(others, nodes)) return undefined;
  const firstMs = graceMs + classifiedMs;
  const secondAtMs = firstMs + recoveredMs;
  const acceptedMs = secondAtMs + graceMs + classifiedMs;
  const byMs = acceptedMs + retriedMs + 10_000;
  // The second hold is in force to the end: it counts from the first silence, up to 10 s before the grace period has passed.
  if (pathFailureHoldMs < byMs - secondAtMs - graceMs + 15_000) return undefined;
  const durationMs = byMs + 2_000;
  const refusal = { kind: 'error-answers', code: 503, from: 'server', verb: 'patch', resource: 'pods' } as const;
  const acts: PlannedFault[] = [
    { atMs: 50, forMs: durationMs, fault: { kind: 'settings', change: { nodeEvictionRate: 0 } } },
    { atMs: 50, forMs: acceptedMs, fault: { ...refusal, retryAfterMs: undefined, rate: 1 } },
    silenceOf([stays], 100, durationMs),
    silenceOf(others, 100, firstMs),
    silenceOf(others, secondAtMs, durationMs - secondAtMs),
  ];
  const held = { nodes: [stays], untilMs: 0, byMs };
  return { name: 'two-path-failures', acts, durationMs, stuck: [], mayBeLate: true, held };
}

/**
 * A silent node renews its lease for a short time, and again much later, while its pods cannot be deleted: the time in between
 * is no part of the hold. Its status is silent throughout.
 */
export function planTwoRenewals(random: Random, cluster: DrillCluster): Drill | undefined {
  const names = drawNodes(random, cluster).slice(0, 1);
  const [node] = names;
  if (node === undefined) return undefined;
  const firstMs = cluster.graceMs + taintedMs + toleratedMs;
  const endsMs = firstMs + 25_000;
  const againMs = endsMs + renewedHoldMs;
  const acceptedMs = againMs + renewedMs;
  const durationMs = acceptedMs + retriedMs + tailMs;
  const silence = (heartbeat: 'both' | 'status', atMs: number, untilMs: number): PlannedFault => {
    const fault: WorldFault = { kind: 'node', names, fault: { kind: 'silence', heartbeat } };
    return { atMs, forMs: untilMs - atMs, fault };
  };
  const refusal = { kind: 'error-answers', code: 503, from: 'server', verb: 'delete', resource: 'pods' } as const;
  const acts: PlannedFault[] = [
    { atMs: 50, forMs: acceptedMs, fault: { ...refusal, retryAfterMs: undefined, rate: 1 } },
    silence('status', 100, durationMs),
    silence('both', 100, firstMs),
    silence('both', endsMs, againMs),
  ];
  const renews = { node, fromMs: againMs };
  return { name: 'two-renewals', acts, durationMs, stuck: [node], mayBeLate: true, renews };
}
