import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { ApiError } from '../../../../src/machinery/api/api-error.ts';
import type { KubeObject } from '../../../../src/machinery/api/meta.ts';
import type { Node } from '../../../../src/machinery/api/node.ts';
import type { Pod } from '../../../../src/machinery/api/pod.ts';
import { nodeInformer, podInformer } from '../../../../src/hollow-cluster/kubelet/fleet/fleet-informers.ts';
import type { ObjectName } from '../../../../src/machinery/ports/kube-reader.ts';
import { Scheduler } from '../../../../src/hollow-cluster/scheduler/scheduler.ts';
import { RecordingLogger, RecordingMeter, RecordingRecorder, SeededRandom } from '../../../support/fakes.ts';
import { ManualClock, settled } from '../../../support/manual-clock.ts';
import { MemoryApi } from '../../../support/memory-api.ts';

/** An API server that binds pods, and fails bindings on request. */
class BindingApi extends MemoryApi {
  readonly bindings: string[] = [];
  conflicts = 0;
  timeouts = 0;
  /** The binding is made, but the answer and the event are late. */
  silent = false;

  async bind({ namespace, name, uid }: ObjectName & { readonly uid: string }, node: string): Promise<void> {
    this.bindings.push(`${name} ${node}`);
    if (this.conflicts > 0) {
      this.conflicts -= 1;
      this.fail('patch', 'pods', 'conflict');
    }
    if (this.timeouts > 0) {
      this.timeouts -= 1;
      throw new ApiError({ reason: 'timeout', message: 'no answer' });
    }
    if (this.silent) return;
    const body = { metadata: { uid }, spec: { nodeName: node } };
    const where = { ...(namespace === undefined ? {} : { namespace }), name };
    await this.patch('pods', where, { type: 'merge', body }, { signal: new AbortController().signal });
  }
}

class World {
  readonly clock = new ManualClock();
  readonly api = new BindingApi(this.clock);
  readonly recorder = new RecordingRecorder();
  readonly logger = new RecordingLogger();
  readonly #ending = new AbortController();
  readonly #running: Promise<unknown>[] = [];

  async start(seed = 1): Promise<this> {
    const { clock, api, logger, recorder } = this;
    const random = new SeededRandom(seed);
    const informing = { clock, api, logger, random, meter: new RecordingMeter() };
    const [nodes, pods] = [nodeInformer(informing), podInformer(informing)];
    const scheduler = new Scheduler({ nodes, pods, api, recorder, clock, random, logger });
    for (const each of [nodes, pods, scheduler]) this.#running.push(each.run(this.#ending.signal));
    await this.advance(1);
    return this;
  }

  async advance(seconds: number): Promise<void> {
    await this.clock.advance(seconds * 1_000);
    await settled();
  }

  async node(name: string, over: Node['spec'] = {}, cpu = '1'): Promise<void> {
    const status = { allocatable: { cpu, memory: '4Gi', pods: '10' } };
    await this.api.create('nodes', { metadata: { name }, spec: over, status } as KubeObject);
  }

  async pod(name: string, cpu = '100m', spec: Pod['spec'] = {}): Promise<void> {
    const containers = [{ name: 'main', resources: { requests: { cpu } } }];
    const metadata = { namespace: 'default', name };
    await this.api.create('pods', {
      metadata,
      spec: { containers, ...spec },
      status: { phase: 'Pending' },
    } as KubeObject);
  }

  podOf(name: string): Pod {
    return this.api.peek('pods', `default/${name}`) as Pod;
  }

  nodeOf(name: string): string {
    return this.podOf(name)?.spec?.nodeName ?? '';
  }

  messageOf(name: string): string | undefined {
    return this.podOf(name).status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message;
  }

  async end(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#running);
    assert.deepEqual(this.logger.at('error'), []);
  }
}

