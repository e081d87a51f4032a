// When a pod is evicted: which taint sets its deadline, and when the countdown of that taint starts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Taint } from '../../../../src/machinery/api/taints.ts';
import { formatTime } from '../../../../src/machinery/api/timestamps.ts';
import type { Toleration } from '../../../../src/machinery/api/tolerations.ts';
import type { ControllerWorld } from '../../../support/controller-world.ts';
import { aWorldOf } from '../../../support/zoned-world.ts';
import { EvictorStand } from './evictor-stand.ts';

const notReady = 'node.kubernetes.io/not-ready';
const unreachable = 'node.kubernetes.io/unreachable';

function noExecute(key: string, timeAdded?: string): Taint {
  return timeAdded === undefined ? { key, effect: 'NoExecute' } : { key, effect: 'NoExecute', timeAdded };
}

/** A stamp of so many seconds ago. */
function ago(world: ControllerWorld, seconds: number): string {
  return formatTime(world.clock.nowMs() - seconds * 1_000);
}

function tolerating(seconds: Readonly<Record<string, number | 'for ever'>>): readonly Toleration[] {
  return Object.entries(seconds).map(([key, value]) => ({
    key,
    operator: 'Exists',
    effect: 'NoExecute',
    ...(value === 'for ever' ? {} : { tolerationSeconds: value }),
  }));
}

/** Nine nodes in three zones; only n0 has pods. */
const aWorld = (): ControllerWorld => aWorldOf(9, 3);

/** Seconds from `since` to the deletion of the pod; infinite while it was not deleted. */
function leftAfter(world: ControllerWorld, pod: string, since: number): number {
  return (world.evictedAtSeconds(pod) ?? Infinity) - since;
}

function isAbout(seconds: number, expected: number): void {
  assert.ok(Math.abs(seconds - expected) <= 1.5, `after ${seconds} s, expected about ${expected} s`);
}

test('a removed taint removes its deadline; the remaining taints decide', async () => {
  await using world = aWorld();
  world.addPod('p', 'n0', tolerating({ x: 60, y: 3_600 }));
  await world.running(5);
  const taintedAt = world.seconds();
  world.setTaints('n0', [noExecute('x'), noExecute('y')]);
  await world.advance(30);
  world.setTaints('n0', [noExecute('y')]);
  await world.advance(3_500);
  assert.deepEqual(world.evicted(), []);
  await world.advance(100);
  isAbout(leftAfter(world, 'p', taintedAt), 3_600);
});

test('a pod of a recovered node is deleted when the countdown of another taint ends', async () => {
  await using world = aWorld();
  world.addPod('p', 'n0', tolerating({ [unreachable]: 60, maintenance: 600 }));
  await world.start().silentFor(52, 'n0');
  const taintedAt = world.seconds();
  world.setTaints('n0', [...(world.node('n0').spec?.taints ?? []), noExecute('maintenance')]);
  await world.advance(10);
  world.recover('n0');
  await world.advance(1);
  assert.deepEqual(world.taints('n0'), ['maintenance:NoExecute']);
  await world.advance(700);
  isAbout(leftAfter(world, 'p', taintedAt), 600);
});

test('a deadline that another taint moves to a later time is announced again', async () => {
  await using world = aWorld();
  world.addPod('p', 'n0', tolerating({ x: 10, y: 600 }));
  await world.running(5);
  world.failNext('delete', 'pods', 'unavailable', 6);
  world.setTaints('n0', [noExecute('x'), noExecute('y')]);
  await world.advance(12);
  world.setTaints('n0', [noExecute('y')]);
  await world.advance(100);
  const cancelled = ['Marking for deletion Pod default/p', 'Cancelling deletion of Pod default/p'];
  assert.deepEqual(world.evictionMessages(), cancelled);
  await world.advance(600);
  assert.deepEqual(world.evictionMessages(), [...cancelled, 'Marking for deletion Pod default/p']);
  assert.deepEqual(world.evicted(), ['p']);
});

/** n0 is not ready from 5 s on, and unreachable about `silentAfter` seconds later. Answers when each taint was written. */
async function swapped(
  world: ControllerWorld,
  silentAfter: number,
): Promise<{ readonly taintedAt: number; readonly swappedAt: number }> {
  await world.advance(5);
  world.post('n0', 'False');
  await world.advance(5);
  const taintedAt = world.seconds();
  assert.ok(world.taints('n0').includes('not-ready:NoExecute'));
  await world.advance(silentAfter - 50);
  await world.silentFor(60, 'n0');
  assert.ok(world.taints('n0').includes('unreachable:NoExecute'));
  const swap = world.writes.find(({ body }) =>
    JSON.stringify(body ?? {}).includes(`"${unreachable}","effect":"NoExecute"`),
  );
  return { taintedAt, swappedAt: swap?.atSeconds ?? NaN };
}

