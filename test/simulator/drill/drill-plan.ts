// The drill of a seed: a short story in a cluster that has settled, without any other fault. So it has narrow bounds:
// how late a write may be, and that nothing else is written.
import type { FlappingRule } from '../../../src/controller/model/policy.ts';
import type { Random } from '../../../src/machinery/ports/random.ts';
import { chance, oneOf } from '../../../src/simulator/draw.ts';
import type { PlannedFault } from '../faults/world-fault.ts';

/** The cluster as it is when the drill begins. */
export interface DrillCluster {
  /** Nodes that are ready. */
  readonly nodes: readonly { readonly name: string; readonly zone: string }[];
  /** Nodes on which a pod is ready. */
  readonly withPods: ReadonlySet<string>;
  /** Nodes that stay silent, by zone. */
  readonly silentIn: ReadonlyMap<string, number>;
  readonly leader: string;
  readonly servers: readonly string[];
  readonly graceMs: number;
  /** For how long a node whose lease cannot be read is held. */
  readonly leaseHoldMs: number;
  /** The wall clocks of replicas and kubelets agree, and did when statuses were posted: times that one wrote are compared with those of another. */
  readonly clocksAgree: boolean;
  /** The time by a clock that is right. */
  readonly wallMs: number;
  /** The longest hold of a path failure in this cluster. */
  readonly pathFailureHoldMs: number;
  /** Replicas that run. */
  readonly replicas: number;
  /** Labels of namespaces count too. */
  readonly namespaceAutonomy: boolean;
  /** A write that hangs keeps all others waiting until it times out. */
  readonly writesOneByOne: boolean;
}

/** The answer of a server to writes about one node, which are to keep no other node waiting. */
export function stuckAnswer<Answer>(drawn: Answer, { writesOneByOne }: DrillCluster): Answer | 503 {
  return drawn === 'none' && writesOneByOne ? 503 : drawn;
}

interface BudgetStory {
  readonly nodes: readonly string[];
  /** How long after its deletion was due a pod is held. */
  readonly timeoutMs: number;
  /** What its deletion may be late because of Retry-After, or a change of the leader. */
  readonly waitsMs: number;
  /** Evictions are allowed from this time on. */
  readonly allowedMs?: number;
  /** Nothing is deleted, and no budget asked. */
  readonly paused?: { readonly fromMs: number; readonly untilMs: number };
}

