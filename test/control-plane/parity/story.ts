// The steps of the parity test: seven nodes in two zones and one that never posts a status; each pod covers one case. Each
// step continues from the state of the previous one.
import type { Toleration } from '../../../src/machinery/api/tolerations.ts';
import type { NodeFace, Observation } from './observation.ts';
import { carries, isDeleted, isUnknown, matching, sinceHeartbeat, sinceFirst } from './pace.ts';
import type { Step, World } from './side.ts';

/** Short for a fast test; both controllers have the same. */
export const graceMs = 5_000;
export const startupGraceMs = 6_000;
const patienceSeconds = 10;

const zones = { a: ['a0', 'a1', 'a2'], b: ['b0', 'b1', 'b2', 'b3'] } as const;
const merge = { contentType: 'application/merge-patch+json' } as const;
const pods = '/api/v1/namespaces/default/pods';
const strategic = { contentType: 'application/strategic-merge-patch+json' } as const;

const leave = { key: 'example.com/leave', value: 'now', effect: 'NoExecute' } as const;
const always: readonly Toleration[] = [{ operator: 'Exists' }];

/** Tolerates NoExecute taints of these keys for these seconds. */
function patient(seconds: number, ...keys: readonly string[]): readonly Toleration[] {
  const each = { operator: 'Exists', effect: 'NoExecute', tolerationSeconds: seconds } as const;
  return keys.map((key) => ({ ...each, key: key.includes('/') ? key : `node.kubernetes.io/${key}` }));
}

const sick = (seconds: number): readonly Toleration[] => patient(seconds, 'unreachable', 'not-ready');

async function patchNode({ client }: World, name: string, patch: object): Promise<void> {
  await client.must('PATCH', `/api/v1/nodes/${name}`, patch, strategic);
}

/** Taints by another client; replaces the whole list, as `kubectl taint` does. */
async function taint(world: World, name: string, ...taints: readonly object[]): Promise<void> {
  await patchNode(world, name, { spec: { taints } });
}

async function replaceConditions({ client }: World, name: string, conditions: readonly object[] | null): Promise<void> {
  await client.must('PATCH', `/api/v1/nodes/${name}/status`, { status: { conditions } }, merge);
}

async function stopHeartbeats({ cluster }: World, ...names: readonly string[]): Promise<void> {
  for (const name of names) cluster.stopHeartbeats(name);
}

async function resumeHeartbeats({ cluster }: World, ...names: readonly string[]): Promise<void> {
  for (const name of names) await cluster.resumeHeartbeats(name);
}

const ready = ({ nodes }: Observation, name: string): string => String(nodes[name]?.conditions['Ready']?.['status']);

const has = ({ nodes }: Observation, name: string, taint: string): boolean =>
  nodes[name]?.taints.some((line) => line === taint || line === `${taint} stamped`) === true;

const isClean = ({ taints }: NodeFace): boolean => taints.length === 0;

const isGone = ({ pods }: Observation, name: string): boolean => pods[name]?.presence === 'gone';

const recorded = ({ events }: Observation, end: string): boolean =>
  Object.keys(events).some((line) => line.endsWith(end));

/** Every one of these nodes has both unreachable taints. */
const unreachable = (seen: Observation, ...names: readonly string[]): boolean =>
  names.every((name) => has(seen, name, 'unreachable:NoSchedule') && has(seen, name, 'unreachable:NoExecute'));

/** Every one of these nodes is Unknown with the NoSchedule taint. */
const unknown = (seen: Observation, ...names: readonly string[]): boolean =>
  names.every((name) => ready(seen, name) === 'Unknown' && has(seen, name, 'unreachable:NoSchedule'));