test('a replaced health taint gives a pod the toleration of the new key, and never more than it had', async () => {
  await using world = aWorld();
  world.addPod('new-key-only', 'n0', tolerating({ [notReady]: 'for ever', [unreachable]: 300 }));
  world.addPod('both', 'n0', tolerating({ [notReady]: 900, [unreachable]: 900 }));
  world.addPod('sooner', 'n0', tolerating({ [notReady]: 3_000, [unreachable]: 100 }));
  world.addPod('old-key-only', 'n0', tolerating({ [notReady]: 900, [unreachable]: 'for ever' }));
  world.start();
  const { taintedAt, swappedAt } = await swapped(world, 600);
  assert.deepEqual(world.evicted(), []);
  await world.advance(600);
  isAbout(leftAfter(world, 'new-key-only', swappedAt), 300);
  isAbout(leftAfter(world, 'both', taintedAt), 900);
  isAbout(leftAfter(world, 'sooner', swappedAt), 100);
  assert.deepEqual(leftAfter(world, 'old-key-only', 0), Infinity);
});

test('the new health taint has the time of the replacement', async () => {
  await using world = aWorld().start();
  const { swappedAt } = await swapped(world, 600);
  const taint = world.node('n0').spec?.taints?.find(({ key, effect }) => key === unreachable && effect === 'NoExecute');
  const stampedAt = (Date.parse(taint?.timeAdded ?? '') - world.clock.nowMs()) / 1_000 + world.seconds();
  isAbout(stampedAt - swappedAt, 0);
});

test('after a restart a replaced taint counts from the replacement: later than before, by at most its own toleration', async () => {
  await using world = aWorld();
  world.addPod('both', 'n0', tolerating({ [notReady]: 900, [unreachable]: 900 }));
  world.start();
  const { swappedAt } = await swapped(world, 600);
  await world.restart();
  await world.advance(1_000);
  isAbout(leftAfter(world, 'both', swappedAt), 900);
});

test('a taint that arrives by a watch event counts from then, whatever its timeAdded', async () => {
  await using world = aWorld();
  world.addPod('p', 'n0', tolerating({ x: 300 }));
  await world.running(7_200);
  const taintedAt = world.seconds();
  world.setTaints('n0', [noExecute('x', ago(world, 3_600))]);
  await world.advance(400);
  isAbout(leftAfter(world, 'p', taintedAt), 300);
});

test('a taint that a stale watch delivers late counts from the delivery, and one found at the start from its timeAdded', async () => {
  await using world = aWorld();
  world.addPod('p', 'n0', tolerating({ x: 300 }));
  world.addPod('q', 'n1', tolerating({ x: 300 }));
  await world.advance(1_000);
  world.setTaints('n1', [noExecute('x', ago(world, 200))]);
  world.start();
  const startedAt = world.seconds();
  await world.advance(10);
  world.nodesFrozen = true;
  world.setTaints('n0', [noExecute('x', ago(world, 0))]);
  await world.advance(60);
  world.nodesFrozen = false;
  world.syncCaches();
  await world.advance(400);
  isAbout(leftAfter(world, 'p', startedAt), 370);
  isAbout(leftAfter(world, 'q', startedAt), 101);
});

/** A pod that was created at the beginning and is bound now, as its PodScheduled condition says with this stamp. */
function bind(world: ControllerWorld, name: string, lastTransitionTime: string): void {
  const conditions = [
    { type: 'PodScheduled', status: 'True', lastTransitionTime },
    { type: 'Ready', status: 'True' },
  ];
  const creationTimestamp = ago(world, world.seconds());
  world.putPod({
    metadata: { namespace: 'default', name, uid: `uid-${name}`, creationTimestamp },
    spec: { nodeName: 'n0', tolerations: tolerating({ x: 300 }) },
    status: { phase: 'Running', conditions },
  });
}

test('a pod bound to an already tainted node has its full toleration from the binding', async () => {
  await using world = await aWorld().running(10);
  world.setTaints('n0', [noExecute('x', ago(world, 0))]);
  await world.advance(3_600);
  const boundAt = world.seconds();
  world.addPod('created-there', 'n0', tolerating({ x: 300 }));
  bind(world, 'bound-late', ago(world, 0));
  bind(world, 'stamped-by-a-slow-clock', ago(world, 1_800));
  world.addPod('tolerates-nothing', 'n0');
  await world.advance(1);
  assert.deepEqual(world.evicted(), ['tolerates-nothing']);
  await world.advance(400);
  isAbout(leftAfter(world, 'created-there', boundAt), 300);
  isAbout(leftAfter(world, 'bound-late', boundAt), 300);
  isAbout(leftAfter(world, 'stamped-by-a-slow-clock', boundAt), 300);
});

