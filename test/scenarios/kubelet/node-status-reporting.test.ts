import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import type { NetworkRule } from '../../../src/hollow-cluster/kubelet/network/network-rule.ts';
import { NodeWorld, type NodeWorldOptions } from '../../support/node-world.ts';

const secondMs = 1_000;

describe('status reports of a node', () => {
  let world: NodeWorld;

  afterEach(() => world.stop());

  async function settled(options: NodeWorldOptions = {}): Promise<NodeWorld> {
    world = new NodeWorld(options);
    await world.settle();
    return world;
  }

  /** Directly after a periodic report: the next ones follow at the plain period. */
  async function settledAndReported(): Promise<void> {
    await settled({ chance: 0 });
    while (world.times('patch', 'nodes').length < 1) await world.clock.advance(10 * secondMs);
    world.forget();
  }

  it('are written every five minutes when nothing changes, with all heartbeat times updated [A11]', async () => {
    await settledAndReported();
    await world.clock.advance(285 * secondMs);
    assert.deepEqual(world.times('patch', 'nodes'), []);
    await world.clock.advance(20 * secondMs);
    assert.equal(world.times('patch', 'nodes').length, 1);
    const heartbeats = new Set(world.conditions().map(({ lastHeartbeatTime }) => lastHeartbeatTime));
    assert.equal(heartbeats.size, 1);
    assert.deepEqual(world.verbs('nodes'), ['patch'], 'without reads');
  });

  it('are written at once for a change, which moves the next periodic one by a random offset [A12]', async () => {
    await settledAndReported();
    await world.clock.advance(40 * secondMs);
    world.chance = 0.9;
    world.side.machine.fault = 'something';
    await world.clock.advance(10.4 * secondMs);
    const [changedAt = 0] = world.times('patch', 'nodes');
    assert.equal(world.times('patch', 'nodes').length, 1);
    await world.clock.advance(800 * secondMs);
    const [, next = 0, afterThat = 0] = world.times('patch', 'nodes');
    assert.ok(next - changedAt >= 420 && next - changedAt <= 431, `${next - changedAt} s after the change`);
    assert.ok(afterThat - next >= 300 && afterThat - next <= 311, `${afterThat - next} s after that`);
  });

  it('of another machine under the same name are logged, once in ten minutes; a restart and a reboot are none', async () => {
    const others = (): readonly unknown[] =>
      world.logger.at('warn').flatMap(({ message, fields }) => (message.startsWith('another') ? [fields] : []));
    await settled();
    const own = world.node()?.status?.nodeInfo?.['bootID'];
    await world.restart();
    await world.clock.advance(400 * secondMs);
    assert.deepEqual(others(), []);
    for (let time = 0; time < 5; time += 1) {
      await world.edit({ status: { nodeInfo: { bootID: 'boot-of-another' } } });
      await world.clock.advance(60 * secondMs);
    }
    assert.deepEqual(others(), [{ node: 'n1', bootID: 'boot-of-another', own }]);
  });

  it('have the frequency of the status updates if only that is set [A13]', async () => {
    await settled({ profile: { nodeStatusUpdateFrequencyMs: 10 * secondMs } });
    await world.clock.advance(60 * secondMs);
    const reports = world.times('patch', 'nodes').length;
    assert.ok(reports >= 5 && reports <= 6, `${reports} reports in a minute`);
  });

  it('are, in v1.8, one read from the cache and one write exactly every ten seconds [A14]', async () => {
    await settled({ profile: { kind: 'v1.8' }, chance: 0.9 });
    await world.clock.advance(59 * secondMs);
    const requests = world.api.requests.filter(({ resource }) => resource === 'nodes');
    const seen = requests.map((request) => [request.verb, request.resourceVersion, world.seconds(request)]);
    assert.deepEqual(
      seen,
      [20.1, 30.1, 40.1, 50.1, 60.1, 70.1].flatMap((at) => [
        ['get', '0', at],
        ['patch', undefined, at],
      ]),
    );
    assert.deepEqual(world.verbs('leases'), [], 'the status is the heartbeat');
  });

  it('are tried five times in a row, with a fresh read before each try but the first [A15]', async () => {
    await settled();
    world.side.machine.fault = 'something';
    world.api.fail('patch', 'nodes', 'internal', 4);
    await world.clock.advance(10 * secondMs);
    assert.deepEqual(world.verbs('nodes'), ['patch', 'get', 'patch', 'get', 'patch', 'get', 'patch', 'get', 'patch']);
    assert.equal(new Set(world.times('patch', 'nodes')).size, 1, 'at the same time');
    assert.ok(world.api.requests.every(({ resourceVersion }) => resourceVersion === undefined));
    assert.equal(world.hooks, 3);
    assert.equal(world.condition('Ready')?.status, 'False');
  });

  it('are given up after five tries until the next cycle [A16]', async () => {
    await settled();
    world.side.machine.fault = 'something';
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

  it('take no longer than the request timeouts of five tries [A17]', async () => {
    await settled();
    world.side.machine.fault = 'something';
    world.client.cut();
    world.hooks = 0;
    await world.clock.advance(54 * secondMs);
    const isOver = () => world.logger.lines.some(({ message }) => message === 'update node status exceeds retry count');
    assert.ok(!isOver(), 'the first try is one write, the others one read each: 50 s');
    await world.clock.advance(2 * secondMs);
    assert.ok(isOver());
  });

  it('contain the whole list of addresses when one changes, with a replace directive [A18]', async () => {
    await settled();
    const addresses = [
      { type: 'InternalIP', address: '10.0.0.2' },
      { type: 'Hostname', address: 'n1' },
    ];
    world.side.machine.change({ address: '10.0.0.2' });
    await world.clock.advance(10 * secondMs);
    const body = world.api.requests.find(({ verb }) => verb === 'patch')?.body as { status: Record<string, unknown> };
    assert.deepEqual(body.status['addresses'], [...addresses, { $patch: 'replace' }]);
    assert.deepEqual(world.node()?.status?.addresses, addresses);
  });

  it('record an Event when the node is cordoned or uncordoned, and again after a restart [A19]', async () => {
    await settled();
    const events = () => world.events().filter((reason) => reason.endsWith('Schedulable'));
    await world.edit({ spec: { unschedulable: true } });
    await world.clock.advance(30 * secondMs);
    assert.deepEqual(events(), ['NodeNotSchedulable']);
    await world.edit({ spec: { unschedulable: false } });
    await world.clock.advance(30 * secondMs);
    assert.deepEqual(events(), ['NodeNotSchedulable', 'NodeSchedulable']);
    await world.edit({ spec: { unschedulable: true } });
    await world.clock.advance(10 * secondMs);
    await world.restartFor(secondMs);
    assert.deepEqual(events().slice(2), ['NodeNotSchedulable', 'NodeNotSchedulable']);
    assert.deepEqual(world.recorder.drafts.at(-1), {
      about: { kind: 'Node', name: 'n1', uid: world.node()?.metadata.uid, apiVersion: 'v1' },
      type: 'Normal',
      reason: 'NodeNotSchedulable',
      message: 'Node n1 status is now: NodeNotSchedulable',
    });
  });

  it('correct a label that another client changed, in one patch with all heartbeat times', async () => {
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

  it("are written when the node's pod CIDR changes", async () => {
    await settled();
    await world.edit({ spec: { podCIDRs: ['10.1.0.0/24'] } });
    await world.clock.advance(10 * secondMs);
    assert.deepEqual(world.verbs('nodes'), ['patch']);
    await world.clock.advance(20 * secondMs);
    assert.deepEqual(world.verbs('nodes'), ['patch']);
  });

  it('begin with one right after a registration that changes nothing', async () => {
    world = new NodeWorld();
    await world.startFor(100);
    const patches = world.api.requests.filter(({ verb, resource }) => verb === 'patch' && resource === 'nodes');
    const bodies = patches.map(({ body }) => body);
    assert.deepEqual(bodies, [{}]);
    assert.equal(world.condition('Ready')?.message, 'CSINode is not yet initialized');
    await world.clock.advance(200);
    assert.equal(world.condition('Ready')?.status, 'True');
  });

  it('wait for the next cycle while the node is not ready, but not when it becomes ready', async () => {
    world = new NodeWorld();
    world.side.machine.fault = 'no network';
    await world.startFor(9_000);
    const patches = world.times('patch', 'nodes').length;
    assert.equal(patches, 1, 'the first report');
    await world.clock.advance(2_000);
    assert.equal(world.condition('Ready')?.message, 'no network');
    world.side.machine.fault = undefined;
    await world.clock.advance(100);
    assert.equal(world.condition('Ready')?.status, 'True');
  });

  it('follow at the phase of the node, if the fleet is configured so', async () => {
    await settled({ profile: { leasePhase: 'hash', nodeStatusReportFrequencyMs: 0 } });
    await world.clock.advance(40 * secondMs);
    const [first = 0] = world.times('patch', 'nodes');
    const phases = world.times('patch', 'nodes').map((at) => Math.round((at - first) * 1_000) % 10_000);
    assert.deepEqual(new Set(phases), new Set([0]));
    assert.notEqual(Math.round(first * 1_000) % 10_000, 100, 'not at the phase of the registration');
  });

  it('fall back to a full cycle when the fast-start report failed', async () => {
    world = new NodeWorld();
    await world.startFor(150);
    world.api.fail('patch', 'nodes', 'internal', 2);
    await world.clock.advance(150);
    assert.equal(world.condition('Ready')?.status, 'True');
    assert.equal(world.times('patch', 'nodes').length, 1 + 3);
  });

  it('can be lost while the lease is renewed, and the other way round', async () => {
    const lost = (heartbeat: 'lease' | 'status'): NetworkRule[] => [
      { about: { class: heartbeat }, effect: { kind: 'swallow' }, stallsWatches: false },
    ];
    const random = { next: () => 0 };
    await settled();
    world.client.setRules(lost('status'), random);
    world.side.machine.fault = 'something';
    await world.clock.advance(60 * secondMs);
    assert.deepEqual([world.times('patch', 'nodes').length, world.times('replace', 'leases').length], [0, 6]);
    world.client.setRules(lost('lease'), random);
    world.forget();
    await world.clock.advance(60 * secondMs);
    assert.deepEqual([world.times('patch', 'nodes').length, world.times('replace', 'leases').length], [1, 0]);
  });
});
