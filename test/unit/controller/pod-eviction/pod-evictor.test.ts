import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EvictionWorld } from './eviction-world.ts';

/** One node that became like this just now, with one pod, and its first look behind it. */
async function aWorld(
  ready: string,
  options: ConstructorParameters<typeof EvictionWorld>[0] = {},
): Promise<EvictionWorld> {
  const world = new EvictionWorld(options);
  world.addNode('n', ready);
  world.addPod('p', 'n');
  await world.monitor();
  return world;
}

/** The same, and its pod was sent away. */
async function anEvicted(): Promise<EvictionWorld> {
  const world = await aWorld('Unknown');
  await world.advance(600.001);
  await world.pass();
  assert.deepEqual(world.deleted(), ['p']);
  return world;
}

const evictions = 'node_collector_evictions_total{zone=""}';

for (const ready of ['False', 'Unknown']) {
  test(`a node that is ${ready} loses its pods after the timeout, not at its end, and without anybody looking`, async () => {
    const world = await aWorld(ready);
    await world.advance(600);
    await world.pass();
    assert.deepEqual(world.deleted(), []);
    assert.equal(world.evictor.markOf('n'), 'unmarked');
    await world.advance(0.001);
    await world.pass();
    assert.deepEqual(world.deleted(), ['p']);
    assert.equal(world.evictor.markOf('n'), 'evicted');
    assert.equal(world.meter.series.get(evictions), 1);
  });
}

test('the reason is in the status before the pod is deleted, and people are told about node and pod', async () => {
  const world = await anEvicted();
  assert.deepEqual(
    world.commands.map(({ kind }) => kind),
    ['mark-pod-lost', 'delete-pod'],
  );
  assert.equal(world.pod('p').reason, 'NodeLost');
  assert.deepEqual(
    world.recorder.drafts.map(({ about, type, reason, message }) => [about.kind, about.name, type, reason, message]),
    [
      ['Node', 'n', 'Normal', 'DeletingAllPods', 'Node n event: Deleting all Pods from Node n.'],
      ['Pod', 'p', 'Normal', 'NodeControllerEviction', 'Marking for deletion Pod p from Node n'],
    ],
  );
  assert.deepEqual(world.kinds(), [
    'node-eviction-scheduled',
    'node-eviction-queued',
    'node-evicted',
    'pod-evicted-with-node',
  ]);
});

test('a node without pods is marked and counted, and nobody is told of deletions', async () => {
  const world = new EvictionWorld();
  world.addNode('n', 'Unknown');
  await world.monitor();
  await world.advance(601);
  await world.pass();
  assert.equal(world.evictor.markOf('n'), 'evicted');
  assert.deepEqual(world.events(), []);
});

test('a sign of life starts the time of a silent node anew; more heartbeats do not start that of one that says False', async () => {
  const silent = await aWorld('Unknown');
  const unready = await aWorld('False');
  for (const world of [silent, unready]) {
    await world.advance(300);
    const node = world.nodes.get('n')!;
    const [ready] = node.conditions;
    world.nodes.set('n', { ...node, conditions: [{ ...ready!, lastHeartbeatTime: 'another' }] });
    await world.monitor();
    await world.advance(301);
    await world.pass();
  }
  assert.deepEqual(silent.deleted(), []);
  assert.deepEqual(unready.deleted(), ['p']);
  await silent.advance(300);
  await silent.pass();
  assert.deepEqual(silent.deleted(), ['p']);
});

test('a DaemonSet pod gets the reason and stays, told by selector and not by owner', async () => {
  const world = new EvictionWorld();
  world.addNode('n', 'False');
  world.addDaemonSet('ds0', { daemon: 'yes' });
  world.addPod('agent', 'n', { labels: { daemon: 'yes' } });
  await world.monitor();
  await world.advance(3_600);
  await world.pass();
  assert.deepEqual(world.deleted(), []);
  assert.equal(world.pod('agent').reason, 'NodeLost');
  assert.deepEqual(world.decisions.at(-1), { kind: 'pod-spared', pod: 'default/agent', node: 'n', daemonSet: 'ds0' });
  world.daemonSets.delete('default/ds0');
  await world.monitor();
  await world.pass();
  assert.deepEqual(world.deleted(), ['agent'], "it is nobody's pod any more");
});