export interface Drill {
  readonly name: string;
  /** Times count from the beginning of the drill. */
  readonly acts: readonly PlannedFault[];
  readonly durationMs: number;
  /** Nodes whose requests fail: what they need may be late. */
  readonly stuck: readonly string[];
  /** By how much a stuck node may become Unknown too late; absent: no limit. */
  readonly stuckMs?: number;
  /** NoExecute taints are stopped until this time. */
  readonly taintsFromMs?: number;
  /** The rate of NoExecute taints changes until this time: each change may empty the bucket of a zone. */
  readonly ratesUntilMs?: number;
  /** Writes are refused until this time: what was due before is done after the longest delay of a retry. */
  readonly acceptedFromMs?: number;
  /** Answers to writes may take this long. */
  readonly answersMs?: number;
  /** The grace period changes at this time: a silence before is not noticed earlier. */
  readonly graceFromMs?: number;
  /** The leader changes: nothing else is late, but everything may be. */
  readonly mayBeLate?: boolean;
  /** No node can be read: the deletion of a pod that was bound a short time ago waits until the watch of nodes is newer. */
  readonly areNodesUnreadable?: boolean;
  /** A zone may be stopped, or a hold in force: NoExecute taints and marks may be late. */
  readonly mayBeHeld?: boolean;
  /** A silent node that is in planned maintenance until this time. */
  readonly maintenance?: { readonly node: string; readonly untilMs: number };
  /**
   * A silent node: it gets no NoExecute taint (`node`, `vetoed`), and its pods no mark either (`ready-pods`), or its pods of before are
   * not deleted (`asking-pods`), until it has been unhealthy for this time.
   */
  readonly detected?: {
    readonly node: string;
    readonly keeps: 'node' | 'vetoed' | 'ready-pods' | 'asking-pods';
    readonly evictAfterMs: number;
  };
  /** A silent node beyond the limit of its policy gets no NoExecute taint before this time. */
  readonly beyondLimit?: { readonly node: string; readonly notBeforeMs: number };
  /** A node that may be Unknown so long after its last heartbeat already, because its machine is off; `isInTime`: it must. */
  readonly proven?: { readonly node: string; readonly earliestMs: number; readonly isInTime: boolean };
  /** A node whose pods are marked when it reports NotReady for so long. */
  readonly notReady?: { readonly node: string; readonly afterMs: number };
  /** Pods of this node that complete are deleted so long after that, or so many are kept. */
  readonly collected?: { readonly node: string; readonly ageMs?: number; readonly kept?: number };
  /** A silent node whose pods are stuck so long after the end of their grace periods, until it sends heartbeats again. */
  readonly stuckPods?: { readonly node: string; readonly timeoutMs: number; readonly untilMs: number };
  /** A node that is annotated when its heartbeat is so old, until it sends one. */
  readonly warned?: { readonly node: string; readonly afterMs: number };
  /** Each of them is alone in the zone of its policy: it does not wait for a token. */
  readonly ownZones?: readonly string[];
  /** A machine that is switched off, which is proven from this time on; Infinity: never. */
  readonly fenced?: { readonly node: string; readonly provenMs: number };
  /** Nodes that report Ready=False and have no other fault, and whose pods the Eviction API does not let go. */
  readonly budget?: BudgetStory;
  /** The breaker stays closed to the second node for this time after the recovery of the first one. */
  readonly cooldown?: { readonly recovers: string; readonly waits: string; readonly forMs: number };
  /** Nothing that makes this node or its pods worse is written before this time. */
  readonly paused?: { readonly node: string; readonly untilMs: number };
  /** A node that is silent has its NoExecute taint by this time. */
  readonly taintedBy?: { readonly node: string; readonly byMs: number };
  /** One of these nodes, which are silent, may be emptied at once. */
  readonly places?: { readonly nodes: readonly string[] };
  readonly deletionRate?: { readonly nodes: readonly string[]; readonly perSecond: number };
  /** So many pods of these nodes, which are silent, may be evicted within an hour, which no drill takes. */
  readonly hourlyLimit?: { readonly nodes: readonly string[]; readonly max: number };
  /** Nodes whose pods cannot be deleted: the requests are denied. */
  readonly denied?: readonly string[];
  /** A node that recovers again and again, and is released by this time. */
  readonly flapped?: { readonly node: string; readonly rule: FlappingRule; readonly isReleasedByMs: number };
  /** Its lease cannot be read by name: it is not Unknown before the hold for that is over. */
  readonly unread?: string;
  /** A node with taints renews its lease from this time on, for less than a deletion may be held: its pods stay. */
  readonly renews?: { readonly node: string; readonly fromMs: number };
  /** Nodes that get no NoExecute taint and no mark before the first time, and their marks by the second at the latest. */
  readonly held?: { readonly nodes: readonly string[]; readonly untilMs: number; readonly byMs: number | undefined };
}

export type DrillPlan = (random: Random, cluster: DrillCluster) => Drill | undefined;

/** Nodes of one outage may have renewed last at different times within this. */
const windowMs = 12_000;
export const tailMs = 30_000;
const silent = { kind: 'partition', direction: 'all', manner: 'silent' } as const;
const graces = [24_000, 40_000, 50_000] as const;

const plans: readonly DrillPlan[] = [
  planSilence,
  planSilence,
  planStuckNode,
  planNotReady,
  planGone,
  planTaints,
  planOutage,
  planPathFailure,
  planBlip,
  planStalledWatch,
  planSecondSilence,
  planStuckNode,
  planOldLeases,
  planUnseenNode,
  planRefusedMarks,
];

/** Undefined where the cluster is too small for what was drawn. */
export function planDrill(random: Random, cluster: DrillCluster): Drill | undefined {
  return oneOf(random, plans)(random, cluster);
}

/** One or two nodes, such that no zone is disrupted. */
export function drawNodes(random: Random, { nodes, silentIn }: DrillCluster): readonly string[] {
  const counts = new Map<string, number>();
  const chosen: string[] = [];
  for (const { name, zone } of nodes.toSorted(() => random.next() - 0.5)) {
    const isLast = nodes.filter((node) => node.zone === zone).length - (counts.get(zone) ?? 0) < 2;
    const unready = (silentIn.get(zone) ?? 0) + (counts.get(zone) ?? 0);
    if (isLast || unready >= 2 || chosen.length >= 2) continue;
    counts.set(zone, (counts.get(zone) ?? 0) + 1);
    chosen.push(name);
  }
  return chance(random, 0.3) ? chosen.slice(0, 1) : chosen;
}

