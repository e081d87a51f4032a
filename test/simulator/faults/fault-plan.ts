// The faults of one run, drawn from its seed: a subset of all kinds, each with a rate of its own (swarm testing), because a
// run with every kind at once hides what a few of them cause together.
import type { ResourceName } from '../../../src/machinery/api/resources.ts';
import type { Fault } from '../../../src/hollow-cluster/kubelet/faults/fault.ts';
import type { Random } from '../../../src/machinery/ports/random.ts';
import type { ClusterPlan } from '../../../src/simulator/cluster/cluster-plan.ts';
import { between, chance, oneOf, wholeBetween } from '../../../src/simulator/draw.ts';
import type { Verb } from '../../../src/simulator/network/network.ts';
import type { Direction, PlannedFault, RandomFaultKind, WorldFault } from './world-fault.ts';

/** Every name that faults refer to. */
interface Names {
  readonly nodes: readonly string[];
  readonly zones: readonly (readonly string[])[];
  readonly zoneNames: readonly string[];
  readonly replicas: readonly string[];
  readonly servers: readonly string[];
}

type Draw = (random: Random, names: Names) => WorldFault;

const kindShare = 0.3;
const directions: readonly Direction[] = ['both', 'requests', 'responses', 'frames'];
const manners = ['lose', 'reset'] as const;
const watched: readonly ResourceName[] = ['nodes', 'pods', 'leases'];
const verbs: readonly Verb[] = ['get', 'list', 'watch', 'create', 'replace', 'patch', 'delete'];

const draws: Readonly<Record<RandomFaultKind, Draw>> = {
  partition: (random, { replicas }) => ({
    kind: 'partition',
    process: oneOf(random, [...replicas, 'fleet']),
    direction: oneOf(random, directions),
    manner: oneOf(random, manners),
  }),
  'slow-network': (random, { replicas }) => ({
    kind: 'slow-network',
    process: oneOf(random, [...replicas, 'fleet']),
    direction: oneOf(random, directions),
    msMax: oneOf(random, [50, 1_000, 8_000, 20_000]),
  }),
  'server-down': (random, { servers }) => ({ kind: 'server-down', server: oneOf(random, servers) }),
  'all-servers-down': () => ({ kind: 'all-servers-down' }),
  'cache-lag': (random, { servers }) => ({
    kind: 'cache-lag',
    server: oneOf(random, servers),
    ms: oneOf(random, [500, 5_000, 30_000]),
  }),
  compaction: (random, { servers }) => ({ kind: 'compaction', server: oneOf(random, servers) }),
  'watches-ended': (random, { servers }) => ({ kind: 'watches-ended', server: oneOf(random, servers) }),
  'no-bookmarks': (random, { servers }) => ({ kind: 'no-bookmarks', server: oneOf(random, servers) }),
  'duplicate-frames': (random) => ({ kind: 'duplicate-frames', rate: between(random, 0.05, 1) }),
  'undecodable-objects': (random) => ({
    kind: 'undecodable-objects',
    resource: oneOf(random, watched),
    share: oneOf(random, [0.1, 0.4, 1]),
  }),
  'error-answers': drawErrorAnswers,
  hang: (random) => ({ kind: 'hang', verb: oneOf(random, verbs), resource: oneOf(random, watched) }),
  'ambiguous-writes': (random) => ({
    kind: 'ambiguous-writes',
    manner: oneOf(random, manners),
    rate: oneOf(random, [0.1, 0.5, 1]),
  }),
  'clock-step': (random, { replicas }) => ({
    kind: 'clock-step',
    replica: oneOf(random, replicas),
    byMs: oneOf(random, [-3_600_000, -30_000, -2_000, 2_000, 30_000, 3_600_000]),
  }),
  pause: (random, { replicas }) => ({ kind: 'pause', replica: oneOf(random, replicas) }),
  suspend: (random, { replicas }) => ({ kind: 'suspend', replica: oneOf(random, replicas) }),
  kill: (random, { replicas }) => ({ kind: 'kill', replica: oneOf(random, replicas) }),
  terminate: (random, { replicas }) => ({ kind: 'terminate', replica: oneOf(random, replicas) }),
  restore: (random) => ({ kind: 'restore', ageMs: oneOf(random, [30_000, 60_000, 90_000]) }),
  node: (random, names) => ({ kind: 'node', names: drawNodes(random, names), fault: drawNodeFault(random) }),
  settings: (random) => ({
    kind: 'settings',
    change: oneOf(random, [
      { nodeMonitorGracePeriodMs: oneOf(random, [24_000, 50_000, 90_000]) },
      { nodeEvictionRate: oneOf(random, [0, 0.1, 1, 5]) },
      { nodeMonitorPeriodMs: oneOf(random, [1_000, 5_000]) },
      { unhealthyZoneThreshold: oneOf(random, [0.3, 0.55, 1]) },
    ]),
  }),
  'foreign-taint': (random, { nodes }) => ({
    kind: 'foreign-taint',
    node: oneOf(random, nodes),
    key: oneOf(random, ['example.com/maintenance', 'example.com/disk', 'node.kubernetes.io/out-of-service']),
    effect: oneOf(random, ['NoSchedule', 'NoExecute', 'PreferNoSchedule']),
  }),
  label: (random, { nodes }) => ({
    kind: 'label',
    node: oneOf(random, nodes),
    key: oneOf(random, ['example.com/team', 'kubernetes.io/os', 'beta.kubernetes.io/os']),
    value: oneOf(random, ['x', 'linux', 'windows']),
  }),
  'zone-move': (random, { nodes, zoneNames }) => ({
    kind: 'zone-move',
    node: oneOf(random, nodes),
    zone: oneOf(random, zoneNames),
  }),
  'delete-pods': (random) => ({ kind: 'delete-pods', count: wholeBetween(random, 1, 5) }),
  'recreate-node': (random, { nodes }) => ({ kind: 'recreate-node', node: oneOf(random, nodes) }),
  'stuck-object': (random, { nodes }) => ({
    kind: 'stuck-object',
    name: oneOf(random, nodes),
    verbs: oneOf(random, [['get'], ['patch'], ['get', 'patch']]),
    part: oneOf<'any' | 'status' | 'spec'>(random, ['any', 'status', 'spec']),
    answer: oneOf<'none' | number>(random, ['none', 403, 409, 429, 503]),
  }),
  'stalled-watch': (random) => ({
    kind: 'stalled-watch',
    resource: oneOf(random, watched),
    rate: oneOf(random, [0.1, 1]),
  }),
};

