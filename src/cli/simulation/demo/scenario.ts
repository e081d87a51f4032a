// The scenario of the demo: in each scene a fault and the expected results with their deadlines. Expectations read the API,
// not the controller, except those about decisions and queues.
import type { PodView } from '../../../machinery/api/pod.ts';
import type { Decision } from '../../../controller/model/decisions.ts';
import {
  allNodeNames,
  defaultTolerationSeconds,
  demoControllerOptions,
  edgeGraceMs,
  edgeLimit,
  edgeNodes,
  edgePool,
  kindOf,
  nodeNames,
  nodesPerZone,
  longTolerationSeconds,
  type PodKind,
  podsPerNode,
  zoneKey,
} from './cluster.ts';
import type { DemoEnvironment } from './environment.ts';

export interface Expectation {
  readonly what: string;
  /** Must become true within this time, measured from the start of the scene. */
  readonly withinMs?: number;
  /** Must stay true for this time, measured from when its check starts. */
  readonly holdsForMs?: number;
  /** Undefined if it is met, otherwise the observed state. */
  readonly missing: (world: World) => string | undefined | Promise<string | undefined>;
}

export interface Scene {
  readonly title: string;
  readonly text: string;
  readonly act: (world: World) => void;
  readonly expectations: readonly Expectation[];
}

/** The state that expectations read: the cluster, and the decisions so far. */
export interface World {
  readonly environment: DemoEnvironment;
  readonly decisions: readonly Decision[];
  /** Values that are kept between scenes. */
  readonly notes: Map<string, number>;
  nowMs(): number;
}

const unreachableNode = 'a-07';
const unreachableInB = nodeNames('b', 14);
const unreachableAtEdge = edgeNodes.slice(0, 3);
const quietMs = 3_000;
const outageWatchMs = 5_000;
const patienceToleranceMs = 2_500;
const { secondaryNodeEvictionRate, nodeEvictionRate } = demoControllerOptions;

export function expectNone(names: readonly string[], what: string): string | undefined {
  return names.length === 0 ? undefined : `${names.length} ${what}: ${names.slice(0, 5).join(', ')}`;
}

export const notReady = ({ environment }: World, names: readonly string[]): readonly string[] =>
  names.filter((name) => environment.ready(name) !== 'True');

function podsOfKind({ environment }: World, node: string, kind: PodKind): readonly PodView[] {
  return environment.podsOn(node).filter((pod) => kindOf(pod.name) === kind);
}

const staying = (pods: readonly PodView[]): readonly string[] =>
  pods.filter((pod) => !pod.terminating).map((pod) => pod.name);

/** Undefined if there are as many pods as expected, and all are Ready. */
function withUnreadyPods({ environment }: World, expected: number): string | undefined {
  const { size } = environment.pods.store;
  if (size !== expected) return `${size} pods instead of ${expected}`;
  const unready = environment.allPods().filter(({ ready }) => ready !== 'True');
  return expectNone(
    unready.map(({ name }) => name),
    'not Ready',
  );
}

function evictions({ decisions }: World): number {
  return decisions.filter(({ kind }) => kind === 'pod-evicted').length;
}

function taintedInB({ environment }: World): number {
  return environment.tainted(nodeNames('b'), 'NoExecute').length;
}

export const everyNodeIsHealthy: Expectation = {
  what: 'every node is Ready and has no taint of the controller',
  withinMs: 20_000,
  missing: (world) =>
    expectNone(notReady(world, allNodeNames()), 'not Ready') ??
    expectNone(world.environment.tainted(allNodeNames(), 'NoSchedule'), 'tainted'),
};

const healthy: Scene = {
  title: 'A healthy cluster',
  text: `${allNodeNames().length} nodes in 3 zones renew their leases every second; ${allNodeNames().length * podsPerNode} pods run on them.`,
  act: () => {},
  expectations: [
    everyNodeIsHealthy,
    {
      what: 'every pod is Ready',
      withinMs: 30_000,
      missing: (world) => withUnreadyPods(world, allNodeNames().length * podsPerNode),
    },
    {
      what: 'the controller has processed every node and has no writes left',
      withinMs: 30_000,
      missing: async (world) => {
        const writes = await world.environment.controllerWrites();
        const before = world.notes.get('writes') ?? -1;
        const since = world.notes.get('writes-since') ?? world.nowMs();
        if (writes !== before) {
          world.notes.set('writes', writes);
          world.notes.set('writes-since', world.nowMs());
          return `${writes} writes, still increasing`;
        }
        return world.nowMs() - since >= 1_000 ? undefined : `${writes} writes, the last less than a second ago`;
      },
    },
    {
      what: `a healthy cluster causes no API writes: none in ${quietMs / 1_000} s`,
      holdsForMs: quietMs,
      missing: async ({ environment, notes }) => {
        const writes = (await environment.controllerWrites()) - (notes.get('writes') ?? 0);
        return writes === 0 ? undefined : `${writes} writes`;
      },
    },
  ],
};