export function silenceOf(names: readonly string[], atMs: number, forMs: number): PlannedFault {
  return { atMs, forMs, fault: { kind: 'node', names, fault: silent } };
}

/** Nodes are silent and return; at the same moment settings may change. */
function planSilence(random: Random, cluster: DrillCluster): Drill | undefined {
  const names = drawNodes(random, cluster);
  const graceMs = oneOf(random, [cluster.graceMs, ...graces]);
  const forMs = graceMs + oneOf(random, [15_000, 40_000, 110_000]);
  const change = { nodeMonitorGracePeriodMs: graceMs, nodeEvictionRate: oneOf(random, [0.2, 1, 5]) };
  const durationMs = forMs + tailMs;
  const settings: PlannedFault = { atMs: 200, forMs: durationMs, fault: { kind: 'settings', change } };
  const byMs = oneOf(random, [-3_600_000, -30_000]);
  const step: PlannedFault = { atMs: 300, forMs: 1, fault: { kind: 'clock-step', replica: cluster.leader, byMs } };
  const acts = [
    silenceOf(names, 100, forMs),
    ...(chance(random, 0.5) ? [settings] : []),
    ...(chance(random, 0.3) ? [step] : []),
  ];
  return names.length === 0 ? undefined : { name: 'silence', acts, durationMs, stuck: [] };
}

/** Requests about one of two silent nodes fail: the other one is not affected. */
function planStuckNode(random: Random, cluster: DrillCluster): Drill | undefined {
  const [stuck, other] = drawNodes(random, cluster);
  if (stuck === undefined || other === undefined) return undefined;
  const forMs = cluster.graceMs + oneOf(random, [15_000, 70_000]);
  const durationMs = forMs + tailMs;
  const verbs = oneOf(random, [['get'], ['patch'], ['patch']] as const);
  const part = oneOf(random, ['any', 'spec', 'spec'] as const);
  const drawn = oneOf(random, ['none', 403, 409, 429, 503] as const);
  const answer = verbs[0] === 'patch' ? stuckAnswer(drawn, cluster) : drawn;
  // From the beginning, or when the node has its taints: then their removal is stuck.
  const laterMs = verbs[0] === 'get' ? 50 : cluster.graceMs + 14_000;
  const atMs = oneOf(random, [50, laterMs]);
  const refusal: PlannedFault = {
    atMs,
    forMs: durationMs,
    fault: { kind: 'stuck-object', name: stuck, verbs, part, answer },
  };
  // Both are due in the same pass, so their leases are read together.
  const graceFromMs = verbs[0] === 'get' && cluster.graceMs > 30_000 ? 37_000 : 0;
  const change = { nodeMonitorGracePeriodMs: 24_000 };
  const shorter: PlannedFault = { atMs: graceFromMs, forMs: durationMs, fault: { kind: 'settings', change } };
  // The stuck node returns first, so that its recovery is stuck when the other one recovers.
  const silences = [silenceOf([stuck], 100, forMs - 200), silenceOf([other], 100, forMs)];
  const acts = [refusal, ...silences, ...(graceFromMs > 0 ? [shorter] : [])];
  return { name: 'stuck-node', acts, durationMs, stuck: [stuck], graceFromMs };
}

/** A node reports that it is not ready, and then becomes silent. */
function planNotReady(random: Random, cluster: DrillCluster): Drill | undefined {
  const names = drawNodes(random, cluster);
  const silentAtMs = oneOf(random, [30_000, 90_000]);
  const forMs = silentAtMs + cluster.graceMs + oneOf(random, [30_000, 80_000]);
  const unhealthy: PlannedFault = {
    atMs: 100,
    forMs,
    fault: { kind: 'node', names, fault: { kind: 'unhealthy', reason: 'runtime is down' } },
  };
  const acts = [unhealthy, silenceOf(names, silentAtMs, forMs - silentAtMs)];
  return names.length === 0 ? undefined : { name: 'not-ready', acts, durationMs: forMs + tailMs, stuck: [] };
}

