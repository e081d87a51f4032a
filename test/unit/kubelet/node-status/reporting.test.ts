import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { FakeVolumes } from '../../../../src/kubelet/machine/node-volumes.ts';
import { NodeWorld, type NodeWorldOptions } from './node-world.ts';

const secondMs = 1_000;

describe('reports of a node', () => {
  let world: NodeWorld;

  afterEach(async () => {
    await world.stop();
  });

  async function settled(options: NodeWorldOptions = {}): Promise<NodeWorld> {
    world = new NodeWorld(options);
    await world.settle();
    return world;
  }

  /** With a periodic report just made: the next ones follow at the plain period. */
  async function settledAndReported(): Promise<void> {
    await settled({ chance: 0 });
    while (world.times('patch', 'nodes').length < 1) await world.clock.advance(10 * secondMs);
    world.forget();
  }

  it('are made every five minutes when nothing changes, with every heartbeat moved [A11]', async () => {
    await settledAndReported();
    await world.clock.advance(285 * secondMs);
    assert.deepEqual(world.times('patch', 'nodes'), []);
    await world.clock.advance(20 * secondMs);
    assert.equal(world.times('patch', 'nodes').length, 1);
    const heartbeats = new Set(world.conditions().map(({ lastHeartbeatTime }) => lastHeartbeatTime));
    assert.equal(heartbeats.size, 1);
    assert.deepEqual(world.verbs('nodes'), ['patch'], 'and nothing is asked');
  });

  it('are made at once for a change, which moves the next periodic one by a chance [A12]', async () => {
    await settledAndReported();
    await world.clock.advance(40 * secondMs);
    world.chance = 0.9;
    world.side.machine.breakDown('something');
    await world.clock.advance(10.4 * secondMs);
    const [changedAt = 0] = world.times('patch', 'nodes');
    assert.equal(world.times('patch', 'nodes').length, 1);
    await world.clock.advance(800 * secondMs);
    const [, next = 0, afterThat = 0] = world.times('patch', 'nodes');
    assert.ok(next - changedAt >= 420 && next - changedAt <= 431, `${next - changedAt} s after the change`);
    assert.ok(afterThat - next >= 300 && afterThat - next <= 311, `${afterThat - next} s after that`);
  });

  it('are as frequent as the status is computed when only that is set [A13]', async () => {
    await settled({ profile: { nodeStatusUpdateFrequencyMs: 10 * secondMs } });
    await world.clock.advance(60 * secondMs);
    const reports = world.times('patch', 'nodes').length;
    assert.ok(reports >= 5 && reports <= 6, `${reports} reports in a minute`);
  });

  it('are, of a classic kubelet, one read from the cache and one write every ten seconds sharp [A14]', async () => {
    await settled({ profile: { kind: 'classic' }, chance: 0.9 });
    await world.clock.advance(59 * secondMs);
    const requests = world.api.requests.filter(({ resource }) => resource === 'nodes');
    assert.deepEqual(
      requests.map((request) => [request.verb, request.resourceVersion, world.seconds(request)]),
      [20.1, 30.1, 40.1, 50.1, 60.1, 70.1].flatMap((at) => [
        ['get', '0', at],
        ['patch', undefined, at],
      ]),
    );
    assert.deepEqual(world.verbs('leases'), [], 'the status is the heartbeat');
  });

  it('are tried five times in a row, with a fresh read each but the first [A15]', async () => {
    await settled();
    world.side.machine.breakDown('something');
    world.api.fail('patch', 'nodes', 'internal', 4);
    await world.clock.advance(10 * secondMs);
    assert.deepEqual(world.verbs('nodes'), ['patch', 'get', 'patch', 'get', 'patch', 'get', 'patch', 'get', 'patch']);
    assert.equal(new Set(world.times('patch', 'nodes')).size, 1, 'at the same time');
    assert.ok(world.api.requests.every(({ resourceVersion }) => resourceVersion === undefined));
    assert.equal(world.hooks, 3);
    assert.equal(world.condition('Ready')?.status, 'False');
  });

  it('are given up after five tries, until the next cycle [A16]', async () => {
    await settled();
    world.side.machine.breakDown('something');
    world.api.fail('patch', 'nodes', 'internal', 5);
    await world.clock.advance(10 * secondMs);
    const [failedAt = 0] = world.times('patch', 'nodes');
    assert.equal(world.times('patch', 'nodes').length, 5);
    assert.equal(world.hooks, 4);
    assert.equal(world.logger.lines.at(-1)?.message, 'update node status exceeds retry count');
    await world.clock.advance(10 * secondMs);
    const next = world.times('patch', 'nodes')[5] ?? 0;
    assert.ok(next - failedAt >= 10, `${next - failedAt} s later`);
  });

  it('take no longer than the requests of five tries into the dark [A17]', async () => {
    await settled();
    world.side.machine.breakDown('something');
    world.link.cut();
    world.hooks = 0;
    await world.clock.advance(54 * secondMs);
    const isOver = () => world.logger.lines.some(({ message }) => message === 'update node status exceeds retry count');
    assert.ok(!isOver(), 'the first try is one write, the others are a read each: 50 s');
    await world.clock.advance(2 * secondMs);
    assert.ok(isOver());
  });

  it('hold the whole list of addresses when one changes, and a word that it replaces the stored one [A18]', async () => {
    await settled();
    const addresses = [
      { type: 'InternalIP', address: '10.0.0.2' },
      { type: 'InternalIP', address: 'fd00::2' },
      { type: 'Hostname', address: 'n1' },
    ];
    world.side.machine.setAddresses(addresses);
    await world.clock.advance(10 * secondMs);
    const body = world.api.requests.find(({ verb }) => verb === 'patch')?.body as { status: Record<string, unknown> };
    assert.deepEqual(body.status['addresses'], [...addresses, { $patch: 'replace' }]);
    assert.deepEqual(world.node()?.status?.addresses, addresses);
  });

  it('come with an event when the node was cordoned or opened again, and again after a restart [A19]', async () => {
    await settled();
    const told = () => world.events().filter((reason) => reason.endsWith('Schedulable'));
    await world.edit({ spec: { unschedulable: true } });
    await world.clock.advance(30 * secondMs);
    assert.deepEqual(told(), ['NodeNotSchedulable']);
    await world.edit({ spec: { unschedulable: false } });
    await world.clock.advance(30 * secondMs);
    assert.deepEqual(told(), ['NodeNotSchedulable', 'NodeSchedulable']);
    await world.edit({ spec: { unschedulable: true } });
    await world.clock.advance(10 * secondMs);
    await world.restart();
    await world.clock.advance(secondMs);
    assert.deepEqual(told().slice(2), ['NodeNotSchedulable', 'NodeNotSchedulable']);
    assert.deepEqual(world.recorder.drafts.at(-1), {
      about: { kind: 'Node', name: 'n1', uid: 'n1' },
      type: 'Normal',
      reason: 'NodeNotSchedulable',
      message: 'Node n1 status is now: NodeNotSchedulable',
    });
  });

  it('leave volumes in use alone until it is known which are, and tell what the API server knows of them [A20]', async () => {
    const volumes = new FakeVolumes();
    await settled({ volumes });
    await world.edit({ status: { volumesInUse: ['v1'] } });
    volumes.use('v1');
    world.forget();
    await world.clock.advance(30 * secondMs);
    assert.deepEqual(world.node()?.status?.volumesInUse, ['v1']);
    assert.deepEqual(volumes.reported, ['v1']);
    assert.ok(volumes.isMounted('v1'));
    assert.deepEqual(world.verbs('nodes'), [], 'without any write');
    volumes.release('v1');
    volumes.sync();
    await world.clock.advance(10 * secondMs);
    assert.equal(world.node()?.status?.volumesInUse ?? undefined, undefined);
    assert.deepEqual(volumes.reported, []);
  });

  it('put a label right that somebody changed, in one patch with all heartbeats', async () => {
    await settled();
    await world.edit({ metadata: { labels: { 'kubernetes.io/os': 'plan9' } } });
    await world.clock.advance(10 * secondMs);
    const body = world.api.requests.find(({ verb }) => verb === 'patch')?.body as Record<string, unknown>;
    const lastHeartbeatTime = world.condition('Ready')?.lastHeartbeatTime;
    const types = ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'];
    assert.deepEqual(body, {
      metadata: { labels: { 'kubernetes.io/os': 'linux' } },
      status: {
        '$setElementOrder/conditions': types.map((type) => ({ type })),
        conditions: types.map((type) => ({ lastHeartbeatTime, type })),
      },
    });
  });

  it('are made when the node was given another range of pod addresses', async () => {
    await settled();
    await world.edit({ spec: { podCIDRs: ['10.1.0.0/24'] } });
    await world.clock.advance(10 * secondMs);
    assert.deepEqual(world.verbs('nodes'), ['patch']);
    await world.clock.advance(20 * secondMs);
    assert.deepEqual(world.verbs('nodes'), ['patch']);
  });

  it('begin with one right after the registration that changes nothing', async () => {
    world = new NodeWorld();
    world.start();
    await world.clock.advance(100);
    const patches = world.api.requests.filter(({ verb, resource }) => verb === 'patch' && resource === 'nodes');
    assert.deepEqual(
      patches.map(({ body }) => body),
      [{}],
    );
    assert.equal(world.condition('Ready')?.message, 'CSINode is not yet initialized');
    await world.clock.advance(200);
    assert.equal(world.condition('Ready')?.status, 'True');
  });

  it('wait for the next cycle while the node cannot become ready, and not when it can', async () => {
    world = new NodeWorld();
    world.side.machine.breakDown('no network');
    world.start();
    await world.clock.advance(9_000);
    const patches = world.times('patch', 'nodes').length;
    assert.equal(patches, 1, 'the first report');
    await world.clock.advance(2_000);
    assert.equal(world.condition('Ready')?.message, 'no network');
    world.side.machine.repair();
    await world.clock.advance(100);
    assert.equal(world.condition('Ready')?.status, 'True');
  });

  it('come one period after the other, at a phase of its own if the fleet wants that', async () => {
    await settled({ profile: { leasePhase: 'hash', nodeStatusReportFrequencyMs: 0 } });
    await world.clock.advance(40 * secondMs);
    const [first = 0] = world.times('patch', 'nodes');
    const phases = world.times('patch', 'nodes').map((at) => Math.round((at - first) * 1_000) % 10_000);
    assert.deepEqual(new Set(phases), new Set([0]));
    assert.notEqual(Math.round(first * 1_000) % 10_000, 100, 'not that of the registration');
  });

  it('fall back to a whole cycle when the one that said ready at once failed', async () => {
    world = new NodeWorld();
    world.start();
    await world.clock.advance(150);
    world.api.fail('patch', 'nodes', 'internal', 2);
    await world.clock.advance(150);
    assert.equal(world.condition('Ready')?.status, 'True');
    assert.equal(world.times('patch', 'nodes').length, 1 + 3);
  });

  it('can be stopped while the lease goes on, and the other way round', async () => {
    await settled();
    world.side.setHeartbeat('status', false);
    world.side.machine.breakDown('something');
    await world.clock.advance(60 * secondMs);
    assert.deepEqual([world.times('patch', 'nodes').length, world.times('replace', 'leases').length], [0, 6]);
    world.side.setHeartbeat('status', true);
    world.side.setHeartbeat('lease', false);
    world.forget();
    await world.clock.advance(60 * secondMs);
    assert.deepEqual([world.times('patch', 'nodes').length, world.times('replace', 'leases').length], [1, 0]);
  });
});
