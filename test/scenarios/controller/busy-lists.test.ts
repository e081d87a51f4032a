// Consistent lists are answered 429, as by kube-apiserver 1.37 while its watch cache is behind etcd, or by one that is overloaded: that is
// no evidence of anything yet, neither that a node is silent, nor that anything is gone, nor that the storage went back in time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../../src/machinery/api/api-error.ts';
import type { RequestLine } from '../../../src/simulator/network/network.ts';
import { ControllerWorld } from '../../support/controller-world.ts';
import { ReplicaWorld } from '../../support/replica-world.ts';

const sixNodes = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6'].map((name, index) => ({ name, zone: `z${index % 3}` }));

/** From now on these requests of replicas are answered 429. Returns the function that ends it. */
function refuse(
  { world }: ReplicaWorld,
  matches: (line: RequestLine) => boolean,
  retryAfterMs: number | undefined,
): () => void {
  const error = (): ApiError =>
    new ApiError({ reason: 'too-many-requests', code: 429, retryAfterMs, message: 'Too large resource version' });
  const isRefused = (line: RequestLine): boolean => line.by.process.startsWith('replica') && matches(line);
  return world.network.add({ leg: 'request', rate: 1, matches: isRefused, effect: { kind: 'answer', error } });
}

const isList = ({ verb }: Pick<RequestLine, 'verb'>): boolean => verb === 'list';
const isRead = ({ verb }: Pick<RequestLine, 'verb'>): boolean => isList({ verb }) || verb === 'get';

/** All watches of the replicas end, and continue from the version that they have reached. */
function reconnect({ world }: ReplicaWorld): void {
  world.timeline.after(500, world.stopServers([...world.servers.keys()]));
}

for (const retryAfterMs of [undefined, 1_000]) {
  const form = retryAfterMs === undefined ? 'without Retry-After' : 'with Retry-After';

  test(`watches that continue after a lost connection stay open while lists are answered 429 ${form}`, async () => {
    using replicas = new ReplicaWorld({ nodes: sixNodes, replicas: 1, watchCanary: false });
    await replicas.settle();
    const accept = refuse(replicas, isList, retryAfterMs);
    reconnect(replicas);
    await replicas.advance(1_000);
    await replicas.until('watching again', 20_000, () => replicas.isWatching(replicas.leader()));
    const openings = (): number =>
      replicas.sent.filter(({ verb, by }) => verb === 'watch' && by.client === 'main').length;
    const before = openings();
    await replicas.advance(60_000);
    assert.equal(openings(), before, 'no watch was closed to list in its place');
    replicas.cut('n1');
    // Probes are lists too: for a minute at most frames of the watch are no evidence without them.
    await replicas.until('n1 Unknown', 120_000, () => replicas.ready('n1') === 'Unknown');
    assert.deepEqual(
      ['n2', 'n3', 'n4', 'n5', 'n6'].map((name) => replicas.ready(name)),
      Array(5).fill('True'),
    );
    accept();
    await replicas.advance(60_000);
    assert.ok(replicas.isWatching(replicas.leader()));
    assert.ok(openings() > before, 'the state that could not be compared is listed when lists are answered');
  });

  test(`silent nodes whose leases cannot be read are held while reads are answered 429 ${form}, and no longer`, async () => {
    using replicas = new ReplicaWorld({ nodes: sixNodes, replicas: 1 });
    await replicas.settle();
    const accept = refuse(replicas, (line) => line.resource === 'leases' && isRead(line), retryAfterMs);
    replicas.cut('n1');
    await replicas.advance(75_000);
    assert.equal(replicas.ready('n1'), 'True', 'a lease that is not read is no proof of silence');
    accept();
    await replicas.until('n1 Unknown', 10_000, () => replicas.ready('n1') === 'Unknown');
  });

  test(`no watch is evidence while nothing but 429 ${form} is answered: no node is marked`, async () => {
    using replicas = new ReplicaWorld({ nodes: sixNodes, replicas: 1 });
    await replicas.settle();
    const accept = refuse(replicas, (line) => isRead(line) || line.verb === 'watch', retryAfterMs);
    reconnect(replicas);
    await replicas.advance(1_000);
    for (const { name } of sixNodes) assert.equal(replicas.ready(name), 'True', name);
    await replicas.advance(120_000);
    for (const { name } of sixNodes) assert.equal(replicas.ready(name), 'True', name);
    accept();
    await replicas.advance(90_000);
    for (const { name } of sixNodes) assert.equal(replicas.ready(name), 'True', name);
    replicas.cut('n2');
    await replicas.until('n2 Unknown', 70_000, () => replicas.ready('n2') === 'Unknown');
  });
}

test('many silent nodes are confirmed by single reads as soon as the list of leases is answered 429', async () => {
  const nodes = Array.from({ length: 20 }, (_, index) => ({ name: `n${index}`, zone: `z${index % 3}` }));
  using replicas = new ReplicaWorld({ nodes, replicas: 1 });
  await replicas.settle();
  refuse(replicas, (line) => line.resource === 'leases' && line.by.client !== 'main' && isList(line), 20_000);
  const silent = nodes.slice(0, 12).map(({ name }) => name);
  for (const name of silent) replicas.cut(name);
  await replicas.until('all Unknown', 65_000, () => silent.every((name) => replicas.ready(name) === 'Unknown'));
});

test('pods of a missing node stay while reads of it are answered 429, and go when it is answered that it is gone', async () => {
  await using world = new ControllerWorld({}, { podGc: true });
  world.addNode('a-0', { zone: 'a' });
  world.renewing('a-0');
  world.addPod('web', 'nowhere');
  world.beforeRead = () => Promise.reject(new ApiError({ reason: 'too-many-requests', code: 429, message: 'busy' }));
  await world.running(300);
  assert.deepEqual(world.evicted(), []);
  world.beforeRead = () => Promise.resolve();
  await world.advance(45);
  assert.deepEqual(world.evicted(), ['web']);
});
