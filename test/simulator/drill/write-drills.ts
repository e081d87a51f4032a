// Drills in which requests of the controller are refused, hang or are answered late.
import type { Random } from '../../../src/machinery/ports/random.ts';
import { oneOf } from '../../../src/simulator/draw.ts';
import { lateAnswerMs } from '../faults/network-faults.ts';
import type { PlannedFault } from '../faults/world-fault.ts';
import { drawNodes, type Drill, type DrillCluster, silenceOf, stuckAnswer, tailMs } from './drill-plan.ts';

/** By then a node that is silent from the beginning is Unknown and has its NoSchedule taint. */
const unknownMs = 12_000;
const fastRate = 10;
/** Longest time of the read of a lease, and until it is read again. */
export const leaseReadMs = 35_000;
/** A lease is renewed every 10 s: the fourth renewal comes 2 s after the grace period, while the lease is read. */
const readGraceMs = 38_000;

/**
 * The rate of NoExecute taints is 0 while two nodes become silent, and is raised then. The write for one of them hangs,
 * and the first writes for the other one are refused: it gets its taint when it is retried.
 */
export function planStoppedTaints(random: Random, cluster: DrillCluster): Drill | undefined {
  const [stuck, refused] = drawNodes(random, cluster);
  if (stuck === undefined || refused === undefined) return undefined;
  const taintsFromMs = cluster.graceMs + unknownMs;
  const silentMs = taintsFromMs + 40_000;
  const durationMs = silentMs + tailMs;
  const rate = (nodeEvictionRate: number, atMs: number, forMs: number): PlannedFault => {
    return { atMs, forMs, fault: { kind: 'settings', change: { nodeEvictionRate } } };
  };
  const refusal = (name: string, answer: 'none' | 503, forMs: number): PlannedFault => {
    const fault = { kind: 'stuck-object', name, verbs: ['patch'], part: 'spec', answer } as const;
    return { atMs: taintsFromMs - 100, forMs, fault };
  };
  const acts = [
    rate(fastRate, 40, durationMs),
    rate(0, 50, taintsFromMs - 50),
    refusal(stuck, stuckAnswer('none', cluster), 25_000),
    refusal(refused, 503, 1_100),
    silenceOf([stuck, refused], 100, silentMs),
  ];
  return { name: 'stopped-taints', acts, durationMs, stuck: [stuck], taintsFromMs };
}

/** The lease of a silent node cannot be read: after the hold the cache decides. */
export function planUnreadLease(random: Random, cluster: DrillCluster): Drill | undefined {
  const [name] = drawNodes(random, cluster);
  if (name === undefined) return undefined;
  const { graceMs, leaseHoldMs } = cluster;
  const durationMs = graceMs + leaseHoldMs + leaseReadMs + tailMs;
  const answer = oneOf(random, ['none', 403, 503] as const);
  const fault = { kind: 'stuck-object', name, verbs: ['get'], part: 'any', answer } as const;
  const acts: PlannedFault[] = [{ atMs: 50, forMs: durationMs, fault }, silenceOf([name], 100, durationMs)];
  return { name: 'unread-lease', acts, durationMs, stuck: [name], stuckMs: leaseHoldMs + leaseReadMs, unread: name };
}

/** The labels of a node change again while the answer to the write that the first change needs is under way. */
export function planLateAnswers(random: Random, { nodes }: DrillCluster): Drill | undefined {
  if (nodes.length === 0) return undefined;
  const node = oneOf(random, nodes).name;
  const label = (value: string, atMs: number): PlannedFault => {
    return { atMs, forMs: 1, fault: { kind: 'label', node, key: 'kubernetes.io/os', value } };
  };
  const late = { kind: 'stuck-object', name: node, verbs: ['patch'], part: 'any', answer: 'late' } as const;
  const acts: PlannedFault[] = [{ atMs: 50, forMs: 10_000, fault: late }, label('windows', 100), label('linux', 2_000)];
  return { name: 'late-answers', acts, durationMs: 90_000, stuck: [], answersMs: lateAnswerMs };
}

/** While its lease is read the node renews it once, which the watch shows before the answer; then it is silent. */
export function planLateRead(random: Random, cluster: DrillCluster): Drill | undefined {
  const [name] = drawNodes(random, cluster);
  if (name === undefined) return undefined;
  const durationMs = 2 * readGraceMs + tailMs;
  const change = { nodeMonitorGracePeriodMs: readGraceMs };
  const silence = (atMs: number, untilMs: number): PlannedFault => {
    const fault = { kind: 'node', names: [name], fault: { kind: 'silence', heartbeat: 'both' } } as const;
    return { atMs, forMs: untilMs - atMs, fault };
  };
  const late = { kind: 'stuck-object', name, verbs: ['get'], part: 'any', answer: 'late' } as const;
  const acts: PlannedFault[] = [
    { atMs: 50, forMs: durationMs, fault: late },
    { atMs: 50, forMs: durationMs, fault: { kind: 'settings', change } },
    silence(100, 30_000),
    silence(40_100, durationMs),
  ];
  return { name: 'late-read', acts, durationMs, stuck: [name], stuckMs: lateAnswerMs + 1_000 };
}

/** The longest delay of a retry, whatever was refused before. */
export const retriedMs = 30_000;
/** By then a node that is silent from the beginning is Unknown and has its taints. */
const taintedMs = 15_000;
/** Until the token for a NoExecute taint, at the lowest rate, and the toleration of a pod. */
const pendingMs = 80_000;

/** Kinds of writes that are refused. */
const kinds = [
  { verb: 'patch', resource: 'nodes' },
  { verb: 'patch', resource: 'nodes' },
  { verb: 'patch', resource: 'pods' },
  { verb: 'delete', resource: 'pods' },
] as const;

/**
 * A proxy refuses the controller's writes of one kind, in some seeds for so long that retries are far apart, and then no
 * more: what is due is done within the longest delay of a retry. A node is silent, or has recovered meanwhile.
 */
export function planRefusedWrites(random: Random, cluster: DrillCluster): Drill | undefined {
  const names = drawNodes(random, cluster);
  const kind = oneOf(random, kinds);
  const code = oneOf(random, [403, 404, 409, 500, 503] as const);
  const refusedMs = oneOf(random, [30_000, 110_000, 170_000]);
  const recovers = oneOf(random, [false, true]) && kind.resource === 'nodes';
  if (names.length === 0) return undefined;
  const fromMs = recovers ? cluster.graceMs + taintedMs : 50;
  const acceptedFromMs = cluster.graceMs + taintedMs + refusedMs;
  const durationMs = acceptedFromMs + retriedMs + pendingMs + tailMs;
  const refusal: PlannedFault = {
    atMs: fromMs,
    forMs: acceptedFromMs - fromMs,
    fault: { kind: 'error-answers', code, from: 'proxy', ...kind, retryAfterMs: undefined, rate: 1 },
  };
  const silence = silenceOf(names, 100, recovers ? fromMs : durationMs);
  return { name: 'refused-writes', acts: [refusal, silence], durationMs, stuck: [], acceptedFromMs };
}