test('a pending pod that is bound later has its full toleration from the binding', async () => {
  await using world = aWorld();
  world.addPod('p', '', tolerating({ x: 300 }));
  await world.running(10);
  world.setTaints('n0', [noExecute('x', ago(world, 0))]);
  await world.advance(3_600);
  const boundAt = world.seconds();
  world.changePod('p', (pod) => ({ ...pod, spec: { ...pod.spec, nodeName: 'n0' } }));
  await world.advance(400);
  isAbout(leftAfter(world, 'p', boundAt), 300);
});

test('the countdown from the binding continues across a restart; a binding in the future counts as now', async () => {
  await using world = await aWorld().running(10);
  world.setTaints('n0', [noExecute('x', ago(world, 0))]);
  await world.advance(3_600);
  const boundAt = world.seconds();
  world.addPod('created-there', 'n0', tolerating({ x: 300 }));
  bind(world, 'bound-late', ago(world, 0));
  bind(world, 'from-the-future', ago(world, -7_200));
  await world.advance(200);
  await world.restart();
  await world.advance(310);
  isAbout(leftAfter(world, 'created-there', boundAt), 300);
  isAbout(leftAfter(world, 'bound-late', boundAt), 300);
  isAbout(leftAfter(world, 'from-the-future', boundAt), 500);
});

test('the explanation of a pod counts its toleration from the binding', async () => {
  await using world = await aWorld().running(10);
  world.setTaints('n0', [noExecute('x', ago(world, 0))]);
  await world.advance(3_600);
  world.addPod('p', 'n0', tolerating({ x: 300 }));
  await world.advance(100);
  const pod = world.pods.get('default/p');
  assert.ok(pod !== undefined);
  const [countdown] = world.lifecycle.stages.evictor.countdownsOf(pod);
  isAbout((world.clock.monotonicMs() - (countdown?.sinceMs ?? NaN)) / 1_000, 100);
});

test('a taint that is removed and added again in a gap of the watch has a countdown of its own', async () => {
  await using world = aWorld();
  world.addPod('p', 'n0', tolerating({ x: 60 }));
  await world.running(5);
  world.setTaints('n0', [noExecute('x', ago(world, 0))]);
  await world.advance(40);
  // The cache shows both states as one change, as after a list.
  world.setTaints('n0', [noExecute('x', ago(world, 0))]);
  const addedAgainAt = world.seconds();
  await world.advance(55);
  assert.deepEqual(world.evicted(), []);
  await world.advance(30);
  isAbout(leftAfter(world, 'p', addedAgainAt), 60);
});

test('a health taint that replaced the other has a countdown of its own when it is removed and added again', async () => {
  await using stand = new EvictorStand();
  stand.putPod('p', tolerating({ [notReady]: 60, [unreachable]: 60 }));
  const now = (): string => formatTime(stand.clock.nowMs());
  stand.setTaints('n', noExecute(notReady, now()));
  await stand.advance(10);
  stand.setTaints('n', noExecute(unreachable, now()));
  await stand.advance(40);
  stand.setTaints('n', noExecute(unreachable, now()));
  await stand.advance(55);
  assert.deepEqual(stand.sent, []);
  await stand.advance(6);
  assert.deepEqual(stand.sent, ['mark-pod-disrupted p', 'delete-pod p']);
});

test('an earlier timeAdded, or one that is only known later, is the same taint', async () => {
  await using world = aWorld();
  world.addPod('p', 'n0', tolerating({ x: 60, y: 60 }));
  await world.running(5);
  const taintedAt = world.seconds();
  world.setTaints('n0', [noExecute('x', ago(world, 0)), noExecute('y')]);
  await world.advance(40);
  world.setTaints('n0', [noExecute('x', ago(world, 90)), noExecute('y', ago(world, 0))]);
  await world.advance(60);
  isAbout(leftAfter(world, 'p', taintedAt), 60);
});

for (const isUndecoded of [true, false]) {
  const seconds = isUndecoded ? 600 : 60;
  test(`a toleration that is longer counts where the version with it could not be decoded: ${isUndecoded}`, async () => {
    await using stand = new EvictorStand();
    stand.putPod('p', tolerating({ x: 60 }));
    if (isUndecoded) stand.pods.undecoded.add('d/p');
    stand.setTaints('n', noExecute('x', formatTime(stand.clock.nowMs())));
    await stand.advance(10);
    stand.pods.undecoded.clear();
    stand.setPod('p', tolerating({ x: 600 }));
    stand.setPod('p', tolerating({ x: 3_600 }));
    await stand.advance(seconds - 12);
    assert.deepEqual(stand.sent, []);
    await stand.advance(3);
    assert.deepEqual(stand.sent, ['mark-pod-disrupted p', 'delete-pod p']);
  });
}