/** Creates the nodes and pods that exist before the controller starts. */
async function populate(world: World): Promise<void> {
  const { cluster, client } = world;
  const modern = { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' };
  for (const name of [...zones.a, ...zones.b]) {
    await cluster.addNode(name, name.charAt(0), name === 'b0' ? {} : { labels: modern });
  }
  await patchNode(world, 'b1', { metadata: { labels: { 'beta.kubernetes.io/os': 'plan9' } } });

  // Pods that are evicted at once are not Ready from the start: otherwise marking and deleting them would race.
  await cluster.addPod('a0-intolerant', 'a0', [], { ready: 'False' });
  await cluster.addPod('a0-at-once', 'a0', sick(0), { ready: 'False' });
  await cluster.addPod('a0-slow-to-leave', 'a0', [], { graceSeconds: 600, ready: 'False' });
  await cluster.addPod('a0-terminating', 'a0', [], { graceSeconds: 600, ready: 'False' });
  await cluster.addPod('a0-patient', 'a0', sick(patienceSeconds));
  await cluster.addPod('a0-very-patient', 'a0', sick(600));
  await cluster.addPod('a0-always', 'a0', always);
  await cluster.addPod('a0-leaving', 'a0', always, { graceSeconds: 600 });
  await cluster.addPod('a0-done', 'a0', always, { phase: 'Succeeded', ready: 'False' });
  await cluster.addPod('a0-starting', 'a0', always, { phase: 'Pending', ready: undefined });
  for (const name of ['a0-terminating', 'a0-leaving']) await client.must('DELETE', `${pods}/${name}`);
  await cluster.addPod('a1-always', 'a1', always);
  await cluster.addPod('b0-not-ready-only', 'b0', patient(600, 'not-ready'), { ready: 'False' });
  await cluster.addPod('b0-very-patient', 'b0', sick(600));
  await cluster.addPod('b1-very-patient', 'b1', sick(600));
  await cluster.addPod('b3-intolerant', 'b3', []);
  await cluster.addPod('b3-patient', 'b3', [...sick(600), ...patient(4, 'example.com/leave')]);
  await cluster.addPod('b3-of-two-minds', 'b3', [
    ...patient(600, 'example.com/leave'),
    ...patient(3, 'example.com/hurry'),
  ]);
  await cluster.addPod('b3-always', 'b3', always);
}

const beginning: readonly Step[] = [
  {
    name: 'nodes that exist before the controller are registered, and get the beta labels',
    act: async (world) => {
      await populate(world);
      await world.startController();
    },
    isDone: (seen) => Object.values(seen.nodes).every(isClean) && recorded(seen, 'Registered Node b3 in Controller'),
  },
  {
    name: 'a node registers and posts nothing',
    act: async ({ cluster }) => {
      await cluster.addNode('no-status', 'a', { posts: false });
      await cluster.addPod('no-status-always', 'no-status', always);
      await cluster.addPod('no-status-patient', 'no-status', sick(6));
    },
    isDone: (seen) => recorded(seen, 'Registered Node no-status in Controller'),
    quietMs: 2_000,
  },
  {
    name: 'its startup grace period ends',
    act: async () => {},
    isDone: (seen) => unreachable(seen, 'no-status'),
    quietMs: 1_500,
    paces: [
      {
        what: 'from birth to Unknown',
        // creationTimestamp has whole seconds.
        atLeastMs: startupGraceMs - 1_000,
        tookMs: sinceFirst(matching('nodes', 'no-status'), matching('nodes', 'no-status', isUnknown)),
      },
    ],
  },
  {
    name: 'it is deleted while the toleration of its pod runs',
    act: ({ cluster }) => cluster.removeNode('no-status'),
    isDone: (seen) => recorded(seen, 'Removing Node no-status from Controller'),
    quietMs: 5_000,
  },
];

const conditionsAndTaints: readonly Step[] = [
  {
    name: 'kubelets report pressure, a node is cordoned, a label changes',
    act: async (world) => {
      await world.cluster.post('b0', { MemoryPressure: 'True' });
      await world.cluster.post('b1', { DiskPressure: 'True' });
      await world.cluster.post('b2', { PIDPressure: 'True', NetworkUnavailable: 'True' });
      await world.cluster.post('a2', { MemoryPressure: 'Unknown', NetworkUnavailable: 'False' });
      await patchNode(world, 'a1', { spec: { unschedulable: true } });
      await patchNode(world, 'a0', { metadata: { labels: { 'kubernetes.io/os': 'windows' } } });
    },
    isDone: (seen) =>
      has(seen, 'b2', 'network-unavailable:NoSchedule') &&
      has(seen, 'a1', 'unschedulable:NoSchedule') &&
      seen.nodes['a0']?.labels['beta.kubernetes.io/os'] === 'windows',
  },
  {
    name: 'the pressure ends, and a client adds other taints',
    act: async (world) => {
      for (const name of ['b0', 'b1', 'b2', 'a2']) await world.cluster.post(name, { NetworkUnavailable: 'False' });
      await patchNode(world, 'a1', { spec: { unschedulable: false } });
      await taint(
        world,
        'a2',
        { key: 'example.com/reserved', value: 'yes', effect: 'NoSchedule' },
        { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' },
        { key: 'node.kubernetes.io/memory-pressure', effect: 'PreferNoSchedule' },
        { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' },
      );
      await taint(world, 'b3', leave);
    },
    isDone: (seen) =>
      ['b0', 'b1', 'b2', 'a1'].every((name) => isClean(seen.nodes[name]!)) && isGone(seen, 'b3-patient'),
  },
  {
    name: 'a client adds a second taint, which a pod tolerates for less time',
    act: (world) => taint(world, 'b3', leave, { key: 'example.com/hurry', effect: 'NoExecute' }),
    isDone: (seen) => seen.nodes['b3']?.taints.length === 2,
    quietMs: 4_000,
  },
  {
    name: 'the client removes them',
    act: async (world) => {
      await taint(world, 'a2');
      await taint(world, 'b3');
      // Only one of the controllers has evicted it.
      await world.client.send('DELETE', `${pods}/b3-of-two-minds`);
    },
    isDone: (seen) => isClean(seen.nodes['a2']!) && isClean(seen.nodes['b3']!),
    quietMs: 1_500,
  },
];

const oneNode: readonly Step[] = [
  {
    name: 'a node becomes silent',
    act: (world) => stopHeartbeats(world, 'a0'),
    isDone: (seen) => unreachable(seen, 'a0') && isGone(seen, 'a0-intolerant'),
    paces: [
      { what: 'from silence to Unknown', sees: isUnknown },
      { what: 'from silence to its NoSchedule taint', sees: carries('unreachable:NoSchedule') },
      { what: 'from silence to its NoExecute taint', sees: carries('unreachable:NoExecute') },
    ].map(({ what, sees }) => ({
      what,
      atLeastMs: graceMs,
      tookMs: sinceHeartbeat('a0', matching('nodes', 'a0', sees)),
    })),
  },
  {
    name: 'the controller is killed and restarted',
    act: async (world) => {
      await world.killController();
      await world.startController();
    },
    isDone: (seen) => recorded(seen, 'Registered Node b3 in Controller') && unreachable(seen, 'a0'),
  },
  {
    name: 'the toleration of a pod ends, and a new pod is bound to the node',
    act: async ({ cluster, client }) => {
      await cluster.addPod('a0-late', undefined, always);
      await cluster.bindPod('a0-late', 'a0');
      for (const name of ['a0-slow-to-leave', 'a0-terminating']) {
        await client.must('DELETE', `${pods}/${name}`, { gracePeriodSeconds: 0 });
      }
    },
    isDone: (seen) => isGone(seen, 'a0-patient'),
    paces: [
      {
        what: `from the NoExecute taint to the deletion after tolerationSeconds=${patienceSeconds}`,
        // The times are those of watch events.
        atLeastMs: patienceSeconds * 1_000 - 200,
        tookMs: sinceFirst(
          matching('nodes', 'a0', carries('unreachable:NoExecute')),
          matching('pods', 'a0-patient', isDeleted),
        ),
      },
    ],
  },
  {
    name: 'a client removes its taints, and adds not-ready taints to another node',
    act: async (world) => {
      await taint(world, 'a0');
      await taint(
        world,
        'a1',
        { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' },
        { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' },
      );
    },
    isDone: (seen) => unreachable(seen, 'a0') && isClean(seen.nodes['a1']!),
    quietMs: 2_000,
  },
  {
    name: 'a client replaces them by the other key, and removes conditions of nodes',
    act: async (world) => {
      await taint(world, 'a0', { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' });
      await replaceConditions(world, 'b1', null);
      await replaceConditions(world, 'b2', [{ type: 'PIDPressure', status: 'True' }]);
    },
    isDone: (seen) => unreachable(seen, 'a0') && has(seen, 'b2', 'pid-pressure:NoSchedule'),
    quietMs: 2_000,
  },
  {
    name: 'its lease is renewed and no status is posted; another node is deleted and created again',
    act: async ({ cluster }) => {
      await cluster.renewAgain('a0');
      for (const name of ['b1', 'b2']) await cluster.post(name, {});
      await cluster.removeNode('b3');
      await cluster.addNode('b3', 'b');
    },
    isDone: (seen) => ['b1', 'b2', 'b3'].every((name) => isClean(seen.nodes[name]!)),
  },
  {
    name: 'it recovers',
    act: (world) => resumeHeartbeats(world, 'a0'),
    isDone: (seen) => isClean(seen.nodes['a0']!),
  },
  {
    name: 'a kubelet posts Ready=False',
    act: ({ cluster }) => cluster.post('b0', { Ready: 'False' }),
    isDone: (seen) => has(seen, 'b0', 'not-ready:NoSchedule') && has(seen, 'b0', 'not-ready:NoExecute'),
    quietMs: 1_500,
  },
  {
    name: 'a new pod is bound to that node',
    act: async ({ cluster }) => {
      await cluster.addPod('b0-late', undefined, always);
      await cluster.bindPod('b0-late', 'b0');
    },
    isDone: (seen) => seen.pods['b0-late'] !== undefined,
    quietMs: 1_500,
  },
  {
    name: 'then that node becomes silent',
    act: (world) => stopHeartbeats(world, 'b0'),
    isDone: (seen) => unreachable(seen, 'b0') && isGone(seen, 'b0-not-ready-only'),
  },
];

const manyNodes: readonly Step[] = [
  {
    name: 'most nodes of its zone become silent',
    act: async (world) => {
      await resumeHeartbeats(world, 'b0');
      for (const pod of ['b0-very-patient', 'b0-late']) await world.cluster.postPod(pod, { ready: 'True' });
      await stopHeartbeats(world, 'b1', 'b2', 'b3');
    },
    isDone: (seen) => isClean(seen.nodes['b0']!) && unknown(seen, 'b1', 'b2', 'b3'),
    quietMs: 3_000,
  },
  {
    name: 'all nodes of the zone are silent',
    act: (world) => stopHeartbeats(world, 'b0'),
    isDone: (seen) => unreachable(seen, ...zones.b),
  },
  {
    name: 'all zones are silent',
    act: (world) => stopHeartbeats(world, ...zones.a),
    isDone: (seen) => unknown(seen, ...zones.a) && !has(seen, 'b3', 'unreachable:NoExecute'),
    quietMs: 4_000,
  },
  {
    name: 'one zone recovers',
    act: (world) => resumeHeartbeats(world, ...zones.a),
    isDone: (seen) => zones.a.every((name) => isClean(seen.nodes[name]!)) && unreachable(seen, ...zones.b),
  },
  {
    name: 'the other zone recovers',
    act: (world) => resumeHeartbeats(world, ...zones.b),
    isDone: (seen) => Object.values(seen.nodes).every(isClean),
  },
];

export const story: readonly Step[] = [...beginning, ...conditionsAndTaints, ...oneNode, ...manyNodes];