/** The faults between `fromMs` and `untilMs`, by time; all have ended by then. */
export function planFaults(
  random: Random,
  cluster: ClusterPlan,
  span: { readonly fromMs: number; readonly untilMs: number },
): readonly PlannedFault[] {
  const names = namesOf(cluster);
  const planned: PlannedFault[] = [];
  for (const draw of Object.values(draws)) {
    const isChosen = chance(random, kindShare);
    const meanGapMs = between(random, 15_000, 150_000);
    const meanMs = oneOf(random, [1_000, 10_000, 40_000, 100_000]);
    if (!isChosen) continue;
    for (let atMs = span.fromMs + exponential(random, meanGapMs); atMs < span.untilMs; ) {
      const forMs = Math.min(exponential(random, meanMs), span.untilMs - atMs);
      planned.push({ atMs: Math.round(atMs), forMs: Math.round(forMs), fault: draw(random, names) });
      atMs += exponential(random, meanGapMs);
    }
  }
  return planned.sort((a, b) => a.atMs - b.atMs);
}

function namesOf({ nodes, replicas, servers }: ClusterPlan): Names {
  const zoneNames = [...new Set(nodes.map(({ zone }) => zone))];
  return {
    nodes: nodes.map(({ name }) => name),
    zones: zoneNames.map((zone) => nodes.filter((node) => node.zone === zone).map(({ name }) => name)),
    zoneNames,
    replicas: Array.from({ length: replicas }, (_, index) => `replica-${index + 1}`),
    servers: Array.from({ length: servers }, (_, index) => `server-${index + 1}`),
  };
}

function exponential(random: Random, mean: number): number {
  return -Math.log(1 - random.next()) * mean;
}

function drawErrorAnswers(random: Random): WorldFault {
  const code = oneOf(random, [403, 404, 409, 429, 500, 503, 504]);
  const mayRetry = code === 429 || code === 503;
  return {
    kind: 'error-answers',
    code,
    from: oneOf(random, ['proxy', 'server']),
    verb: oneOf(random, [...verbs, 'any']),
    resource: oneOf(random, [...watched, 'any']),
    retryAfterMs: mayRetry ? oneOf(random, [undefined, 1_000, 10_000, 60_000]) : undefined,
    rate: oneOf(random, [0.1, 0.5, 1]),
  };
}

/** One node, some, a zone, or all. */
function drawNodes(random: Random, { nodes, zones }: Names): readonly string[] {
  const some = nodes.filter(() => chance(random, 0.3));
  return oneOf(random, [[oneOf(random, nodes)], some.length > 0 ? some : nodes, oneOf(random, zones), nodes]);
}

function drawNodeFault(random: Random): Fault {
  return oneOf<Fault>(random, [
    { kind: 'silence', heartbeat: oneOf(random, ['lease', 'status', 'both']) },
    {
      kind: 'partition',
      direction: oneOf(random, ['all', 'writes', 'watch']),
      manner: oneOf(random, ['silent', 'reset']),
    },
    { kind: 'flap', upMs: between(random, 5_000, 60_000), downMs: between(random, 5_000, 90_000), phase: 'hash' },
    {
      kind: 'lag',
      delayMs: oneOf(random, [100, 5_000, 15_000]),
      jitterMs: 1_000,
      on: oneOf(random, ['request', 'response']),
    },
    { kind: 'unhealthy', reason: 'runtime is down' },
    { kind: 'clock-skew', offsetMs: oneOf(random, [-3_600_000, -60_000, 60_000, 3_600_000]), driftMsPerHour: 0 },
    { kind: 'errors', code: oneOf(random, [429, 500, 503]), rate: between(random, 0.1, 1) },
    {
      kind: 'crash',
      of: oneOf(random, ['process', 'machine', 'delete-node']),
      downMs: between(random, 1_000, 120_000),
    },
    { kind: 'slow-termination', stopMs: oneOf(random, [20_000, 'never']) },
  ]);
}