test('a pod that is terminating already is not deleted again, and remains', async () => {
  const world = new EvictionWorld();
  world.addNode('n', 'Unknown');
  world.addPod('p', 'n');
  world.changePod('p', { deletionGraceSeconds: 30 });
  await world.monitor();
  await world.advance(601);
  await world.pass();
  assert.deepEqual(world.deleted(), []);
  assert.deepEqual(
    world.evictor.remaining('n').map(({ name }) => name),
    ['p'],
  );
});

/** Of three silent nodes with a pod each, `a` has had its turn; `b` and `c` wait for the next token. */
async function firstOfThreeEvicted(): Promise<EvictionWorld> {
  const world = new EvictionWorld({ ratePerSecond: 0.1 });
  for (const name of ['a', 'b', 'c']) {
    world.addNode(name, 'Unknown');
    world.addPod(`p${name}`, name);
  }
  await world.monitor();
  await world.advance(601);
  await world.pass();
  return world;
}

test('recovery takes a node out of the line before its turn, and a token is not spent on it', async () => {
  const world = await firstOfThreeEvicted();
  assert.deepEqual(world.deleted(), ['pa']);
  assert.deepEqual(
    ['a', 'b', 'c'].map((name) => world.evictor.markOf(name)),
    ['evicted', 'to-be-evicted', 'to-be-evicted'],
  );
  await world.advance(5);
  world.becomes('b', 'True');
  await world.monitor();
  assert.deepEqual(world.lines.get('')?.keysInOrder(), ['c']);
  await world.advance(5);
  await world.pass();
  assert.deepEqual(world.deleted(), ['pa', 'pc']);
  assert.equal(world.evictor.markOf('b'), 'unmarked');
});

test('a node that was heard of while it waited is passed over when its turn comes, and its time begins anew', async () => {
  const world = await firstOfThreeEvicted();
  world.becomes('b', 'False'); // noticed, not attended to
  await world.advance(10);
  await world.pass();
  assert.deepEqual(world.deleted(), ['pa', 'pc'], 'the token was for who is still due');
  assert.deepEqual(world.lines.get('')?.keysInOrder(), []);
  await world.advance(590);
  await world.pass();
  assert.deepEqual(world.deleted(), ['pa', 'pc']);
  await world.advance(0.001);
  await world.pass();
  assert.deepEqual(world.deleted(), ['pa', 'pc', 'pb']);
});

test('a waiting node that is heard of leaves the line when it is attended to, and its deadline with it when it is Ready', async () => {
  const world = new EvictionWorld({ ratePerSecond: 0 });
  world.addNode('n', 'Unknown');
  await world.monitor();
  assert.notEqual(world.evictor.dueAtMs('n'), undefined);
  await world.advance(601);
  await world.pass();
  assert.equal(world.evictor.markOf('n'), 'to-be-evicted');
  assert.equal(world.evictor.dueAtMs('n'), undefined);
  world.becomes('n', 'False');
  await world.monitor();
  assert.equal(world.evictor.markOf('n'), 'unmarked');
  assert.notEqual(world.evictor.dueAtMs('n'), undefined);
  world.becomes('n', 'True');
  await world.monitor();
  assert.equal(world.evictor.dueAtMs('n'), undefined);
  const withdrawn = world.decisions.flatMap((decision) =>
    decision.kind === 'node-eviction-withdrawn' ? [decision.why] : [],
  );
  assert.deepEqual(withdrawn, ['not-due', 'node-ready']);
});

test('a namesake of an evicted node is another node', async () => {
  const world = await anEvicted();
  world.addNode('n', 'Unknown'); // seen as one change: the deletion in between was missed
  world.addPod('late', 'n');
  await world.evictor.drain();
  assert.deepEqual(world.deleted(), ['p']);
  const another = await anEvicted();
  another.removeNode('n');
  assert.equal(another.evictor.markOf('n'), 'unmarked');
});

