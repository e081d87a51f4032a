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