const oneNodeUnreachable: Scene = {
  title: `One node becomes unreachable: ${unreachableNode}`,
  text: 'Its network connection is cut. The node keeps running, but its heartbeats no longer reach the API server.',
  act: ({ environment }) => environment.fleet.cutOff([unreachableNode]),
  expectations: [
    {
      what: `${unreachableNode} becomes Unknown and gets both taints`,
      withinMs: 9_000,
      missing: (world) => {
        const { environment, notes } = world;
        if (environment.ready(unreachableNode) !== 'Unknown') return `Ready is ${environment.ready(unreachableNode)}`;
        if (
          !environment.isTainted(unreachableNode, 'NoSchedule') ||
          !environment.isTainted(unreachableNode, 'NoExecute')
        )
          return 'a taint is missing';
        notes.set('tainted', world.nowMs());
        return undefined;
      },
    },
    {
      what: 'its pods are marked NotReady, so that they are removed from the endpoints of their Services',
      withinMs: 11_000,
      missing: ({ environment }) =>
        expectNone(
          environment
            .podsOn(unreachableNode)
            .filter(({ ready }) => ready !== 'False')
            .map(({ name }) => name),
          'still Ready',
        ),
    },
    {
      what: `its pods with default tolerations are evicted after ${defaultTolerationSeconds} s (300 s in a real cluster)`,
      withinMs: 15_000,
      missing: (world) => expectNone(staying(podsOfKind(world, unreachableNode, 'default-toleration')), 'not deleted'),
    },
    {
      what: `the pod that tolerates the taint for ${longTolerationSeconds} s and those without a limit, DaemonSet pods included, stay`,
      holdsForMs: 500,
      missing: (world) => {
        const kinds: readonly PodKind[] = ['tolerates-30s', 'tolerates-forever', 'daemon'];
        const gone = kinds.filter((kind) => staying(podsOfKind(world, unreachableNode, kind)).length !== 1);
        return expectNone(gone, 'gone');
      },
    },
  ],
};

const zoneDisrupted: Scene = {
  title: `Most nodes of zone b become unreachable: ${unreachableInB.length} of ${nodesPerZone}, and ${unreachableAtEdge.length} of ${edgeNodes.length} of pool ${edgePool}`,
  text: `Zone b counts as disrupted: its eviction rate drops from ${nodeEvictionRate} to ${secondaryNodeEvictionRate} nodes/s. Pool ${edgePool} has a policy: a longer grace period, and a limit of ${edgeLimit} unhealthy node.`,
  act: ({ environment }) => environment.fleet.cutOff([...unreachableInB, ...unreachableAtEdge]),
  expectations: [
    {
      what: 'all of them get the NoSchedule taint, which is not rate-limited',
      withinMs: 10_000,
      missing: ({ environment }) =>
        expectNone(
          unreachableInB.filter((name) => !environment.isTainted(name, 'NoSchedule')),
          'without the taint',
        ),
    },
    {
      what: 'the controller reports the zone as partially disrupted',
      withinMs: 10_000,
      missing: (world) => {
        const found = world.decisions.some(
          (decision) =>
            decision.kind === 'zone-changed' && decision.zone === zoneKey('b') && decision.to === 'partially-disrupted',
        );
        if (found) world.notes.set('disrupted', world.nowMs());
        return found ? undefined : 'no such decision';
      },
    },
    {
      what: `NoExecute taints in zone b are limited to ${secondaryNodeEvictionRate} nodes/s`,
      holdsForMs: 10_000,
      missing: (world) => {
        // Those from before the zone state changed, the burst of each token bucket, and the secondary rate since then.
        const sinceMs = world.nowMs() - (world.notes.get('disrupted') ?? 0);
        const allowed = Math.ceil(nodeEvictionRate * 2) + 1 + Math.ceil((secondaryNodeEvictionRate * sinceMs) / 1_000);
        return taintedInB(world) <= allowed ? undefined : `${taintedInB(world)} nodes tainted, ${allowed} allowed`;
      },
    },
    {
      what: `the nodes of pool ${edgePool} become Unknown after the grace period of their policy, ${edgeGraceMs / 1_000} s`,
      withinMs: 25_000,
      missing: ({ environment, decisions }) => {
        const patient = decisions.flatMap((decision) =>
          decision.kind === 'node-silent' && decision.graceMs === edgeGraceMs ? [decision.node] : [],
        );
        return expectNone(
          unreachableAtEdge.filter((name) => !patient.includes(name) || environment.ready(name) !== 'Unknown'),
          'not Unknown after that time',
        );
      },
    },
    {
      what: `more than ${edgeLimit} is unhealthy, so the breaker of their policy opens`,
      withinMs: 25_000,
      missing: ({ decisions }) => {
        const isOpen = decisions.some((decision) => decision.kind === 'breaker-opened' && decision.policy === edgePool);
        return isOpen ? undefined : 'no such decision';
      },
    },
    {
      what: 'NoExecute taints continue at that rate',
      withinMs: 30_000,
      missing: (world) => (taintedInB(world) >= 3 ? undefined : `${taintedInB(world)} nodes tainted`),
    },
    {
      what: `the breaker holds further NoExecute taints and all evictions of pool ${edgePool}, so its pods stay`,
      holdsForMs: 500,
      missing: (world) => {
        const tainted = world.environment.tainted(edgeNodes, 'NoExecute');
        if (tainted.length > edgeLimit) return `${tainted.length} nodes tainted`;
        const emptied = unreachableAtEdge.filter(
          (node) => staying(podsOfKind(world, node, 'default-toleration')).length !== 2,
        );
        return expectNone(emptied, 'without its pods');
      },
    },
    {
      what: `the pod of ${unreachableNode} with tolerationSeconds ${longTolerationSeconds} is evicted ${longTolerationSeconds} s after the taint`,
      withinMs: 45_000,
      missing: (world) => {
        const waitedMs = world.nowMs() - (world.notes.get('tainted') ?? 0);
        const gone = staying(podsOfKind(world, unreachableNode, 'tolerates-30s')).length === 0;
        if (!gone) return `not evicted after ${(waitedMs / 1_000).toFixed(1)} s`;
        const offMs = Math.abs(waitedMs - longTolerationSeconds * 1_000);
        return offMs <= patienceToleranceMs ? undefined : `evicted after ${(waitedMs / 1_000).toFixed(1)} s`;
      },
    },
  ],
};

