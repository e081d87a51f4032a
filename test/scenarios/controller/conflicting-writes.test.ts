// Writes of a pod that meet another one of it: of this controller, or of another client.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../../src/machinery/api/api-error.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { aWorldOf } from '../../support/zoned-world.ts';

const foreignTaint = { key: 'example.com/broken', effect: 'NoExecute' };

const denied = (): ApiError =>
  new ApiError({ reason: 'forbidden', code: 403, message: 'denied by an admission webhook' });

function failedWrites(world: ControllerWorld): readonly string[] {
  return world.decisions.flatMap(({ decision }) =>
    decision.kind === 'write-failed' ? [`${decision.write}: ${decision.reason}`] : [],
  );
}

/** The pod is marked for a deletion that is denied, and its taint is removed again. */
async function aPodMarkedBefore(): Promise<ControllerWorld> {
  const world = aWorldOf(9, 3);
  world.addPod('p', 'n0');
  await world.running(20);
  world.beforeWrite = ({ verb }) => (verb === 'delete' ? Promise.reject(denied()) : Promise.resolve());
  world.setTaints('n0', [foreignTaint]);
  await world.advance(1);
  world.setTaints('n0', []);
  world.decisions.length = 0;
  return world;
}

test('a deletion that is due while the answer to a patch of its pod is under way is sent after that, and once', async () => {
  await using world = await aPodMarkedBefore();
  const end = new AbortController();
  world.beforeWrite = async ({ resource }) => void (world.podsFrozen ||= resource === 'pods');
  world.afterWrite = ({ verb }) => (verb === 'patch' ? world.clock.sleep(500, end.signal) : Promise.resolve());
  world.goSilent('n0');
  while (!world.podsFrozen) await world.advance(0.1);
  world.setTaints('n0', [foreignTaint]);
  await world.advance(1);
  end.abort();
  assert.deepEqual(world.evicted(), ['p']);
  assert.deepEqual(failedWrites(world), []);
});

test('a deletion that meets a write of another client is tried again at once, whatever failed before', async () => {
  await using world = aWorldOf(9, 3);
  world.addPod('p', 'n0');
  await world.running(20);
  let serves = false;
  const attempts: number[] = [];
  world.beforeWrite = async ({ verb }) => {
    if (verb !== 'delete') return;
    attempts.push(world.seconds());
    if (!serves) throw denied();
    if (attempts.length === beforeConflict + 1) world.changePod('p', (pod) => ({ ...pod }));
  };
  let beforeConflict = Infinity;
  world.setTaints('n0', [foreignTaint]);
  await world.advance(150);
  beforeConflict = attempts.length;
  serves = true;
  await world.advance(60);
  const [conflict, again] = attempts.slice(beforeConflict);
  assert.ok(conflict !== undefined && again !== undefined, `${attempts.join(' ')} s`);
  assert.ok(conflict - (attempts[beforeConflict - 1] ?? 0) > 25, 'the attempts had become rare');
  assert.ok(again - conflict < 0.2, `again after ${again - conflict} s`);
  assert.deepEqual(world.evicted(), ['p']);
});

for (const isMarked of [true, false]) {
  const how = isMarked ? 'that is marked as disrupted' : 'that is not marked yet';
  test(`a pod ${how} stays if it gained a toleration that only the answer to another write has shown`, async () => {
    await using world = isMarked ? await aPodMarkedBefore() : aWorldOf(9, 3);
    if (!isMarked) {
      world.addPod('p', 'n0');
      await world.running(20);
    }
    const state = { isChanged: false, isSlow: true };
    // The pods of a silent node are marked NotReady. Before that patch arrives the toleration does, and the answer takes a moment.
    world.beforeWrite = ({ resource, verb }) => {
      if (resource !== 'pods' || verb !== 'patch' || state.isChanged) return Promise.resolve();
      state.isChanged = true;
      world.podsFrozen = true;
      world.changePod('p', (pod) => ({ ...pod, spec: { ...pod.spec, tolerations: [{ operator: 'Exists' }] } }));
      return Promise.resolve();
    };
    world.beforeRead = async (resource) => {
      if (resource !== 'pods' || !state.isSlow) return;
      state.isSlow = false;
      await world.clock.sleep(500, new AbortController().signal);
    };
    world.goSilent('n0');
    while (!state.isChanged) await world.advance(0.1);
    await world.advance(3);
    assert.deepEqual(world.pod('p')?.spec?.tolerations, [{ operator: 'Exists' }]);
    assert.deepEqual(world.evicted(), []);
  });
}

test('a pod that another client changes before each request is deleted at last', async () => {
  await using world = aWorldOf(9, 3);
  world.addPod('p', 'n0');
  await world.running(20);
  let requests = 0;
  world.beforeWrite = ({ name, verb, resource }) => {
    if (resource !== 'pods' || verb !== 'delete') return Promise.resolve();
    requests += 1;
    const annotations = { changed: String(requests) };
    world.changePod(name, (pod) => ({ ...pod, metadata: { ...pod.metadata, annotations } }));
    return Promise.resolve();
  };
  world.setTaints('n0', [foreignTaint]);
  await world.advance(60);
  assert.deepEqual(world.evicted(), ['p']);
  assert.equal(requests, 6);
});

test('conflicts after which the pod cannot be read are no changes of it', async () => {
  await using world = aWorldOf(9, 3);
  world.addPod('p', 'n0');
  await world.running(20);
  world.podsFrozen = true;
  world.changePod('p', (pod) => ({ ...pod, spec: { ...pod.spec, tolerations: [{ operator: 'Exists' }] } }));
  world.failNext('get', 'pods', 'internal', 1_000);
  world.setTaints('n0', [foreignTaint]);
  await world.advance(120);
  assert.deepEqual(world.evicted(), []);
  assert.ok(failedWrites(world).length > 6);
});
