import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { forget } from '../../../../src/machinery/queueing/work-queue.ts';
import { EvictionWorld } from './eviction-world.ts';

/** One node that became like this just now, with one pod, and its first look behind it. */
async function aWorld(ready = 'Unknown'): Promise<EvictionWorld> {
  const world = new EvictionWorld();
  world.addNode('n', ready);
  world.addPod('p', 'n');
  await world.monitor();
  return world;
}

/** Silent nodes with a pod each, which have had their turn, as far as the rate allows. */
async function severalEvicted(nodes: readonly string[], ratePerSecond: number, zone?: string): Promise<EvictionWorld> {
  const world = new EvictionWorld({ ratePerSecond });
  for (const name of nodes) {
    world.addNode(name, 'Unknown', zone === undefined ? {} : { zone });
    world.addPod(`p${name}`, name);
  }
  await world.monitor();
  await world.passAfter(601);
  return world;
}

/** The same, and its pod was sent away. */
async function anEvicted(): Promise<EvictionWorld> {
  const world = await aWorld();
  await world.passAfter(600.001);
  assert.deepEqual(world.deleted(), ['p']);
  return world;
}

const marks = (world: EvictionWorld, ...names: readonly string[]): readonly string[] =>
  names.map((name) => world.evictor.markOf(name));

const evictions = 'node_collector_evictions_total{zone=""}';

for (const ready of ['False', 'Unknown']) {
  test(`a node with Ready=${ready} loses its pods after the timeout, not at its end, and without an event`, async () => {
    const world = await aWorld(ready);
    await world.passAfter(600);
    assert.deepEqual(world.deleted(), []);
    assert.equal(world.evictor.markOf('n'), 'unmarked');
    await world.passAfter(0.001);
    assert.deepEqual(world.deleted(), ['p']);
    assert.equal(world.evictor.markOf('n'), 'evicted');
    assert.equal(world.meter.series.get(evictions), 1);
  });
}

