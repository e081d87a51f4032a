// A webhook or policy takes the change out of a patch, and the API server answers 200 with the object as it was.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

/** Node a-0 has a pod and reports that it is not ready; each patch of these resources changes nothing. */
function aWorldWithoutPatchesOf(...resources: readonly string[]): ControllerWorld {
  const world = aZonedWorld({ a: 3, b: 3, c: 3 });
  world.addPod('p', 'a-0', [{ operator: 'Exists' }]);
  for (const resource of resources) world.dropsPatchesOf.add(resource);
  return world.start();
}

/** The node is evaluated every half second, as while leases are listed because their watch is dead. */
async function evaluateOften(world: ControllerWorld, seconds: number): Promise<void> {
  for (let left = seconds; left > 0; left -= 0.5) {
    world.post('a-0', 'False');
    await world.advance(0.5);
  }
}

function patchesOf(world: ControllerWorld, resource: string, name: string): number {
  return world.writes.filter((write) => write.verb === 'patch' && write.resource === resource && write.name === name)
    .length;
}

test('taints that a webhook drops are not called changed, and are written again every five seconds at most', async () => {
  await using world = aWorldWithoutPatchesOf('nodes');
  await evaluateOften(world, 60);
  assert.deepEqual(world.decided('taints-changed'), []);
  const failed = world.decided('write-failed').map(({ subject, write, reason }) => `${subject} ${write} ${reason}`);
  assert.deepEqual([...new Set(failed)], ['a-0 change-taints not-applied']);
  const sent = patchesOf(world, 'nodes', 'a-0');
  assert.ok(sent >= 4 && sent <= 2 * (60 / 5 + 1), `${sent} patches: NoSchedule, and NoExecute in its own queue`);
});

test('taints are there within a minute of the end of a webhook that dropped them', async () => {
  await using world = aWorldWithoutPatchesOf('nodes');
  await evaluateOften(world, 60);
  world.dropsPatchesOf.delete('nodes');
  await world.advance(60);
  assert.deepEqual(world.taints('a-0'), ['not-ready:NoExecute', 'not-ready:NoSchedule']);
});

test('a status that a webhook drops is not called Unknown, and follows within a minute of its end', async () => {
  await using world = aWorldWithoutPatchesOf('nodes');
  await world.silentFor(100, 'b-0');
  assert.deepEqual(world.decided('node-silent'), []);
  assert.ok(patchesOf(world, 'nodes', 'b-0') <= 12, 'no flood');
  world.dropsPatchesOf.delete('nodes');
  await world.silentFor(60, 'b-0');
  assert.equal(world.decided('node-silent').length, 1);
});

test('marks that a webhook drops are made again within a minute and a half, also when another client writes the pods meanwhile', async () => {
  await using world = aWorldWithoutPatchesOf('pods');
  await world.silentFor(60, 'a-0');
  assert.equal(world.podReady('p'), 'True');
  assert.deepEqual(world.decided('pod-marked-not-ready'), []);
  world.dropsPatchesOf.delete('pods');
  world.changePod('p', (pod) => ({ ...pod, metadata: { ...pod.metadata, labels: { by: 'user' } } }));
  await world.advance(90);
  assert.equal(world.podReady('p'), 'False');
});

/** The webhook removes taints with this effect from each patch. */
function dropEffect(world: ControllerWorld, effect: string): void {
  world.beforeWrite = async ({ resource, body }) => {
    const spec = (body as { spec?: { taints?: { readonly effect: string }[] | null } } | undefined)?.spec;
    if (resource === 'nodes' && spec?.taints) spec.taints = spec.taints.filter((taint) => taint.effect !== effect);
  };
}

test('a NoExecute taint counts, at the rate of the zone, where a webhook drops the NoSchedule taint that is written with it', async () => {
  await using world = aZonedWorld({ a: 60, b: 60 });
  dropEffect(world, 'NoSchedule');
  await world.running(20);
  for (const name of names(20, 'a-')) {
    world.goSilent(name);
    world.post(name, 'False');
    await world.advance(1);
  }
  const tainted = names(20, 'a-').filter((name) => world.taints(name).includes('not-ready:NoExecute'));
  assert.ok(tainted.length >= 2 && tainted.length <= 4, `${tainted.length} within 20 s at 0.1/s`);
  assert.equal(world.meter.read().get('node_collector_evictions_total{zone="r/a"}') ?? 0, tainted.length);
  const noted = world.decided('taints-changed').flatMap(({ added }) => added);
  assert.deepEqual(
    noted,
    tainted.map(() => 'node.kubernetes.io/not-ready:NoExecute'),
  );
});

test('a node is Unknown, with all that follows, where a webhook drops another condition', async () => {
  await using world = aZonedWorld({ a: 3, b: 3 });
  world.beforeWrite = async ({ resource, body }) => {
    const status = (body as { status?: { conditions?: { readonly type: string }[] } } | undefined)?.status;
    if (resource === 'nodes' && status?.conditions)
      status.conditions = status.conditions.filter(({ type }) => type !== 'MemoryPressure');
  };
  await world.running(20);
  await world.silentFor(55, 'a-0');
  assert.equal(world.decided('node-silent').length, 1);
  assert.deepEqual(world.decided('write-failed'), []);
});

test('what is written next does not wait for what was dropped: a second fault is marked in time', async () => {
  await using world = aZonedWorld({ a: 3, b: 3, c: 3 });
  world.addPod('p', 'a-0', [{ operator: 'Exists' }]);
  dropEffect(world, 'NoSchedule');
  await world.running(20);
  world.post('a-0', 'False');
  await world.advance(5);
  await world.silentFor(52, 'a-0');
  assert.equal(world.ready('a-0'), 'Unknown');
  assert.equal(world.podReady('p'), 'False');
});

test('labels that a webhook drops are written about once a minute', async () => {
  await using world = aZonedWorld({ a: 3, b: 3 });
  world.addLabel('a-0', 'kubernetes.io/os', 'linux');
  world.addLabel('a-0', 'beta.kubernetes.io/os', 'other');
  world.beforeWrite = async ({ body }) => {
    const metadata = (body as { metadata?: { labels?: object } } | undefined)?.metadata;
    if (metadata?.labels) metadata.labels = {};
  };
  await world.running(600);
  const sent = patchesOf(world, 'nodes', 'a-0');
  assert.ok(sent >= 8 && sent <= 14, `${sent} in ten minutes`);
});