/** A node is deleted; its pods are collected. */
function planGone(random: Random, cluster: DrillCluster): Drill | undefined {
  const [name] = drawNodes(random, cluster);
  if (name === undefined) return undefined;
  const fault = { kind: 'recreate-node', node: name } as const;
  return { name: 'gone', acts: [{ atMs: 100, forMs: 150_000, fault }], durationMs: 150_000 + tailMs, stuck: [] };
}

/** A user adds NoExecute taints, of which one may have an old time, and removes them one after the other. */
function planTaints(random: Random, cluster: DrillCluster): Drill | undefined {
  const [name] = drawNodes(random, cluster);
  if (name === undefined) return undefined;
  const ageSeconds = oneOf(random, [0, 0, 45, 200]);
  const add = (key: string, atMs: number, forMs: number): PlannedFault => {
    return { atMs, forMs, fault: { kind: 'foreign-taint', node: name, key, effect: 'NoExecute', ageSeconds } };
  };
  const first = add('example.com/maintenance', 100, oneOf(random, [15_000, 50_000]));
  const second = add('example.com/disk', oneOf(random, [100, 5_000]), 90_000);
  return { name: 'taints', acts: [first, second], durationMs: 90_000 + tailMs, stuck: [] };
}

/** No node renews its lease. */
function planOutage(_random: Random, { nodes, graceMs }: DrillCluster): Drill | undefined {
  const forMs = graceMs + 60_000;
  const names = nodes.map(({ name }) => name);
  const acts = [silenceOf(names, 100, forMs)];
  const durationMs = forMs + tailMs;
  return names.length === 0 ? undefined : { name: 'outage', acts, durationMs, stuck: [], mayBeHeld: true };
}

/** True if most nodes are silent, and most nodes of more than one zone, where there are several. */
export function isPathFailure(names: readonly string[], nodes: DrillCluster['nodes']): boolean {
  const zones = Map.groupBy(nodes, ({ zone }) => zone);
  const struck = [...zones.values()].filter((all) =>
    isMost(
      all.filter(({ name }) => names.includes(name)),
      all,
    ),
  ).length;
  return names.length >= 3 && isMost(names, nodes) && (struck > 1 || zones.size === 1);
}

function isMost(some: readonly unknown[], all: readonly unknown[]): boolean {
  return some.length >= all.length * 0.65;
}

/** Most nodes of all zones become silent together; the leader may change meanwhile. */
function planPathFailure(random: Random, cluster: DrillCluster): Drill | undefined {
  const { nodes, graceMs, pathFailureHoldMs: holdMs, leader } = cluster;
  const names = nodes.slice(1).map(({ name }) => name);
  if (!isPathFailure(names, nodes)) return undefined;
  const seenMs = Math.min(holdMs, 70_000);
  const durationMs = graceMs + seenMs + 60_000;
  const isKilled = chance(random, 0.5) && cluster.clocksAgree;
  // The first half of them becomes Unknown late.
  const delayMs = isKilled && chance(random, 0.7) ? 25_000 : 0;
  const errors = names.slice(0, names.length / 2).map((name): PlannedFault => {
    const fault = { kind: 'stuck-object', name, verbs: ['patch'], part: 'status', answer: 503 } as const;
    return { atMs: 50, forMs: graceMs + delayMs, fault };
  });
  const killAtMs = graceMs + delayMs + 12_000;
  const kill: PlannedFault = { atMs: killAtMs, forMs: 1_000, fault: { kind: 'kill', replica: leader } };
  const untilMs = graceMs + holdMs - windowMs;
  const byMs = holdMs === seenMs && !isKilled ? graceMs + holdMs + windowMs + 25_000 : undefined;
  return {
    name: 'path-failure',
    acts: [silenceOf(names, 100, durationMs), ...(isKilled ? [kill] : []), ...(delayMs > 0 ? errors : [])],
    durationMs,
    stuck: [],
    mayBeLate: true,
    held: { nodes: names, untilMs, byMs },
  };
}

