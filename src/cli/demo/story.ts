// The story, scene by scene: what is done to the cluster, and what must be seen within which time. An expectation looks
// at the API, not at the controller; the few that ask about a decision say so.
import type { PodView } from '../../api/pod.ts';
import type { Decision } from '../../controller/decisions.ts';
import {
  allNodeNames,
  defaultTolerationSeconds,
  demoControllerOptions,
  kindOf,
  nodeNames,
  nodesPerZone,
  patienceSeconds,
  type PodKind,
  podsPerNode,
  zoneKey,
} from './cast.ts';
import type { Rehearsal } from './rehearsal.ts';

export interface Expectation {
  readonly what: string;
  /** Must become true within this time, from the start of the scene. */
  readonly withinMs?: number;
  /** Must stay true for this time, from when its turn comes. */
  readonly holdsForMs?: number;
  /** Undefined if it is so, else what is there instead. */
  readonly missing: (world: World) => string | undefined | Promise<string | undefined>;
}

export interface Scene {
  readonly title: string;
  readonly text: string;
  readonly act: (world: World) => void;
  readonly expectations: readonly Expectation[];
}

/** What expectations look at: the cluster, and what was decided so far. */
export interface World {
  readonly rehearsal: Rehearsal;
  readonly decisions: readonly Decision[];
  /** Remembered between scenes. */
  readonly notes: Map<string, number>;
  nowMs(): number;
}

const darkNode = 'a-07';
const darkInB = nodeNames('b', 14);
const quietMs = 3_000;
const outageWatchMs = 5_000;
const patienceToleranceMs = 2_500;
const { secondaryNodeEvictionRate, nodeEvictionRate } = demoControllerOptions;

function expectNone(names: readonly string[], what: string): string | undefined {
  return names.length === 0 ? undefined : `${names.length} ${what}: ${names.slice(0, 5).join(', ')}`;
}

const notReady = ({ rehearsal }: World, names: readonly string[]): readonly string[] =>
  names.filter((name) => rehearsal.ready(name) !== 'True');

function podsOfKind({ rehearsal }: World, node: string, kind: PodKind): readonly PodView[] {
  return rehearsal.podsOn(node).filter((pod) => kindOf(pod.name) === kind);
}

const staying = (pods: readonly PodView[]): readonly string[] =>
  pods.filter((pod) => !pod.terminating).map((pod) => pod.name);

function evictions({ decisions }: World): number {
  return decisions.filter(({ kind }) => kind === 'pod-evicted').length;
}

function taintedInB({ rehearsal }: World): number {
  return rehearsal.tainted(nodeNames('b'), 'NoExecute').length;
}

const healthy: Scene = {
  title: 'A healthy cluster',
  text: `${allNodeNames().length} nodes in 3 zones renew their leases every second; ${allNodeNames().length * podsPerNode} pods run on them.`,
  act: () => {},
  expectations: [
    {
      what: 'every node is Ready and carries none of our taints',
      withinMs: 20_000,
      missing: (world) =>
        expectNone(notReady(world, allNodeNames()), 'not Ready') ??
        expectNone(world.rehearsal.tainted(allNodeNames(), 'NoSchedule'), 'tainted'),
    },
    {
      what: 'every pod is Ready',
      withinMs: 30_000,
      missing: ({ rehearsal }) => {
        const unready = rehearsal.allPods().filter(({ ready }) => ready !== 'True');
        const expected = allNodeNames().length * podsPerNode;
        if (rehearsal.pods.store.size !== expected) return `${rehearsal.pods.store.size} pods instead of ${expected}`;
        return expectNone(
          unready.map(({ name }) => name),
          'not Ready',
        );
      },
    },
    {
      what: 'the controller has introduced itself to every node and has nothing left to write',
      withinMs: 30_000,
      missing: async (world) => {
        const writes = await world.rehearsal.controllerWrites();
        const before = world.notes.get('writes') ?? -1;
        const since = world.notes.get('writes-since') ?? world.nowMs();
        if (writes !== before) {
          world.notes.set('writes', writes);
          world.notes.set('writes-since', world.nowMs());
          return `${writes} writes and counting`;
        }
        return world.nowMs() - since >= 1_000 ? undefined : `${writes} writes, quiet for less than a second`;
      },
    },
    {
      what: `a quiet cluster costs no API write: none in ${quietMs / 1_000} s`,
      holdsForMs: quietMs,
      missing: async ({ rehearsal, notes }) => {
        const writes = (await rehearsal.controllerWrites()) - (notes.get('writes') ?? 0);
        return writes === 0 ? undefined : `${writes} writes`;
      },
    },
  ],
};

