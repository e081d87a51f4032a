import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { type Condition, findCondition, listConditions } from '../../../../src/api/conditions.ts';
import type { Node } from '../../../../src/api/node.ts';
import { NodeWorld, type NodeWorldOptions } from './node-world.ts';

const readyOf = (node: Node): Partial<Condition> =>
  findCondition(listConditions(node.status?.conditions), 'Ready') ?? {};
const attemptTimes = [0.1, 0.3, 0.7, 1.5, 3.1, 6.3, 12.7, 19.7, 26.7, 33.7, 40.7, 47.7, 54.7];

describe('the registration of a node', () => {
  let world: NodeWorld;

  afterEach(async () => {
    await world.stop();
  });

  function begin(options: NodeWorldOptions = {}): NodeWorld {
    world = new NodeWorld(options);
    return world;
  }

  /** A node that this kubelet has registered in an earlier life, but for what is wrong with it. */
  async function registeredBefore(options: NodeWorldOptions = {}): Promise<void> {
    begin(options);
    await world.settle();
    await world.stop();
    world.forget();
  }

  function firstPost(): Node {
    const post = world.api.requests.find(({ verb, resource }) => verb === 'create' && resource === 'nodes');
    return post?.body as Node;
  }

  it('is one POST a tenth of a second after the start, and never another [A1]', async () => {
    begin().start();
    await world.clock.advance(60_000);
    assert.deepEqual(world.times('create', 'nodes'), [0.1]);
  });

  it('is tried again with growing waits, and nothing is reported before it worked [A2]', async () => {
    begin().api.fail('create', 'nodes', 'internal', 5);
    world.start();
    await world.clock.advance(10_000);
    assert.deepEqual(world.times('create', 'nodes'), attemptTimes.slice(0, 6));
    assert.equal(world.times('patch', 'nodes')[0], 6.3);
  });

  it('is tried every 7 seconds for as long as it takes [A3]', async () => {
    begin().api.fail('create', 'nodes', 'internal', 1_000);
    world.start();
    await world.clock.advance(60_000);
    assert.deepEqual(world.times('create', 'nodes'), attemptTimes);
  });

  it('puts right the default labels of a node that is there, and leaves others and the taints alone [A4]', async () => {
    await registeredBefore();
    const taints = [{ key: 'a', value: 'b', effect: 'NoSchedule' }];
    await world.edit({
      metadata: { labels: { team: 'x', 'kubernetes.io/os': null } },
      spec: { taints },
    });
    await world.restart();
    await world.clock.advance(100);
    assert.deepEqual(world.verbs('nodes').slice(-4), ['create', 'get', 'patch', 'patch']);
    const patch = world.api.requests.find(({ verb, resource }) => verb === 'patch' && resource === 'nodes');
    assert.deepEqual(patch?.body, { metadata: { labels: { 'kubernetes.io/os': 'linux' } } });
    assert.equal(world.node()?.metadata.labels?.['team'], 'x');
    assert.deepEqual(world.node()?.spec?.taints, taints);
  });

  it('writes nothing on a node that is there and as it should be [A5]', async () => {
    await registeredBefore();
    await world.clock.advance(1_000);
    await world.restart();
    await world.clock.advance(100);
    const verbs = world.verbs('nodes');
    assert.deepEqual(verbs.slice(verbs.indexOf('create')), ['create', 'get', 'patch']);
    const body = JSON.stringify(world.api.requests.at(-1)?.body);
    assert.match(body, /lastHeartbeatTime/, 'the only write is the first report');
    assert.doesNotMatch(body, /metadata|capacity|reason/);
  });

  it('is ready from its first word on where the node is there, and waits for its storage where it is not', async () => {
    begin().start();
    await world.clock.advance(100);
    assert.match(String(readyOf(firstPost()).message), /CSINode is not yet initialized/);
    await world.clock.advance(15_000);
    await world.stop();
    world.forget();
    await world.restart();
    await world.clock.advance(100);
    assert.deepEqual([readyOf(firstPost()).status, readyOf(firstPost()).reason], ['True', 'KubeletReady']);
  });

  it('does not take the node that it has just made for one that was there, though the watch is faster than the answer', async () => {
    const { api, clock, signal } = begin();
    const create = api.create.bind(api);
    api.create = async (resource, object) => {
      const created = await create(resource, object);
      if (resource === 'nodes') await clock.sleep(500, signal);
      return created;
    };
    const seen: string[] = [];
    api.onEvent((resource, { object }) => {
      const status = resource === 'nodes' ? readyOf(object as Node).status : undefined;
      if (status !== undefined && status !== seen.at(-1)) seen.push(status);
    });
    world.start();
    await clock.advance(20_000);
    assert.deepEqual(seen, ['False', 'True']);
    assert.equal(world.recorder.drafts.filter(({ reason }) => reason === 'NodeNotReady').length, 0);
  });

  it('adds no taint to a node that is there [A6]', async () => {
    await registeredBefore();
    await world.restart({ registerWithTaints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }] });
    await world.clock.advance(20_000);
    assert.equal(world.node()?.spec?.taints, undefined);
  });

  it('makes a fresh node with its taints, cordoned and waiting for its cloud and its routes, if so configured', async () => {
    begin({
      profile: {
        registerWithTaints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }],
        registerSchedulable: false,
        externalCloudProvider: true,
        needsRoutes: true,
        keepTerminatedPodVolumes: true,
      },
    }).start();
    await world.clock.advance(100);
    assert.equal(world.node()?.spec?.unschedulable, true);
    assert.deepEqual(
      world.node()?.spec?.taints?.map(({ key }) => key),
      ['k', 'node.cloudprovider.kubernetes.io/uninitialized', 'node.kubernetes.io/unschedulable'],
    );
    assert.equal(world.conditions()[0]?.type, 'NetworkUnavailable');
    assert.equal(world.conditions()[0]?.message, 'Node created without a route');
    assert.deepEqual(Object.values(world.node()?.metadata.annotations ?? {}), ['true', 'true']);
  });

  it('tells of a runtime that has not answered yet, with Ready as the last condition [A7]', async () => {
    const healthChecks = [{ name: 'PLEG', problem: () => 'pleg has yet to be successful' }];
    begin({ healthChecks }).runtime.says('silent');
    world.start();
    await world.clock.advance(100);
    assert.deepEqual(
      world.conditions().map(({ type }) => type),
      ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'],
    );
    const ready = world.condition('Ready');
    assert.deepEqual([ready?.status, ready?.reason], ['False', 'KubeletNotReady']);
    assert.match(ready?.message ?? '', /container runtime status check may not have completed yet/);
    assert.match(ready?.message ?? '', /PLEG is not healthy: pleg has yet to be successful/);
    assert.match(ready?.message ?? '', /network state unknown/);
  });

  it('is followed by Ready as soon as the runtime is, not a period later, with one event [A8]', async () => {
    let relisted = false;
    const problem = (): string | undefined => (relisted ? undefined : 'pleg has yet to be successful');
    begin({ healthChecks: [{ name: 'PLEG', problem }] }).runtime.says('silent');
    world.start();
    await world.clock.advance(3_000);
    assert.equal(world.condition('Ready')?.status, 'False');
    relisted = true;
    world.runtime.recovers();
    await world.clock.advance(200);
    assert.equal(world.condition('Ready')?.status, 'True');
    await world.clock.advance(20_000);
    assert.equal(world.events().filter((reason) => reason === 'NodeReady').length, 1);
  });

  it('is no longer watched closely when the node has not become ready within two minutes [A9]', async () => {
    begin().runtime.says('silent');
    world.start();
    await world.clock.advance(120_500);
    const timeouts = world.logger.lines.filter(({ message }) => message.startsWith('Node not becoming ready in time'));
    assert.equal(timeouts.length, 1);
    world.runtime.recovers();
    await world.clock.advance(5_000);
    assert.equal(world.condition('Ready')?.status, 'False', 'nobody looks before the next cycle');
    await world.clock.advance(10_000);
    assert.equal(world.condition('Ready')?.status, 'True');
  });

  it('does not happen again for a node that was deleted, until the kubelet restarts [A10]', async () => {
    await begin().settle();
    await world.deleteNode();
    await world.clock.advance(30_000);
    assert.deepEqual(new Set(world.verbs('nodes')), new Set(['get']));
    assert.equal(world.times('get', 'nodes').length, 3 * 4, 'the first of five tries asks the watched copy');
    const warnings = world.logger.lines.filter(({ message }) => message === 'update node status exceeds retry count');
    assert.equal(warnings.length, 3);
    await world.restart();
    await world.clock.advance(100);
    assert.equal(world.times('create', 'nodes').length, 1);
    assert.ok(world.node() !== undefined);
  });

  it('is left to others without registerNode: the status is reported all the same', async () => {
    begin({ profile: { registerNode: false } });
    await world.api.create('nodes', { metadata: { name: 'n1' } });
    world.api.requests.length = 0;
    world.start();
    await world.clock.advance(1_000);
    assert.equal(world.times('create', 'nodes').length, 0);
    assert.equal(world.condition('Ready')?.status, 'True');
  });

  it('deletes, as kubelets of old did, a node that another machine registered under the same name', async () => {
    begin({ profile: { kind: 'classic' } });
    await world.api.create('nodes', { metadata: { name: 'n1' } });
    const foreign = world.node()?.metadata.uid;
    world.start();
    await world.clock.advance(300);
    assert.deepEqual(world.verbs('nodes').slice(1, 5), ['create', 'get', 'delete', 'create']);
    assert.notEqual(world.node()?.metadata.uid, foreign);
  });

  it('fills in capacity where there is none, and puts sizes of huge pages right', async () => {
    await registeredBefore();
    await world.edit({ status: { capacity: { 'hugepages-1Gi': '2Gi' }, allocatable: { 'hugepages-1Gi': '2Gi' } } });
    await world.restart();
    await world.clock.advance(100);
    const patch = world.api.requests.find(({ verb, resource }) => verb === 'patch' && resource === 'nodes');
    assert.deepEqual(patch?.body, {
      status: { capacity: { 'hugepages-1Gi': null }, allocatable: { 'hugepages-1Gi': null } },
    });
  });

  it('is tried again when the node vanished between the answers', async () => {
    begin();
    await world.api.create('nodes', { metadata: { name: 'n1' } });
    world.api.requests.length = 0;
    world.start();
    await world.clock.advance(50);
    world.api.fail('get', 'nodes', 'not-found');
    await world.clock.advance(250);
    assert.deepEqual(world.times('create', 'nodes'), [0.1, 0.3]);
    assert.ok(world.side.isRegistered);
  });

  it('is given up when the process ends', async () => {
    begin().api.fail('create', 'nodes', 'unavailable', 1_000);
    world.start();
    await world.clock.advance(1_000);
    await world.stop();
    assert.equal(world.clock.sleeping, 0);
    assert.ok(!world.side.isRegistered);
  });
});