test('who lands on an evicted node is deleted at once, and who lands after its recovery stays', async () => {
  const world = await anEvicted();
  world.addPod('late', 'n');
  await world.evictor.drain();
  assert.deepEqual(world.deleted(), ['p', 'late']);
  assert.deepEqual(world.decisions.at(-1), {
    kind: 'pod-evicted-with-node',
    pod: 'default/late',
    node: 'n',
    why: 'landed-on-evicted-node',
  });
  world.becomes('n', 'True');
  await world.monitor();
  assert.equal(world.evictor.markOf('n'), 'unmarked');
  world.addPod('later', 'n');
  await world.pass();
  assert.deepEqual(world.deleted(), ['p', 'late']);
});

test('a namesake that takes the place of a deleted pod on an evicted node is another pod', async () => {
  const world = await anEvicted();
  const uid = world.pod('p').uid;
  world.addPod('p', 'n'); // seen as one change: the deletion in between was missed
  assert.notEqual(world.pod('p').uid, uid);
  await world.evictor.drain();
  assert.deepEqual(world.deleted(), ['p', 'p']);
});

test('an evicted node that only says False stays evicted; only Ready ends that', async () => {
  const world = await anEvicted();
  world.becomes('n', 'False');
  await world.monitor();
  world.addPod('late', 'n');
  await world.evictor.drain();
  assert.deepEqual(world.deleted(), ['p', 'late']);
});

test('one pod that cannot be deleted holds up no other, is tried again with patience, and announced once', async () => {
  const world = new EvictionWorld();
  world.addNode('n', 'Unknown');
  for (const name of ['a', 'b', 'c']) world.addPod(name, 'n');
  await world.monitor();
  world.fail('delete-pod', 'internal', { pod: 'b', times: 3 });
  await world.advance(601);
  await world.pass();
  assert.deepEqual(world.deleted(), ['a', 'c']);
  for (let i = 0; i < 10; i++) {
    await world.monitor(); // looking again does not cut the back-off short
    await world.evictor.drain();
  }
  assert.deepEqual(world.deleted(), ['a', 'c']);
  for (let i = 0; i < 7; i++) {
    await world.advance(0.1);
    await world.evictor.drain();
  }
  assert.deepEqual(world.deleted(), ['a', 'c', 'b']);
  assert.equal(world.events().filter((event) => event === 'b:NodeControllerEviction').length, 1);
  assert.equal(world.meter.series.get(evictions), 1, 'a node is counted once, however often a pod is tried');
});

test('a status that cannot be written keeps no pod from leaving', async () => {
  const world = await aWorld('Unknown');
  world.fail('mark-pod-lost', 'forbidden', { times: Infinity });
  await world.advance(601);
  await world.pass();
  assert.deepEqual(world.deleted(), ['p']);
});

test('a node that becomes Ready while its pod is being marked keeps it', async () => {
  const world = await aWorld('Unknown');
  world.duringWrite = ({ kind }) => {
    if (kind === 'mark-pod-lost') world.becomes('n', 'True'); // the cache knows; nobody has attended to it yet
  };
  await world.advance(601);
  await world.pass();
  assert.deepEqual(world.deleted(), []);
});

test('a node that no longer exists when its turn comes is not counted, and its pods leave', async () => {
  const world = new EvictionWorld({ ratePerSecond: 0.1 });
  for (const name of ['a', 'gone']) {
    world.addNode(name, 'Unknown');
    world.addPod(`p-${name}`, name);
  }
  await world.monitor();
  await world.advance(601);
  await world.pass();
  world.removeNode('gone');
  await world.advance(10);
  await world.pass();
  assert.deepEqual(world.deleted(), ['p-a', 'p-gone']);
  assert.equal(world.meter.series.get(evictions), 1);
});

test('a node that was deleted before its time was up is forgotten, and a namesake begins anew', async () => {
  const world = await aWorld('Unknown');
  await world.advance(590);
  world.removeNode('n');
  world.addNode('n', 'Unknown');
  await world.monitor();
  await world.advance(20);
  await world.pass();
  assert.deepEqual(world.deleted(), []);
  assert.ok(world.kinds().includes('node-eviction-withdrawn'));
});