const oneDark: Scene = {
  title: `One node goes dark: ${darkNode}`,
  text: 'Its cable is pulled. It runs on, but nothing of it arrives any more.',
  act: ({ rehearsal }) => rehearsal.fleet.cutOff([darkNode]),
  expectations: [
    {
      what: `${darkNode} becomes Unknown and carries both taints`,
      withinMs: 9_000,
      missing: (world) => {
        const { rehearsal, notes } = world;
        if (rehearsal.ready(darkNode) !== 'Unknown') return `Ready is ${rehearsal.ready(darkNode)}`;
        if (!rehearsal.isTainted(darkNode, 'NoSchedule') || !rehearsal.isTainted(darkNode, 'NoExecute'))
          return 'a taint is missing';
        notes.set('tainted', world.nowMs());
        return undefined;
      },
    },
    {
      what: 'its pods are marked not ready, so that services leave them out',
      withinMs: 11_000,
      missing: ({ rehearsal }) =>
        expectNone(
          rehearsal
            .podsOn(darkNode)
            .filter(({ ready }) => ready !== 'False')
            .map(({ name }) => name),
          'still Ready',
        ),
    },
    {
      what: `its plain pods are sent away after the default ${defaultTolerationSeconds} s (300 s in a real cluster)`,
      withinMs: 15_000,
      missing: (world) => expectNone(staying(podsOfKind(world, darkNode, 'plain')), 'not deleted'),
    },
    {
      what: `the pod that tolerates ${patienceSeconds} s stays for now; those that tolerate for ever, DaemonSet pods among them, stay`,
      holdsForMs: 500,
      missing: (world) => {
        const kinds: readonly PodKind[] = ['patient', 'for-ever', 'daemon'];
        const gone = kinds.filter((kind) => staying(podsOfKind(world, darkNode, kind)).length !== 1);
        return expectNone(gone, 'gone');
      },
    },
  ],
};

const zoneDisrupted: Scene = {
  title: `Most of zone b goes dark: ${darkInB.length} of ${nodesPerZone} nodes`,
  text: `So many at once look like a fault of the zone: the rate drops from ${nodeEvictionRate} to ${secondaryNodeEvictionRate} taints a second.`,
  act: ({ rehearsal }) => rehearsal.fleet.cutOff(darkInB),
  expectations: [
    {
      what: 'all of them become Unknown and NoSchedule, which is not rationed',
      withinMs: 10_000,
      missing: ({ rehearsal }) =>
        expectNone(
          darkInB.filter((name) => !rehearsal.isTainted(name, 'NoSchedule')),
          'without the taint',
        ),
    },
    {
      what: 'the controller calls the zone partially disrupted and says so, with the arithmetic',
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
      what: `NoExecute taints in zone b come no faster than ${secondaryNodeEvictionRate} a second`,
      holdsForMs: 10_000,
      missing: (world) => {
        // Those that came while the zone still looked normal, one of each bucket's burst, and the slow rate since.
        const sinceMs = world.nowMs() - (world.notes.get('disrupted') ?? 0);
        const allowed = Math.ceil(nodeEvictionRate * 2) + 1 + Math.ceil((secondaryNodeEvictionRate * sinceMs) / 1_000);
        return taintedInB(world) <= allowed ? undefined : `${taintedInB(world)} nodes tainted, ${allowed} allowed`;
      },
    },
    {
      what: 'and they do come',
      withinMs: 30_000,
      missing: (world) => (taintedInB(world) >= 3 ? undefined : `${taintedInB(world)} nodes tainted`),
    },
    {
      what: `the patient pod of ${darkNode} leaves ${patienceSeconds} s after the taint, not before`,
      withinMs: 45_000,
      missing: (world) => {
        const waitedMs = world.nowMs() - (world.notes.get('tainted') ?? 0);
        const gone = staying(podsOfKind(world, darkNode, 'patient')).length === 0;
        if (!gone) return `it is still there after ${(waitedMs / 1_000).toFixed(1)} s`;
        const offMs = Math.abs(waitedMs - patienceSeconds * 1_000);
        return offMs <= patienceToleranceMs ? undefined : `it left after ${(waitedMs / 1_000).toFixed(1)} s`;
      },
    },
  ],
};