describe('scheduler stand-in', () => {
  let world: World;
  afterEach(() => world.end());

  it('spreads pending pods over nodes, with an event each, and leaves bound ones and those of other schedulers alone', async () => {
    world = new World();
    for (const name of ['a', 'b', 'c']) await world.node(name);
    for (let index = 0; index < 6; index += 1) await world.pod(`p${index}`);
    await world.pod('other', '100m', { schedulerName: 'mine' });
    await world.pod('gated', '100m', { schedulingGates: [{ name: 'g' }] });
    await world.pod('bound', '100m', { nodeName: 'a' });
    await world.start();
    await world.advance(1);
    const nodes = ['bound', ...Array.from({ length: 6 }, (_, index) => `p${index}`)].map((name) => world.nodeOf(name));
    const counts = ['a', 'b', 'c'].map((name) => nodes.filter((each) => each === name).length);
    assert.deepEqual(
      counts.toSorted((a, b) => a - b),
      [2, 2, 3],
    );
    assert.deepEqual([world.nodeOf('other'), world.nodeOf('gated'), world.nodeOf('bound')], ['', '', 'a']);
    const scheduled = world.recorder.drafts.filter(({ reason }) => reason === 'Scheduled');
    assert.equal(scheduled.length, 6);
    assert.match(scheduled[0]?.message ?? '', /^Successfully assigned default\/p\d to [abc]$/);
  });

  it('reports a pod that fits no node once, and binds it when there is room', async () => {
    world = new World();
    await world.node('a', {}, '500m');
    await world.pod('first', '400m');
    await (await world.start()).advance(1);
    await world.pod('second', '400m');
    await world.advance(1);
    assert.equal(world.messageOf('second'), '0/1 nodes are available: 1 Insufficient cpu.');
    const writes = world.api.count('patch', 'pods');
    await world.advance(200);
    assert.equal(world.api.count('patch', 'pods'), writes, 'the same condition was written again');
    const failed = world.recorder.drafts.filter(({ reason }) => reason === 'FailedScheduling');
    assert.deepEqual(
      failed.map(({ message }) => message),
      ['0/1 nodes are available: 1 Insufficient cpu.'],
    );
    const first = world.podOf('first');
    await world.api.delete(
      'pods',
      { namespace: 'default', name: 'first' },
      {
        uid: first.metadata.uid ?? '',
        gracePeriodSeconds: 0,
        signal: new AbortController().signal,
      },
    );
    await world.advance(2);
    assert.equal(world.nodeOf('second'), 'a');
  });

  it('binds waiting pods when a node is added, uncordoned or loses a taint', async () => {
    world = await new World().start();
    await world.pod('p');
    await world.advance(1);
    assert.equal(world.messageOf('p'), 'no nodes available to schedule pods');
    await world.node('a', { unschedulable: true });
    await world.advance(2);
    assert.equal(world.messageOf('p'), '0/1 nodes are available: 1 node(s) were unschedulable.');
    const patch = { type: 'merge', body: { spec: { unschedulable: null } } } as const;
    await world.api.patch('nodes', { name: 'a' }, patch, { signal: new AbortController().signal });
    await world.advance(2);
    assert.equal(world.nodeOf('p'), 'a');
  });

  it('does not give the last room to two pods while the first binding is not visible yet', async () => {
    world = new World();
    await world.node('a', {}, '500m');
    world.api.silent = true;
    await world.pod('first', '400m');
    await world.pod('second', '400m');
    await world.start();
    await world.advance(5);
    assert.equal(world.api.bindings.length, 1);
  });

  it('a binding that never becomes visible is tried again after its time', async () => {
    world = new World();
    await world.node('a');
    world.api.silent = true;
    await world.pod('p');
    await world.start();
    await world.advance(10);
    world.api.silent = false;
    await world.advance(60);
    assert.equal(world.nodeOf('p'), 'a');
  });

  it('retries a binding that the server refuses, with backoff', async () => {
    world = new World();
    await world.node('a');
    world.api.conflicts = 3;
    await world.pod('p');
    await world.start();
    await world.advance(30);
    assert.equal(world.nodeOf('p'), 'a');
    assert.equal(world.api.bindings.length, 4);
  });

  it('a pod whose binding had no answer counts where it may be, and is placed again after a bounded time', async () => {
    world = new World();
    await world.node('a');
    world.api.timeouts = 1;
    await world.pod('p', '800m');
    await world.start();
    await world.pod('q', '800m');
    await world.advance(20);
    assert.deepEqual(world.api.bindings, ['p a']);
    await world.advance(30);
    assert.deepEqual(world.api.bindings.length, 2);
    assert.equal(['p', 'q'].filter((name) => world.nodeOf(name) === 'a').length, 1);
  });

  it('events of a pod that is being bound do not make it forgotten', async () => {
    world = new World();
    await world.node('a');
    world.api.silent = true;
    await world.pod('p');
    await world.start();
    world.api.silent = false;
    const labels = { type: 'merge', body: { metadata: { labels: { a: 'b' } } } } as const;
    const where = { namespace: 'default', name: 'p' };
    await world.api.patch('pods', where, labels, { signal: new AbortController().signal });
    await world.advance(32);
    assert.equal(world.nodeOf('p'), 'a');
  });

  it('makes the same choices with the same seed', async () => {
    const placements: string[] = [];
    for (const seed of [7, 7, 8, 9, 10]) {
      world = new World();
      for (const name of ['a', 'b', 'c', 'd']) await world.node(name);
      await world.start(seed);
      for (let index = 0; index < 8; index += 1) {
        await world.pod(`p${index}`);
        await world.advance(1);
      }
      placements.push(Array.from({ length: 8 }, (_, index) => world.nodeOf(`p${index}`)).join());
      await world.end();
    }
    assert.equal(placements[0], placements[1]);
    assert.ok(new Set(placements).size > 1, 'the seed has no effect');
  });
});