test('in an outage nobody leaves: lines and deadlines are given up, marks too, and pods already on the way are held', async () => {
  const world = new EvictionWorld();
  for (const name of ['a', 'b']) world.addPod(`p${name}`, name);
  world.addNode('a', 'Unknown');
  await world.monitor();
  await world.advance(601);
  world.fail('delete-pod', 'unavailable', { pod: 'pa' });
  await world.pass();
  world.held = true;
  world.addNode('b', 'Unknown');
  await world.advance(601);
  await world.pass();
  assert.deepEqual(world.deleted(), []);
  for (const node of world.nodes.values()) await world.evictor.pardon(node);
  world.held = false;
  await world.advance(60);
  await world.pass();
  assert.deepEqual(world.deleted(), []);
  assert.deepEqual(
    ['a', 'b'].map((name) => world.evictor.markOf(name)),
    ['unmarked', 'unmarked'],
  );
  assert.deepEqual(world.lines.get('')?.keysInOrder(), []);
});

test('what is held goes on afterwards', async () => {
  const world = await aWorld('Unknown');
  world.duringWrite = ({ kind }) => {
    if (kind === 'mark-pod-lost') world.held = true;
  };
  await world.advance(601);
  await world.pass();
  assert.deepEqual(world.deleted(), []);
  world.held = false;
  await world.advance(1);
  await world.pass();
  assert.deepEqual(world.deleted(), ['p']);
});

test('time in which we were blind counts for nobody', async () => {
  const world = await aWorld('Unknown');
  await world.advance(400);
  world.blindMs = 300_000;
  await world.advance(300);
  await world.pass();
  assert.deepEqual(world.deleted(), []);
  await world.advance(201);
  await world.pass();
  assert.deepEqual(world.deleted(), ['p']);
});

test('a node that changes its zone waits in the new one only', async () => {
  const world = new EvictionWorld({ ratePerSecond: 0.001 });
  for (const name of ['first', 'n']) {
    world.addNode(name, 'Unknown', { zone: 'old' });
    world.addPod(`p-${name}`, name);
  }
  await world.monitor();
  await world.advance(601);
  await world.pass();
  assert.deepEqual(world.lines.get('/old')?.keysInOrder(), ['n']);
  world.moveTo('n', 'new');
  await world.monitor();
  assert.deepEqual(world.lines.get('/old')?.keysInOrder(), []);
  await world.pass();
  assert.deepEqual(world.deleted(), ['p-first', 'p-n']);
  assert.equal(world.meter.series.get('node_collector_evictions_total{zone="/new"}'), 1);
});

test("taints that the other mode left are taken from a healthy node, tried again if that fails, and nobody else's are", async () => {
  const key = 'node.kubernetes.io/unreachable';
  const kept = [
    { key, effect: 'NoSchedule' },
    { key: 'maintenance', effect: 'NoExecute' },
  ];
  const world = new EvictionWorld();
  world.addNode('n', 'True', { taints: [{ key, effect: 'NoExecute' }, ...kept] });
  world.fail('change-taints', 'conflict');
  assert.equal(await world.evictor.attend(world.nodes.get('n')!, ''), 'unsettled');
  assert.equal(await world.evictor.attend(world.nodes.get('n')!, ''), 'settled');
  assert.deepEqual(world.nodes.get('n')?.taints, kept);
  await world.monitor();
  assert.equal(world.commands.length, 1);
});

test('law: in no window does a zone lose more nodes than its rate allows, and in the end all that stayed dark are evicted', async () => {
  const rate = 0.5;
  const darkAt = fc.array(fc.nat(30), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(darkAt, async (delays) => {
      const world = new EvictionWorld({ ratePerSecond: rate, timeoutSeconds: 10 });
      const evictedAt: number[] = [];
      world.duringWrite = ({ kind }) => {
        if (kind === 'delete-pod') evictedAt.push(world.clock.monotonicMs() / 1_000);
      };
      delays.forEach((_, i) => {
        world.addNode(`n${i}`, 'True');
        world.addPod(`p${i}`, `n${i}`);
      });
      for (let second = 0; second < 80; second++) {
        delays.forEach((at, i) => {
          if (at === second) world.becomes(`n${i}`, 'Unknown');
        });
        await world.monitor();
        await world.pass();
        await world.advance(1);
      }
      assert.equal(evictedAt.length, delays.length);
      evictedAt.forEach((from, first) => {
        evictedAt.slice(first).forEach((to, more) => {
          assert.ok(more + 1 <= rate * (to - from) + 1 + 1e-6, `${more + 1} nodes within ${to - from} s`);
        });
      });
    }),
    { numRuns: 30 },
  );
});