const everythingDark: Scene = {
  title: 'Every zone goes dark',
  text: 'All cables at once. A controller that is itself cut off sees exactly this, so now it must do nothing.',
  act: ({ rehearsal }) => rehearsal.fleet.cutOff(allNodeNames()),
  expectations: [
    {
      what: 'every node becomes Unknown',
      withinMs: 12_000,
      missing: ({ rehearsal }) =>
        expectNone(
          allNodeNames().filter((name) => rehearsal.ready(name) !== 'Unknown'),
          'not Unknown',
        ),
    },
    {
      what: 'the NoExecute taints are taken back, everywhere',
      withinMs: 15_000,
      missing: (world) => {
        world.notes.set('evictions', evictions(world));
        return expectNone(world.rehearsal.tainted(allNodeNames(), 'NoExecute'), 'still tainted');
      },
    },
    {
      what: `everything stops: for ${outageWatchMs / 1_000} s nothing is tainted and nobody is evicted`,
      holdsForMs: outageWatchMs,
      missing: (world) => {
        const evicted = evictions(world) - (world.notes.get('evictions') ?? 0);
        if (evicted > 0) return `${evicted} pods evicted`;
        return expectNone(world.rehearsal.tainted(allNodeNames(), 'NoExecute'), 'tainted');
      },
    },
  ],
};

const allBack: Scene = {
  title: 'Everything comes back',
  text: 'All cables are in again.',
  act: ({ rehearsal }) => rehearsal.fleet.bringBack(allNodeNames()),
  expectations: [
    {
      what: 'every node is Ready, without any taint of ours',
      withinMs: 20_000,
      missing: (world) =>
        expectNone(notReady(world, allNodeNames()), 'not Ready') ??
        expectNone(world.rehearsal.tainted(allNodeNames(), 'NoSchedule'), 'NoSchedule') ??
        expectNone(world.rehearsal.tainted(allNodeNames(), 'NoExecute'), 'NoExecute'),
    },
    {
      what: 'nobody waits in a line and no deletion is scheduled',
      withinMs: 20_000,
      missing: ({ rehearsal }) => {
        const { queues, evictor } = rehearsal.controller.lifecycle.stages;
        const waiting = queues.zones().reduce((sum, zone) => sum + (queues.get(zone)?.size ?? 0), 0);
        return waiting + evictor.scheduled().size === 0
          ? undefined
          : `${waiting} waiting, ${evictor.scheduled().size} scheduled`;
      },
    },
    {
      what: 'the pods that were evicted are gone, and every other pod is Ready again',
      withinMs: 30_000,
      missing: (world) => {
        const expected = allNodeNames().length * podsPerNode - evictions(world);
        if (world.rehearsal.pods.store.size !== expected)
          return `${world.rehearsal.pods.store.size} pods instead of ${expected}`;
        return expectNone(
          world.rehearsal
            .allPods()
            .filter(({ ready }) => ready !== 'True')
            .map(({ name }) => name),
          'not Ready',
        );
      },
    },
    {
      what: 'no pod that tolerates for ever was touched',
      holdsForMs: 100,
      missing: ({ rehearsal }) => {
        const left = rehearsal
          .allPods()
          .filter(({ name }) => kindOf(name) === 'daemon' || kindOf(name) === 'for-ever').length;
        return left === allNodeNames().length * 2 ? undefined : `${left} are left`;
      },
    },
  ],
};

export const story: readonly Scene[] = [healthy, oneDark, zoneDisrupted, everythingDark, allBack];
