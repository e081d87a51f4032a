// Pauses: of all nodes, of the nodes of a policy, and of one node by its annotation. What makes a node or its pods worse
// is held; recovery goes on.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTime } from '../../../src/machinery/api/timestamps.ts';
import { aPolicy } from '../../support/builders.ts';
import { ControllerWorld } from '../../support/controller-world.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

const pausing = aPolicy({ name: 'frozen', mode: 'Paused' });
const sizes = { a: 4, b: 4 };

function written(world: ControllerWorld): readonly string[] {
  return [...new Set(world.writes.map(({ name }) => name))].sort();
}

/** A pod `pod-NODE` on each of these nodes, none of which tolerates anything. */
function withPods(world: ControllerWorld, ...nodes: readonly string[]): ControllerWorld {
  for (const node of nodes) world.addPod(`pod-${node}`, node);
  return world;
}

type Pause = (world: ControllerWorld, on: boolean) => void;

/** Each holds a-0. */
const pauses: readonly (readonly [string, Pause])[] = [
  ['paused: true', (world, on) => world.changeOptions({ paused: on })],
  ['a policy in mode Paused', (world, on) => world.changeOptions({ policies: on ? [pausing] : [] })],
  ['an annotation', (world, on) => world.annotatePause('a-0', on ? 'true' : undefined)],
  ['a malformed annotation', (world, on) => world.annotatePause('a-0', on ? 'yes' : 'false')],
];

for (const [name, pause] of pauses) {
  test(`${name}: a silent node is untouched, and marked, tainted and evicted within a second of the end`, async () => {
    await using world = withPods(aZonedWorld(sizes), 'a-0').start();
    await world.advance(5);
    pause(world, true);
    await world.silentFor(300, 'a-0');
    assert.deepEqual(written(world), []);
    pause(world, false);
    await world.advance(1);
    assert.equal(world.ready('a-0'), 'Unknown');
    assert.deepEqual(world.taints('a-0'), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
    assert.deepEqual(world.evicted(), ['pod-a-0']);
    await world.advance(60);
    assert.deepEqual(world.evicted(), ['pod-a-0']);
    assert.equal(world.decided('node-silent').length, 1);
  });

  test(`${name}: a pause that begins after the taint holds the deletion of pods, and recovery goes on`, async () => {
    await using world = aZonedWorld(sizes);
    world.addPod('pod', 'a-0', [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 }]);
    await world.start().silentFor(60, 'a-0');
    assert.deepEqual(world.tainted(['a-0']), ['a-0']);
    pause(world, true);
    await world.advance(200);
    assert.deepEqual(world.evicted(), []);
    assert.ok(world.decided('eviction-held').some(({ why }) => why === 'paused'));
    world.recover('a-0');
    await world.advance(5);
    assert.deepEqual(world.taints('a-0'), []);
    pause(world, false);
    await world.advance(200);
    assert.deepEqual(world.evicted(), []);
  });
}

test('a paused node is untouched while its neighbour is evicted', async () => {
  await using world = withPods(aZonedWorld({ a: 8, b: 4 }), 'a-0', 'a-1').start();
  world.annotatePause('a-0', 'true');
  await world.silentFor(120, 'a-0', 'a-1');
  assert.deepEqual(written(world), ['a-1', 'pod-a-1']);
});

test('a pause until a time ends then, without any event', async () => {
  await using world = withPods(aZonedWorld(sizes), 'a-0').start();
  world.annotatePause('a-0', formatTime(world.clock.nowMs() + 120_000));
  await world.silentFor(119.5, 'a-0');
  assert.deepEqual(written(world), []);
  await world.advance(2);
  assert.deepEqual(written(world), ['a-0', 'pod-a-0']);
  assert.deepEqual(world.evicted(), ['pod-a-0']);
});

test('a pause until a time holds a due deletion until then', async () => {
  await using world = aZonedWorld(sizes);
  world.setTaints('a-0', [{ key: 'example.com/drain', effect: 'NoExecute' }]);
  world.annotatePause('a-0', formatTime(world.clock.nowMs() + 60_000));
  world.addPod('pod', 'a-0');
  await world.running(59.5);
  assert.deepEqual(world.evicted(), []);
  await world.advance(1);
  assert.deepEqual(world.evicted(), ['pod']);
});