test('the reason is in the status before the pod is deleted, and Events are recorded for node and pod', async () => {
  const world = await anEvicted();
  assert.deepEqual(world.sent(), ['mark-pod-lost', 'delete-pod']);
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

test('a node without pods is marked and counted, and no Event of deletions is recorded', async () => {
  const world = new EvictionWorld();
  world.addNode('n', 'Unknown');
  await world.monitor();
  await world.passAfter(601);
  assert.equal(world.evictor.markOf('n'), 'evicted');
  assert.deepEqual(world.events(), []);
});

test('a heartbeat restarts the timeout of a silent node; more heartbeats do not restart that of a node with Ready=False', async () => {
  const silent = await aWorld();
  const unready = await aWorld('False');
  for (const world of [silent, unready]) {
    await world.advance(300);
    const node = world.nodes.get('n')!;
    const [ready] = node.conditions;
    world.nodes.set('n', { ...node, conditions: [{ ...ready!, lastHeartbeatTime: 'another' }] });
    await world.monitor();
    await world.passAfter(301);
  }
  assert.deepEqual(silent.deleted(), []);
  assert.deepEqual(unready.deleted(), ['p']);
  await silent.passAfter(300);
  assert.deepEqual(silent.deleted(), ['p']);
});

test('a DaemonSet pod gets the reason and stays, recognized by selector and not by owner', async () => {
  const world = new EvictionWorld();
  world.addNode('n', 'False');
  world.addDaemonSet('ds0', { daemon: 'yes' });
  world.addPod('agent', 'n', { labels: { daemon: 'yes' } });
  await world.monitor();
  await world.passAfter(3_600);
  assert.deepEqual(world.deleted(), []);
  assert.equal(world.pod('agent').reason, 'NodeLost');
  assert.deepEqual(world.decisions.at(-1), { kind: 'pod-spared', pod: 'default/agent', node: 'n', daemonSet: 'ds0' });
  world.daemonSets.delete('default/ds0');
  await world.monitor();
  await world.pass();
  assert.deepEqual(world.deleted(), ['agent'], 'it has no DaemonSet any more');
});

test('a pod that is already terminating is not deleted again, and remains', async () => {
  const world = await aWorld();
  world.changePod('p', { deletionGraceSeconds: 30 });
  await world.passAfter(601);
  assert.deepEqual(world.deleted(), []);
  const [remaining, ...others] = world.evictor.remaining('n');
  assert.deepEqual([remaining?.name, others], ['p', []]);
});

test('a recovery takes a node out of the queue, and no token is spent on it', async () => {
  const world = await severalEvicted(['a', 'b', 'c'], 0.1);
  assert.deepEqual(world.deleted(), ['pa']);
  assert.deepEqual(marks(world, 'a', 'b', 'c'), ['evicted', 'to-be-evicted', 'to-be-evicted']);
  await world.advance(5);
  world.becomes('b', 'True');
  await world.monitor();
  assert.deepEqual(world.lines.get('')?.keysInOrder(), ['c']);
  await world.passAfter(5);
  assert.deepEqual(world.deleted(), ['pa', 'pc']);
  assert.equal(world.evictor.markOf('b'), 'unmarked');
});

test('a node with a heartbeat while it waited is skipped when it is served, and its timeout starts again', async () => {
  const world = await severalEvicted(['a', 'b', 'c'], 0.1);
  world.becomes('b', 'False'); // noticed, not attended to
  await world.passAfter(10);
  assert.deepEqual(world.deleted(), ['pa', 'pc'], 'the token was for a node that is still due');
  assert.deepEqual(world.lines.get('')?.keysInOrder(), []);
  await world.passAfter(590);
  assert.deepEqual(world.deleted(), ['pa', 'pc']);
  await world.passAfter(0.001);
  assert.deepEqual(world.deleted(), ['pa', 'pc', 'pb']);
});

test('a queued node with a heartbeat is dequeued when it is reconciled, and its deadline too when it is Ready', async () => {
  const world = new EvictionWorld({ ratePerSecond: 0 });
  world.addNode('n', 'Unknown');
  await world.monitor();
  assert.notEqual(world.evictor.dueAtMs('n'), undefined);
  await world.passAfter(601);
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

test('a new node with the name of an evicted one is another node', async () => {
  const world = await anEvicted();
  world.addNode('n', 'Unknown'); // seen as one change: the deletion in between was missed
  world.addPod('late', 'n');
  await world.evictor.drain();
  assert.deepEqual(world.deleted(), ['p']);
  const another = await anEvicted();
  another.removeNode('n');
  assert.equal(another.evictor.markOf('n'), 'unmarked');
});

test('a pod bound to an evicted node is deleted at once, and a pod bound after its recovery stays', async () => {
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

test('a new pod with the name of a deleted pod on an evicted node is another pod', async () => {
  const world = await anEvicted();
  const uid = world.pod('p').uid;
  world.addPod('p', 'n'); // seen as one change: the deletion in between was missed
  assert.notEqual(world.pod('p').uid, uid);
  await world.evictor.drain();
  assert.deepEqual(world.deleted(), ['p', 'p']);
});

test('an evicted node with Ready=False stays evicted; only Ready=True ends that', async () => {
  const world = await anEvicted();
  world.becomes('n', 'False');
  await world.monitor();
  world.addPod('late', 'n');
  await world.evictor.drain();
  assert.deepEqual(world.deleted(), ['p', 'late']);
});

test('one pod whose deletion fails blocks no other, is retried with back-off, and announced once', async () => {
  const world = new EvictionWorld();
  world.addNode('n', 'Unknown');
  for (const name of ['a', 'b', 'c']) world.addPod(name, 'n');
  await world.monitor();
  world.fail('delete-pod', 'internal', { pod: 'b', times: 3 });
  await world.passAfter(601);
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
  assert.equal(world.meter.series.get(evictions), 1, 'a node is counted once, however often a pod is retried');
});

test('a status that cannot be written does not prevent the deletion of a pod', async () => {
  const world = await aWorld();
  world.fail('mark-pod-lost', 'forbidden', { times: Infinity });
  await world.passAfter(601);
  assert.deepEqual(world.deleted(), ['p']);
});

test('a node that becomes Ready while its pod is being marked keeps it', async () => {
  const world = await aWorld();
  world.duringWrite = ({ kind }) => {
    if (kind === 'mark-pod-lost') world.becomes('n', 'True'); // in the cache, not reconciled yet yet
  };
  await world.passAfter(601);
  assert.deepEqual(world.deleted(), []);
});

test('a node that no longer exists when it is served is not counted, and its pods are deleted', async () => {
  const world = await severalEvicted(['a', 'gone'], 0.1);
  world.removeNode('gone');
  await world.passAfter(10);
  assert.deepEqual(world.deleted(), ['pa', 'pgone']);
  assert.equal(world.meter.series.get(evictions), 1);
});

test('a node that was deleted before its timeout ended is dropped, and a new one of the same name starts again', async () => {
  const world = await aWorld();
  await world.advance(590);
  world.removeNode('n');
  world.addNode('n', 'Unknown');
  await world.monitor();
  await world.passAfter(20);
  assert.deepEqual(world.deleted(), []);
  assert.ok(world.kinds().includes('node-eviction-withdrawn'));
});

test('in a full disruption no pod is deleted: queues, deadlines and marks are dropped, and pending deletions are held', async () => {
  const world = new EvictionWorld();
  for (const name of ['a', 'b']) world.addPod(`p${name}`, name);
  world.addNode('a', 'Unknown');
  await world.monitor();
  await world.advance(601);
  world.fail('delete-pod', 'unavailable', { pod: 'pa' });
  await world.pass();
  world.held = true;
  world.addNode('b', 'Unknown');
  await world.passAfter(601);
  assert.deepEqual(world.deleted(), []);
  for (const node of world.nodes.values()) await world.evictor.revokeNoExecute(node);
  world.held = false;
  await world.passAfter(60);
  assert.deepEqual(world.deleted(), []);
  assert.deepEqual(marks(world, 'a', 'b'), ['unmarked', 'unmarked']);
  assert.deepEqual(world.lines.get('')?.keysInOrder(), []);
});

test('held deletions continue afterwards', async () => {
  const world = await aWorld();
  world.duringWrite = ({ kind }) => {
    if (kind === 'mark-pod-lost') world.held = true;
  };
  await world.passAfter(601);
  assert.deepEqual(world.deleted(), []);
  world.held = false;
  await world.passAfter(1);
  assert.deepEqual(world.deleted(), ['p']);
});

test('a deletion that waits for a slot is not sent once its node is Ready', async () => {
  const world = await aWorld();
  world.beforeWrite = ({ kind }) => {
    if (kind === 'delete-pod') world.becomes('n', 'True');
  };
  await world.passAfter(601);
  await world.monitor();
  await world.passAfter(10);
  assert.deepEqual(world.deleted(), []);
});

test('a reason and a deletion that wait for a slot when evictions are held are sent after the hold', async () => {
  for (const waiting of ['mark-pod-lost', 'delete-pod'] as const) {
    const world = await aWorld();
    world.beforeWrite = ({ kind }) => {
      if (kind === waiting) world.held = true;
    };
    await world.passAfter(601);
    assert.ok(!world.sent().includes(waiting), waiting);
    world.beforeWrite = () => undefined;
    world.held = false;
    await world.passAfter(1);
    assert.deepEqual(world.sent(), ['mark-pod-lost', 'delete-pod'], waiting);
  }
});

test('a pod that is terminating when its deletion is about to be sent is not deleted again', async () => {
  const world = await aWorld();
  world.beforeWrite = ({ kind }) => {
    if (kind === 'delete-pod') world.changePod('p', { terminating: true });
  };
  await world.passAfter(601);
  assert.deepEqual(world.deleted(), []);
});

test('a reason that got a conflict is written at the next attempt', async () => {
  const world = await aWorld();
  world.fail('mark-pod-lost', 'conflict', { times: 2 });
  await world.passAfter(601);
  assert.equal(world.pod('p').reason, 'NodeLost');
  assert.deepEqual(world.deleted(), ['p']);
});

test('an accepted deletion that is not visible within 30 s is sent again, without a second Event', async () => {
  const world = await anEvicted();
  world.changePod('p', { terminating: false });
  await world.advance(29);
  await world.monitor();
  await world.pass();
  assert.deepEqual(world.deleted(), ['p'], 'the watch may lag');
  await world.passAfter(2);
  assert.deepEqual(world.deleted(), ['p', 'p']);
  assert.equal(world.events().filter((event) => event === 'p:NodeControllerEviction').length, 1);
  assert.equal(world.kinds().filter((kind) => kind === 'pod-evicted-with-node').length, 1);
});

test('a check drops the state of a node that no longer exists, or was created again', async () => {
  const world = await anEvicted();
  world.addNode('waits', 'Unknown');
  await world.monitor();
  world.nodes.delete('waits'); // and no event says so
  world.addNode('n', 'Unknown');
  assert.deepEqual([...world.evictor.queuedNodes()].sort(), ['n', 'waits']);
  for (const name of world.evictor.queuedNodes()) world.evictor.check(name);
  assert.deepEqual([...world.evictor.queuedNodes()], []);
  assert.equal(world.evictor.markOf('n'), 'unmarked');
});

test('stale time does not count for any node', async () => {
  const world = await aWorld();
  await world.advance(400);
  world.staleMs = 300_000;
  await world.passAfter(300);
  assert.deepEqual(world.deleted(), []);
  await world.passAfter(201);
  assert.deepEqual(world.deleted(), ['p']);
});

test('a node that changes its zone waits in the new queue only', async () => {
  const world = await severalEvicted(['first', 'n'], 0.001, 'old');
  assert.deepEqual(world.lines.get('/old')?.keysInOrder(), ['n']);
  world.moveTo('n', 'new');
  await world.monitor();
  assert.deepEqual(world.lines.get('/old')?.keysInOrder(), []);
  await world.pass();
  assert.deepEqual(world.deleted(), ['pfirst', 'pn']);
  assert.equal(world.meter.series.get('node_collector_evictions_total{zone="/new"}'), 1);
});

test('taints left by the other mode are removed from a healthy node, with retries, and taints of others are kept', async () => {
  const key = 'node.kubernetes.io/unreachable';
  const kept = [
    { key, effect: 'NoSchedule' },
    { key: 'maintenance', effect: 'NoExecute' },
  ];
  const world = new EvictionWorld();
  world.addNode('n', 'True', { taints: [{ key, effect: 'NoExecute' }, ...kept] });
  world.fail('change-taints', 'conflict');
  const conflict = { next: 'backoff', atLeastMs: undefined, isConflict: true } as const;
  assert.deepEqual(await world.evictor.reconcile(world.nodes.get('n')!, ''), conflict);
  assert.deepEqual(await world.evictor.reconcile(world.nodes.get('n')!, ''), forget);
  assert.deepEqual(world.nodes.get('n')?.taints, kept);
  await world.monitor();
  assert.equal(world.commands.length, 1);
});

test('property: no zone exceeds its rate in any window, and in the end all silent nodes are evicted', async () => {
  const rate = 0.5;
  const silentAt = fc.array(fc.nat(30), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(silentAt, async (delays) => {
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