/** A node renews its lease again before Unknown could be written. */
function planBlip(random: Random, cluster: DrillCluster): Drill | undefined {
  const [name] = drawNodes(random, cluster);
  if (name === undefined) return undefined;
  const forMs = cluster.graceMs + oneOf(random, [2_000, 8_000]);
  const answer = oneOf(random, [403, 503] as const);
  const refusal: PlannedFault = {
    atMs: 50,
    forMs: forMs + 20_000,
    fault: { kind: 'stuck-object', name, verbs: ['patch'], part: 'any', answer },
  };
  return { name: 'blip', acts: [refusal, silenceOf([name], 100, forMs)], durationMs: forMs + 60_000, stuck: [name] };
}

/** The watch of nodes stalls while a node recovers. */
function planStalledWatch(random: Random, cluster: DrillCluster): Drill | undefined {
  const [name] = drawNodes(random, cluster);
  if (name === undefined) return undefined;
  const forMs = cluster.graceMs + oneOf(random, [12_000, 25_000]);
  const stall: PlannedFault = {
    atMs: forMs - 4_000,
    forMs: 100_000,
    fault: { kind: 'stalled-watch', resource: 'nodes', rate: 1 },
  };
  const acts = [silenceOf([name], 100, forMs), stall];
  return { name: 'stalled-watch', acts, durationMs: forMs + 150_000, stuck: [], mayBeLate: true };
}

/** A node renews its lease while it is Unknown, without a status, and becomes silent again: its pods are marked again. */
function planSecondSilence(random: Random, cluster: DrillCluster): Drill | undefined {
  const names = drawNodes(random, cluster).slice(0, 1);
  if (names.length === 0) return undefined;
  const firstMs = cluster.graceMs + 30_000;
  const secondMs = firstMs + 40_000;
  const durationMs = secondMs + cluster.graceMs + 60_000;
  const silence = (heartbeat: 'both' | 'status', forMs: number): PlannedFault => {
    return { atMs: 100, forMs, fault: { kind: 'node', names, fault: { kind: 'silence', heartbeat } } };
  };
  const acts = [
    silence('both', firstMs),
    silence('status', durationMs),
    silenceOf(names, secondMs, durationMs - secondMs),
  ];
  const held = { nodes: names, untilMs: 0, byMs: durationMs - 20_000 };
  return { name: 'second-silence', acts, durationMs, stuck: [], mayBeLate: true, held };
}

/** No node is silent, and no watch of leases shows it. */
function planOldLeases(random: Random, { servers, graceMs }: DrillCluster): Drill {
  const forMs = graceMs + 30_000;
  const lags = servers.map((server): PlannedFault => {
    return { atMs: 100, forMs, fault: { kind: 'cache-lag', server, ms: forMs } };
  });
  const stall: PlannedFault = { atMs: 100, forMs, fault: { kind: 'stalled-watch', resource: 'leases', rate: 1 } };
  const acts = chance(random, 0.5) ? lags : [stall];
  return { name: 'old-leases', acts, durationMs: 2 * forMs + tailMs, stuck: [], mayBeLate: true };
}

/** A node is deleted and registers again, which the watch of nodes does not show. */
function planUnseenNode(random: Random, cluster: DrillCluster): Drill | undefined {
  const [name] = drawNodes(random, cluster);
  if (name === undefined) return undefined;
  const recreated: PlannedFault = { atMs: 100, forMs: 8_000, fault: { kind: 'recreate-node', node: name } };
  const fault = { kind: 'stalled-watch', resource: 'nodes', rate: 1 } as const;
  const acts: PlannedFault[] = [recreated, { atMs: 5_000, forMs: 120_000, fault }];
  return { name: 'unseen-node', acts, durationMs: 180_000, stuck: [], mayBeLate: true };
}

/** The first marks of pods are refused. */
function planRefusedMarks(random: Random, cluster: DrillCluster): Drill | undefined {
  const names = drawNodes(random, cluster);
  const { graceMs } = cluster;
  const durationMs = graceMs + 80_000;
  const refusal = { kind: 'error-answers', code: 503, from: 'server', verb: 'patch', resource: 'pods' } as const;
  const errors: PlannedFault = {
    atMs: 50,
    forMs: graceMs + 4_000,
    fault: { ...refusal, retryAfterMs: undefined, rate: 0.7 },
  };
  const held = { nodes: names, untilMs: 0, byMs: graceMs + 60_000 };
  const acts = [errors, silenceOf(names, 100, durationMs)];
  return names.length === 0 ? undefined : { name: 'refused-marks', acts, durationMs, stuck: [], mayBeLate: true, held };
}