test('a time in the past, "false" and an empty value pause nothing', async () => {
  for (const value of ['2020-01-01T00:00:00Z', 'false', '']) {
    await using world = aZonedWorld(sizes).start();
    world.annotatePause('a-0', value);
    await world.silentFor(60, 'a-0');
    assert.equal(world.ready('a-0'), 'Unknown', value);
  }
});

test('a malformed annotation is reported once, by an Event and in the log', async () => {
  await using world = aZonedWorld(sizes).start();
  world.annotatePause('a-0', 'next tuesday');
  await world.advance(300);
  assert.deepEqual(world.nodeEventsOf('MalformedPauseAnnotation'), [
    'Annotation nodelifecycle/paused must be "true", "false" or an RFC 3339 time (got "next tuesday"); the node is paused until the annotation is corrected or removed',
  ]);
  const lines = world.logger.at('warn').filter(({ message }) => message === 'pause annotation of node changed');
  assert.equal(lines.length, 1);
  assert.deepEqual(lines[0]?.fields['value'], 'next tuesday');
});

test('eviction mode: pods of a paused node stay, those of its neighbour are deleted', async () => {
  await using world = withPods(
    aZonedWorld(sizes, { taintBasedEvictions: false, podEvictionTimeoutMs: 60_000 }),
    'a-0',
    'b-0',
  ).start();
  world.annotatePause('a-0', 'true');
  await world.silentFor(300, 'a-0', 'b-0');
  assert.deepEqual(written(world), ['b-0', 'pod-b-0']);
  world.annotatePause('a-0', undefined);
  await world.advance(20);
  assert.deepEqual(world.evicted(), ['pod-b-0', 'pod-a-0']);
});

test('eviction mode: a pause stops the deletion of the remaining pods of an evicted node', async () => {
  await using world = aZonedWorld(sizes, { taintBasedEvictions: false, podEvictionTimeoutMs: 60_000 }).start();
  await world.silentFor(120, 'a-0');
  world.annotatePause('a-0', 'true');
  world.addPod('late', 'a-0');
  await world.advance(60);
  assert.deepEqual(world.evicted(), []);
  world.annotatePause('a-0', undefined);
  await world.advance(2);
  assert.deepEqual(world.evicted(), ['late']);
});

test('paused: true holds the deletion of pods of missing nodes', async () => {
  await using world = new ControllerWorld({ paused: true }, { podGc: true });
  world.addNodes(['n-0', 'n-1']);
  world.addPod('orphan', 'gone');
  await world.running(300);
  assert.deepEqual(world.evicted(), []);
  world.changeOptions({ paused: false });
  await world.advance(25);
  assert.deepEqual(world.evicted(), ['orphan']);
});

test('a restart keeps the pause of a node', async () => {
  await using world = withPods(aZonedWorld(sizes), 'a-0').start();
  world.annotatePause('a-0', 'true');
  await world.silentFor(120, 'a-0');
  await world.restart();
  await world.advance(120);
  assert.deepEqual(written(world), []);
});

test('pods that a pause holds are looked at a few times a minute, not each second', async () => {
  await using world = aZonedWorld({ a: 20 }, { paused: true });
  for (let place = 0; place < 200; place += 1) world.addPod(`pod-${place}`, `a-${place % 20}`);
  await world.running(20);
  for (const node of names(20, 'a-')) world.setTaints(node, [{ key: 'example.com/x', effect: 'NoExecute' }]);
  await world.silentFor(120, ...names(20, 'a-'));
  const { pods } = world;
  const read = pods.get.bind(pods);
  let reads = 0;
  pods.get = (key) => {
    reads += 1;
    return read(key);
  };
  await world.advance(300);
  assert.ok(reads / 200 / 5 <= 8, `${reads / 200 / 5} reads of each pod in a minute`);
});
