import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { type Condition, findCondition, listConditions } from '../../../src/machinery/api/conditions.ts';
import type { Node } from '../../../src/machinery/api/node.ts';
import { NodeWorld, type NodeWorldOptions } from '../../support/node-world.ts';

const readyOf = (node: Node): Partial<Condition> =>
  findCondition(listConditions(node.status?.conditions), 'Ready') ?? {};
const attemptTimes = [0.1, 0.3, 0.7, 1.5, 3.1, 6.3, 12.7, 19.7, 26.7, 33.7, 40.7, 47.7, 54.7];

describe('the registration of a node', () => {
  let world: NodeWorld;

  afterEach(() => world.stop());

  function begin(options: NodeWorldOptions = {}): NodeWorld {
    world = new NodeWorld(options);
    return world;
  }

  /** A node that an earlier run of this kubelet has registered, with the given differences. */
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

  it('is one POST 100 ms after the start, and no other [A1]', async () => {
    await begin().startFor(60_000);
    assert.deepEqual(world.times('create', 'nodes'), [0.1]);
  });

  it('is retried with exponential back-off, and no status is reported before it succeeds [A2]', async () => {
    begin().api.fail('create', 'nodes', 'internal', 5);
    await world.startFor(10_000);
    assert.deepEqual(world.times('create', 'nodes'), attemptTimes.slice(0, 6));
    assert.equal(world.times('patch', 'nodes')[0], 6.3);
  });

  it('waits for the delay of Retry-After', async () => {
    begin().api.refuse('create', 'nodes', 20_000);
    await world.startFor(60_000);
    assert.deepEqual(world.times('create', 'nodes'), [0.1, 20.1]);
  });

  it('is retried every 7 seconds without limit [A3]', async () => {
    begin().api.fail('create', 'nodes', 'internal', 1_000);
    await world.startFor(60_000);
    assert.deepEqual(world.times('create', 'nodes'), attemptTimes);
  });

  it('corrects the default labels of an existing node, and leaves other labels and the taints unchanged [A4]', async () => {
    await registeredBefore();
    const taints = [{ key: 'a', value: 'b', effect: 'NoSchedule' }];
    await world.edit({ metadata: { labels: { team: 'x', 'kubernetes.io/os': null } }, spec: { taints } });
    await world.restartFor(100);
    assert.deepEqual(world.verbs('nodes').slice(-4), ['create', 'get', 'patch', 'patch']);
    const patch = world.api.requests.find(({ verb, resource }) => verb === 'patch' && resource === 'nodes');
    assert.deepEqual(patch?.body, { metadata: { labels: { 'kubernetes.io/os': 'linux' } } });
    assert.equal(world.node()?.metadata.labels?.['team'], 'x');
    assert.deepEqual(world.node()?.spec?.taints, taints);
  });

  it('writes nothing to an existing node that is correct [A5]', async () => {
    await registeredBefore();
    await world.clock.advance(1_000);
    await world.restartFor(100);
    const verbs = world.verbs('nodes');
    assert.deepEqual(verbs.slice(verbs.indexOf('create')), ['create', 'get', 'patch']);
    const body = JSON.stringify(world.api.requests.at(-1)?.body);
    assert.match(body, /lastHeartbeatTime/, 'the only write is the first report');
    assert.doesNotMatch(body, /metadata|capacity|reason/);
  });

  it('reports Ready in the first status of an existing node, and waits for the CSINode of a new one', async () => {
    await begin().startFor(100);
    assert.match(String(readyOf(firstPost()).message), /CSINode is not yet initialized/);
    await world.clock.advance(15_000);
    await world.stop();
    world.forget();
    await world.restartFor(100);
    assert.deepEqual([readyOf(firstPost()).status, readyOf(firstPost()).reason], ['True', 'KubeletReady']);
  });

  it('does not take the node that it has just created for an existing one if the watch is faster than the response', async () => {
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

  it('adds no taint to an existing node [A6]', async () => {
    await registeredBefore();
    await world.restart({ registerWithTaints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }] });
    await world.clock.advance(20_000);
    assert.equal(world.node()?.spec?.taints, undefined);
  });

  it('creates a node with its taints', async () => {
    const registerWithTaints = [{ key: 'k', value: 'v', effect: 'NoSchedule' }];
    begin({ profile: { registerWithTaints } }).start();
    await world.clock.advance(100);
    assert.deepEqual(world.node()?.spec?.taints, registerWithTaints);
  });

  it('reports a runtime that has not responded yet, with Ready as the last condition [A7]', async () => {
    const healthChecks = [{ name: 'PLEG', problem: () => 'pleg has yet to be successful' }];
    begin({ healthChecks }).runtime.says('silent');
    await world.startFor(100);
    const types = world.conditions().map(({ type }) => type);
    assert.deepEqual(types, ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready']);
    const ready = world.condition('Ready');
    assert.deepEqual([ready?.status, ready?.reason], ['False', 'KubeletNotReady']);
    assert.match(ready?.message ?? '', /container runtime status check may not have completed yet/);
    assert.match(ready?.message ?? '', /PLEG is not healthy: pleg has yet to be successful/);
    assert.match(ready?.message ?? '', /network state unknown/);
  });

  it('is followed by Ready as soon as the runtime is ready, without waiting for the period, with one Event [A8]', async () => {
    let relisted = false;
    const problem = (): string | undefined => (relisted ? undefined : 'pleg has yet to be successful');
    begin({ healthChecks: [{ name: 'PLEG', problem }] }).runtime.says('silent');
    await world.startFor(3_000);
    assert.equal(world.condition('Ready')?.status, 'False');
    relisted = true;
    world.runtime.recovers();
    await world.clock.advance(200);
    assert.equal(world.condition('Ready')?.status, 'True');
    await world.clock.advance(20_000);
    assert.equal(world.events().filter((reason) => reason === 'NodeReady').length, 1);
  });

  it('ends the fast start when the node has not become ready within two minutes [A9]', async () => {
    begin().runtime.says('silent');
    await world.startFor(120_500);
    const timeouts = world.logger.lines.filter(({ message }) => message.startsWith('Node not becoming ready in time'));
    assert.equal(timeouts.length, 1);
    world.runtime.recovers();
    await world.clock.advance(5_000);
    assert.equal(world.condition('Ready')?.status, 'False', 'not before the next cycle');
    await world.clock.advance(10_000);
    assert.equal(world.condition('Ready')?.status, 'True');
  });

  it('is not repeated for a deleted node until the kubelet restarts [A10]', async () => {
    await begin().settle();
    await world.deleteNode();
    await world.clock.advance(30_000);
    assert.deepEqual(new Set(world.verbs('nodes')), new Set(['get']));
    assert.equal(world.times('get', 'nodes').length, 3 * 4, 'the first of five tries uses the cached node');
    const warnings = world.logger.lines.filter(({ message }) => message === 'update node status exceeds retry count');
    assert.equal(warnings.length, 3);
    await world.restartFor(100);
    assert.equal(world.times('create', 'nodes').length, 1);
    assert.ok(world.node() !== undefined);
  });

  it('is retried when the node was deleted between two requests', async () => {
    begin();
    await world.api.create('nodes', { metadata: { name: 'n1' } });
    world.api.requests.length = 0;
    await world.startFor(50);
    world.api.fail('get', 'nodes', 'not-found');
    await world.clock.advance(250);
    assert.deepEqual(world.times('create', 'nodes'), [0.1, 0.3]);
    assert.ok(world.side.isRegistered);
  });

  it('is aborted when the process ends', async () => {
    begin().api.fail('create', 'nodes', 'unavailable', 1_000);
    await world.startFor(1_000);
    await world.stop();
    assert.equal(world.clock.sleeping, 0);
    assert.ok(!world.side.isRegistered);
  });
});