const allZonesUnreachable: Scene = {
  title: 'All zones become unreachable',
  text: 'All nodes are cut off at once. A network fault of the control plane looks the same, so evictions must stop.',
  act: ({ environment }) => environment.fleet.cutOff(allNodeNames()),
  expectations: [
    {
      what: 'every node becomes Unknown',
      withinMs: 15_000,
      missing: ({ environment }) =>
        expectNone(
          allNodeNames().filter((name) => environment.ready(name) !== 'Unknown'),
          'not Unknown',
        ),
    },
    {
      what: 'the NoExecute taints are removed from all nodes',
      withinMs: 18_000,
      missing: (world) => {
        world.notes.set('evictions', evictions(world));
        return expectNone(world.environment.tainted(allNodeNames(), 'NoExecute'), 'still tainted');
      },
    },
    {
      what: `evictions are stopped: for ${outageWatchMs / 1_000} s no node is tainted NoExecute and no pod is evicted`,
      holdsForMs: outageWatchMs,
      missing: (world) => {
        const evicted = evictions(world) - (world.notes.get('evictions') ?? 0);
        if (evicted > 0) return `${evicted} pods evicted`;
        return expectNone(world.environment.tainted(allNodeNames(), 'NoExecute'), 'tainted');
      },
    },
  ],
};

const allRecovered: Scene = {
  title: 'All nodes recover',
  text: 'All network connections are restored.',
  act: ({ environment }) => environment.fleet.reconnect(allNodeNames()),
  expectations: [
    {
      what: 'every node is Ready and has no taint of the controller',
      withinMs: 20_000,
      missing: (world) =>
        expectNone(notReady(world, allNodeNames()), 'not Ready') ??
        expectNone(world.environment.tainted(allNodeNames(), 'NoSchedule'), 'NoSchedule') ??
        expectNone(world.environment.tainted(allNodeNames(), 'NoExecute'), 'NoExecute'),
    },
    {
      what: 'the NoExecute taint queues are empty and no eviction is scheduled',
      withinMs: 20_000,
      missing: ({ environment }) => {
        const leader = environment.leader();
        if (leader === undefined) return 'no replica leads';
        const { queues, evictor } = leader.process.manager.lifecycle.stages;
        const waiting = queues.zones().reduce((sum, zone) => sum + (queues.get(zone)?.size ?? 0), 0);
        return waiting + evictor.scheduled().size === 0
          ? undefined
          : `${waiting} queued, ${evictor.scheduled().size} scheduled`;
      },
    },
    {
      what: 'the evicted pods are deleted, and every other pod is Ready again',
      withinMs: 30_000,
      missing: (world) => withUnreadyPods(world, allNodeNames().length * podsPerNode - evictions(world)),
    },
    {
      what: 'no pod that tolerates the taints without a limit was deleted',
      holdsForMs: 100,
      missing: ({ environment }) => {
        const left = environment
          .allPods()
          .filter(({ name }) => kindOf(name) === 'daemon' || kindOf(name) === 'tolerates-forever').length;
        return left === allNodeNames().length * 2 ? undefined : `${left} left`;
      },
    },
  ],
};

export const scenario: readonly Scene[] = [
  healthy,
  oneNodeUnreachable,
  zoneDisrupted,
  allZonesUnreachable,
  allRecovered,
];
