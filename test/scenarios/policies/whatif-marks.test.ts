// The pods that whatif says are marked NotReady under a changed file are those that the controller marks with it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildPreview } from '../../../src/cli/whatif/cluster-preview.ts';
import type { NodePolicy } from '../../../src/controller/model/policy.ts';
import { aPolicy } from '../../support/builders.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

const down = names(3, 'a-');

/** 20 nodes with two pods each, of which no pod is evicted. */
async function aWorld(policies: readonly NodePolicy[]): Promise<ControllerWorld> {
  const world = aZonedWorld({ a: 20 }, { policies });
  for (const node of names(20, 'a-'))
    for (const pod of ['x', 'y']) world.addPod(`${node}-${pod}`, node, [{ operator: 'Exists' }]);
  return world.running(20);
}

/** Number of pods of each node that are marked with these policies; nodes without one are left out. */
function predicted(world: ControllerWorld, policies: readonly NodePolicy[]): Readonly<Record<string, number>> {
  const leases = new Map([...world.leases.values()].map((lease) => [lease.name, lease]));
  const pods = Map.groupBy(world.pods.values(), ({ nodeName }) => nodeName);
  const state = { atMs: world.clock.nowMs(), nodes: [...world.nodes.values()], leases, pods };
  const preview = buildPreview(state, { ...world.options, policies }, world.options);
  return Object.fromEntries(
    [...preview.nodes].flatMap(([name, { podsMarked }]) => (podsMarked === 0 ? [] : [[name, podsMarked]])),
  );
}

/** The same of what the controller has marked. */
function marked(world: ControllerWorld): Readonly<Record<string, number>> {
  const notReady = [...world.pods.values()].filter(({ ready }) => ready === 'False');
  const byNode = [...Map.groupBy(notReady, ({ nodeName }) => nodeName)];
  return Object.fromEntries(byNode.map(([node, pods]) => [node, pods.length]));
}

const detect = (markPods: boolean): NodePolicy =>
  aPolicy({ mode: 'Detect', detect: { markPods, evictAfterMs: undefined } });

const marking = aPolicy({ markPodsOfNotReadyAfterMs: 60_000 });

for (const [what, before, after, fail] of [
  ['markPods: true for nodes that are Unknown', detect(false), detect(true), (world) => world.silentFor(600, ...down)],
  [
    'markPodsOfNotReadyAfter for nodes that report NotReady',
    aPolicy(),
    marking,
    async (world) => {
      for (const node of down) world.post(node, 'False');
      await world.advance(600);
    },
  ],
] as const satisfies readonly (readonly [
  string,
  NodePolicy,
  NodePolicy,
  (world: ControllerWorld) => Promise<void>,
])[]) {
  test(`${what}: whatif counts the pods that the controller marks within seconds`, async () => {
    await using world = await aWorld([before]);
    await fail(world);
    assert.deepEqual([predicted(world, [before]), marked(world)], [{}, {}]);
    const counts = predicted(world, [after]);
    assert.deepEqual(counts, { 'a-0': 2, 'a-1': 2, 'a-2': 2 });
    world.changeOptions({ policies: [after] });
    await world.advance(10);
    assert.deepEqual(marked(world), counts);
    assert.deepEqual(predicted(world, [after]), {}, 'what is marked is not counted again');
  });
}
