import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, type ApiErrorInit } from '../../../../src/machinery/api/api-error.ts';
import type { KubeObject, ObjectMeta } from '../../../../src/machinery/api/meta.ts';
import { type Node, type NodeView, transformNode } from '../../../../src/machinery/api/node.ts';
import { type Pod, type PodView, transformPod } from '../../../../src/machinery/api/pod.ts';
import type { Decision } from '../../../../src/controller/model/decisions.ts';
import { describeDecision, subjectOfDecision } from '../../../../src/controller/decision-log/describe-decision.ts';
import { LiveNodes } from '../../../../src/controller/live-nodes.ts';
import {
  PodGarbageCollector,
  type PodGarbageCollectorOptions,
} from '../../../../src/controller/pod-gc/pod-garbage-collector.ts';
import { ApiWriter } from '../../../../src/controller/writer/api-writer.ts';
import { MutationCache } from '../../../../src/machinery/informer/mutation-cache.ts';
import { FakeInformer } from '../../../support/fake-informer.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { MemoryApi } from '../../../support/memory-api.ts';
import { RecordingMeter } from '../../../support/fakes.ts';
import { noPodAnswers } from '../../../support/no-pod-answers.ts';

interface PodTraits {
  readonly node?: string;
  readonly phase?: string;
  readonly reason?: string;
  readonly terminating?: boolean;
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

function failures(name: string): Readonly<Record<'gone' | 'not-permitted' | 'unreadable', ApiErrorInit>> {
  const status = { reason: 'NotFound', code: 404, details: { name, kind: 'nodes' } };
  return {
    gone: { reason: 'not-found', message: 'not found', code: 404, status },
    'not-permitted': { reason: 'forbidden', message: 'not permitted', code: 403 },
    unreadable: { reason: 'timeout', message: 'no response' },
  };
}

/** A collector, the real writer, an API in memory, and caches that follow it until they are frozen. */
class PodGcWorld {
  readonly clock = new ManualClock();
  readonly api = new MemoryApi(this.clock);
  readonly meter = new RecordingMeter();
  readonly decisions: Decision[] = [];
  readonly pods = new FakeInformer<PodView>('pods');
  readonly nodes = new FakeInformer<NodeView>('nodes');
  /** What a live read of a node answers; the cached node, or `gone`, where nothing is said. */
  readonly presence = new Map<string, 'found' | 'gone' | 'not-permitted' | 'unreadable'>();
  readonly reads: string[] = [];
  nodeLists = 0;
  readonly #raw = new Map<string, Node>();
  leading = true;
  frozen = false;
  /** Called before each live read answers. */
  duringRead = (): void => {};
  readonly collector: PodGarbageCollector;

  constructor(options: Partial<PodGarbageCollectorOptions> = {}) {
    this.api.onEvent((_resource, { type, object }) => {
      if (this.frozen) return;
      const view = transformPod(object as Pod);
      if (type === 'DELETED') this.pods.delete(`${view.namespace}/${view.name}`);
      else this.pods.set(`${view.namespace}/${view.name}`, view);
    });
    const decisions = { note: (decision: Decision): number => this.decisions.push(decision) };
    const writer = new ApiWriter({
      pods: noPodAnswers(),
      api: this.api,
      lanes: { run: (_lane, write) => write(), concurrencyMax: Infinity, drained: () => Promise.resolve() },
      leadership: { holds: () => this.leading },
      nodes: new MutationCache((name: string) => this.nodes.get(name)),
      decisions,
      clock: this.clock,
      signal: new AbortController().signal,
    });
    const live = new LiveNodes({
      api: { get: (_resource, { name }) => this.#read(name) },
      clock: this.clock,
      signal: new AbortController().signal,
      onRead: () => undefined,
      onFault: (_node, error) => assert.fail(String(error)),
    });
    this.collector = new PodGarbageCollector({
      pods: this.pods,
      nodes: this.nodes,
      readNode: (name, sentSinceMs) => live.read(name, sentSinceMs),
      relistNodes: () => (this.nodeLists += 1),
      writer,
      decisions,
      meter: this.meter,
      clock: this.clock,
      podGc: { current: () => ({ terminatedPodGcThreshold: 0 }) },
      ...options,
    });
  }

  async #read(name: string): Promise<KubeObject> {
    this.reads.push(name);
    await Promise.resolve();
    this.duringRead();
    const presence = this.presence.get(name) ?? (this.#raw.has(name) ? 'found' : 'gone');
    if (presence === 'found') return this.#raw.get(name) ?? { metadata: { name } };
    throw new ApiError(failures(name)[presence]);
  }

  /** Each pod is a second younger than the one before it. */
  async addPod(name: string, traits: PodTraits = {}): Promise<void> {
    await this.clock.advance(1_000);
    const { node = '', phase = 'Running', reason = '', terminating = false, conditions = [] } = traits;
    const deletion: ObjectMeta = terminating ? { deletionTimestamp: 't', deletionGracePeriodSeconds: 30 } : {};
    const metadata = { namespace: 'default', name, generation: 3, ...deletion };
    const pod: Pod = { metadata, spec: { nodeName: node }, status: { phase, reason, conditions } };
    await this.api.create('pods', pod);
  }

  addNode(name: string, ready: string, taints: readonly string[] = []): void {
    const node: Node = {
      metadata: { name },
      spec: { taints: taints.map((key) => ({ key, effect: 'NoExecute' })) },
      status: { conditions: [{ type: 'Ready', status: ready }] },
    };
    this.#raw.set(name, node);
    this.nodes.set(name, transformNode(node));
  }

  async passAfter(seconds: number): Promise<void> {
    await this.clock.advance(seconds * 1_000);
    await this.collector.pass();
  }

  /** A pod `p` of a missing node, after the quarantine. */
  async orphaned(node: string): Promise<void> {
    await this.addPod('p', { node });
    await this.collector.pass();
    await this.passAfter(40);
  }

  #asked(verb: 'delete' | 'patch'): readonly string[] {
    return this.api.requests.filter((request) => request.verb === verb).map((request) => request.name);
  }

  get deletes(): readonly string[] {
    return this.#asked('delete');
  }

  get patches(): readonly string[] {
    return this.#asked('patch');
  }

  /** The status that the first patch asked for. */
  patchedStatus(): { readonly phase?: string; readonly conditions?: readonly Record<string, unknown>[] } {
    const patch = this.api.requests.find((request) => request.verb === 'patch');
    if (patch === undefined) throw new Error('nothing was patched');
    return (patch.body as { readonly status: object }).status;
  }

  left(): readonly string[] {
    return this.api.all('pods').map((pod) => pod.metadata.name ?? '');
  }

  count(metric: 'pods_total' | 'pod_errors_total', reason: string): number {
    const labels = `{namespace="default",reason="${reason}"}`;
    return this.meter.series.get(`pod_gc_collector_force_delete_${metric}${labels}`) ?? 0;
  }

  kinds(): readonly string[] {
    return this.decisions.map((decision) => decision.kind);
  }
}

test('terminated pods: the surplus is deleted in order, without a grace period, each by its uid', async () => {
  const world = new PodGcWorld({ podGc: { current: () => ({ terminatedPodGcThreshold: 1 }) } });
  world.addNode('n', 'True');
  await world.addPod('running', { node: 'n' });
  await world.addPod('old', { node: 'n', phase: 'Failed' });
  await world.addPod('newer', { node: 'n', phase: 'Succeeded' });
  await world.addPod('evicted', { node: 'n', phase: 'Failed', reason: 'Evicted' });
  const uid = world.api.peek('pods', 'default/evicted')?.metadata.uid;
  await world.collector.pass();
  assert.deepEqual(world.deletes, ['evicted', 'old']);
  assert.deepEqual(world.patches, []);
  assert.deepEqual(world.left(), ['running', 'newer']);
  const [request] = world.api.requests.filter(({ verb }) => verb === 'delete');
  assert.deepEqual(request?.body, { uid, gracePeriodSeconds: 0 });
  assert.equal(world.count('pods_total', 'terminated'), 2);
  assert.deepEqual(world.kinds(), ['terminated-pods-surplus', 'pod-collected', 'pod-collected']);
  await world.collector.pass();
  assert.equal(world.deletes.length, 2, 'a round over pods within the threshold writes nothing');
});

test('terminated: a pod that runs again, which a restore of etcd brought back and the cache does not show, stays', async () => {
  const world = new PodGcWorld({
    podGc: { current: () => ({ terminatedPodGcAgeMs: 1_000, terminatedPodGcThreshold: 0 }) },
  });
  world.addNode('n', 'True');
  await world.addPod('back', { node: 'n', phase: 'Succeeded' });
  await world.addPod('over', { node: 'n', phase: 'Succeeded' });
  world.frozen = true;
  const stored = world.api.peek('pods', 'default/back');
  assert.ok(stored);
  await world.api.replace('pods', { ...stored, status: { phase: 'Running' } } as Pod);
  await world.clock.advance(10_000);
  await world.collector.pass();
  assert.deepEqual(world.left(), ['back']);
});

test('out of service: terminating pods are deleted, and a running one is failed first, without a disruption condition', async () => {
  const world = new PodGcWorld();
  world.addNode('down', 'False', ['node.kubernetes.io/out-of-service']);
  world.addNode('silent', 'Unknown');
  for (const phase of ['Running', 'Failed', 'Succeeded'])
    await world.addPod(phase.toLowerCase(), { node: 'down', phase, terminating: true });
  await world.addPod('elsewhere', { node: 'silent', terminating: true });
  await world.addPod('staying', { node: 'down' });
  await world.collector.pass();
  assert.deepEqual([...world.deletes].sort(), ['failed', 'running', 'succeeded']);
  assert.deepEqual(world.patches, ['running']);
  assert.deepEqual(world.patchedStatus(), { phase: 'Failed' });
  assert.deepEqual(world.left(), ['elsewhere', 'staying']);
  assert.equal(world.count('pods_total', 'out-of-service'), 3);
});

test('out of service: a node that recovers while its pods wait keeps the rest', async () => {
  const world = new PodGcWorld();
  world.addNode('down', 'False', ['node.kubernetes.io/out-of-service']);
  for (let i = 0; i < 40; i += 1) await world.addPod(`p${i}`, { node: 'down', phase: 'Failed', terminating: true });
  world.api.onEvent((_resource, { type }) => {
    if (type === 'DELETED') world.addNode('down', 'True', ['node.kubernetes.io/out-of-service']);
  });
  await world.collector.pass();
  assert.ok(world.deletes.length >= 1 && world.deletes.length <= 16, `${world.deletes.length} were under way`);
});

test('unscheduled: only pods that terminate without ever having been bound; the step can run alone', async () => {
  const world = new PodGcWorld({ podGc: { current: () => ({ terminatedPodGcThreshold: 1 }) } });
  for (const phase of ['Failed', 'Succeeded', 'Running'])
    await world.addPod(phase.toLowerCase(), { phase, terminating: true });
  await world.addPod('waiting', { phase: 'Pending' });
  await world.addPod('bound', { node: 'nowhere', terminating: true });
  await world.collector.step('unscheduled');
  assert.deepEqual([...world.deletes].sort(), ['failed', 'running', 'succeeded']);
  assert.deepEqual(world.patches, ['running']);
  assert.deepEqual(world.left(), ['waiting', 'bound']);
  assert.equal(world.count('pods_total', 'unscheduled'), 3);
  assert.equal(world.count('pods_total', 'terminated'), 0);
});

test('orphans: the node waits 40 s, is read live, and then its pods are deleted, with the reason', async () => {
  const world = new PodGcWorld();
  await world.addPod('done', { node: 'gone', phase: 'Succeeded' });
  await world.addPod('ran', { node: 'gone', conditions: [{ type: 'Ready', status: 'True' }] });
  await world.collector.pass();
  assert.deepEqual(world.decisions, [{ kind: 'node-missing', node: 'gone', pods: 2, quarantineMs: 40_000 }]);
  await world.passAfter(39.999);
  assert.deepEqual(world.reads, [], 'no live read before the quarantine ends');
  await world.clock.advance(1);
  assert.deepEqual(world.collector.outOfQuarantine(), ['gone']);
  const at = world.clock.nowMs();
  await world.collector.pass();
  assert.deepEqual(world.reads, ['gone']);
  assert.deepEqual(world.deletes.length, 2);
  assert.deepEqual(world.left(), []);
  assert.deepEqual(world.patches, ['ran']);
  assert.deepEqual(world.patchedStatus(), {
    phase: 'Failed',
    conditions: [
      {
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'DeletionByPodGC',
        message: 'PodGC: node no longer exists',
        observedGeneration: 3,
        lastTransitionTime: `${new Date(at).toISOString().slice(0, 19)}Z`,
      },
    ],
  });
  assert.equal(world.count('pods_total', 'orphaned'), 2);
  assert.deepEqual(world.collector.outOfQuarantine(), []);
});

test('orphans: a pod that was disrupted before keeps that time, and gets the new reason', async () => {
  const world = new PodGcWorld({ quarantineMs: -1 });
  await world.addPod('p', { node: 'gone', conditions: [{ type: 'DisruptionTarget', status: 'True' }] });
  await world.collector.pass();
  const [condition = {}] = world.patchedStatus().conditions ?? [];
  assert.equal(condition['reason'], 'DeletionByPodGC');
  assert.ok(!('lastTransitionTime' in condition));
  assert.deepEqual(world.left(), []);
});

test('orphans: a node that the API server has keeps its pods and starts a new quarantine', async () => {
  const world = new PodGcWorld();
  world.presence.set('hidden', 'found');
  await world.orphaned('hidden');
  assert.deepEqual(world.decisions.at(-1), { kind: 'orphans-kept', node: 'hidden', why: 'node-found' });
  await world.passAfter(20);
  assert.deepEqual(world.reads, ['hidden'], 'not read again so soon');
  assert.equal(world.nodeLists, 1, 'the cache lacks a node that exists');
  world.presence.set('hidden', 'gone');
  await world.passAfter(20);
  assert.deepEqual(world.deletes, ['p']);
});

test('orphans: a node that appears meanwhile ends the quarantine, and a later absence starts a new one', async () => {
  const world = new PodGcWorld();
  await world.addPod('p', { node: 'late' });
  await world.collector.pass();
  world.addNode('late', 'True');
  await world.passAfter(40);
  assert.deepEqual(world.decisions.at(-1), { kind: 'orphans-kept', node: 'late', why: 'node-back' });
  world.nodes.delete('late');
  world.presence.set('late', 'gone');
  await world.passAfter(20);
  assert.deepEqual(world.reads, []);
  await world.passAfter(40);
  assert.deepEqual(world.deletes, ['p']);
});

test('orphans: a node that registers during the live read keeps its pods', async () => {
  const world = new PodGcWorld({ quarantineMs: -1 });
  await world.addPod('p', { node: 'n' });
  world.duringRead = () => {
    world.addNode('n', 'True');
  };
  await world.collector.pass();
  assert.deepEqual([world.reads, world.deletes], [['n'], []]);
});

test('orphans: a missing permission is named, and nothing is deleted', async () => {
  const world = new PodGcWorld();
  world.presence.set('n', 'not-permitted');
  await world.orphaned('n');
  const decision = world.decisions.at(-1);
  assert.deepEqual(decision, { kind: 'orphans-kept', node: 'n', why: 'not-permitted' });
  assert.match(describeDecision(decision), /grant get of nodes/);
  assert.deepEqual(world.deletes, []);
});

test('orphans: without a response nothing is deleted, and the next round reads again without another quarantine', async () => {
  const world = new PodGcWorld();
  world.presence.set('n', 'unreadable');
  await world.orphaned('n');
  assert.deepEqual(world.decisions.at(-1), { kind: 'orphans-kept', node: 'n', why: 'api-not-answering' });
  assert.deepEqual(world.deletes, []);
  world.presence.set('n', 'gone');
  await world.passAfter(20);
  assert.deepEqual(world.deletes, ['p']);
});

test('a failed deletion counts as an error, not as a deletion, and the next round repeats it', async () => {
  const world = new PodGcWorld();
  world.api.fail('delete', 'pods', 'internal');
  await world.orphaned('gone');
  assert.deepEqual([world.count('pods_total', 'orphaned'), world.count('pod_errors_total', 'orphaned')], [0, 1]);
  assert.ok(!world.kinds().includes('pod-collected'));
  await world.passAfter(20);
  assert.deepEqual([world.count('pods_total', 'orphaned'), world.count('pod_errors_total', 'orphaned')], [1, 1]);
  assert.deepEqual(world.deletes, ['p', 'p']);
  assert.deepEqual(world.patches, ['p'], 'it is already Failed');
  assert.deepEqual(world.left(), []);
});

test('a pod that cannot be failed is not deleted', async () => {
  const world = new PodGcWorld();
  world.api.fail('patch', 'pods', 'timeout');
  await world.addPod('p', { terminating: true });
  await world.collector.pass();
  assert.deepEqual([world.deletes, world.count('pod_errors_total', 'unscheduled')], [[], 1]);
  await world.collector.pass();
  assert.deepEqual(world.left(), []);
});

test('a deleted pod, or a new one of the same name, is neither deleted nor counted', async () => {
  const world = new PodGcWorld();
  await world.addPod('p', { terminating: true, phase: 'Failed' });
  await world.addPod('q', { terminating: true, phase: 'Failed' });
  world.frozen = true;
  const signal = AbortSignal.abort();
  for (const name of ['p', 'q']) {
    const uid = world.api.peek('pods', `default/${name}`)?.metadata.uid ?? '';
    await world.api.delete('pods', { namespace: 'default', name }, { uid, signal });
  }
  await world.addPod('p');
  await world.collector.pass();
  assert.deepEqual(world.left(), ['p'], 'the new pod stays');
  assert.deepEqual([...world.meter.series], []);
  assert.ok(!world.kinds().includes('pod-collected'));
});

test('a pod under two rules is tried once per round, and counted under the first', async () => {
  const world = new PodGcWorld({ podGc: { current: () => ({ terminatedPodGcThreshold: 1 }) }, quarantineMs: -1 });
  world.frozen = true;
  await world.addPod('keep', { node: 'gone', phase: 'Failed' });
  world.frozen = false;
  await world.addPod('a', { node: 'gone', phase: 'Failed' });
  await world.addPod('b', { node: 'gone', phase: 'Failed' });
  world.frozen = true; // the deletions do not show in the cache while the round lasts
  await world.collector.pass();
  assert.deepEqual([...world.deletes].sort(), ['a', 'b']);
  assert.deepEqual([world.count('pods_total', 'terminated'), world.count('pods_total', 'orphaned')], [1, 1]);
});

test('a standby writes nothing and counts nothing', async () => {
  const world = new PodGcWorld();
  world.leading = false;
  await world.addPod('p', { terminating: true });
  await world.collector.pass();
  assert.deepEqual([world.patches, world.deletes, [...world.meter.series]], [[], [], []]);
});

test('it runs at once and every 20 s, until it is aborted', async () => {
  const world = new PodGcWorld();
  await world.addPod('early', { terminating: true, phase: 'Failed' });
  const stop = new AbortController();
  const running = world.collector.run(stop.signal);
  await world.clock.advance(0);
  assert.deepEqual(world.deletes, ['early']);
  await world.addPod('late', { terminating: true, phase: 'Failed' });
  await world.clock.advance(18_999);
  assert.deepEqual(world.deletes, ['early']);
  await world.clock.advance(1);
  assert.deepEqual(world.deletes, ['early', 'late']);
  stop.abort();
  await running;
  assert.equal(world.clock.sleeping, 0);
});

test('an aborted round completes requests in flight and starts nothing new', async () => {
  const world = new PodGcWorld({ quarantineMs: -1 });
  for (let i = 0; i < 40; i += 1) await world.addPod(`p${i}`, { terminating: true, phase: 'Failed' });
  await world.addPod('orphan', { node: 'gone', terminating: true, phase: 'Failed' });
  const stop = new AbortController();
  world.api.onEvent((_resource, { type }) => {
    if (type === 'DELETED' && world.deletes.length > 1) stop.abort();
  });
  await world.collector.pass(stop.signal);
  assert.equal(world.deletes[0], 'orphan');
  assert.ok(world.deletes.length > 1 && world.deletes.length < 40, `${world.deletes.length} deletions`);
  assert.equal(world.count('pods_total', 'unscheduled'), world.deletes.length - 1);
  await world.collector.pass();
  assert.deepEqual(world.left(), []);
});

test('descriptions have the reason', () => {
  const collected = (why: 'terminated' | 'orphaned', node: string): Decision =>
    ({ kind: 'pod-collected', pod: 'ns/p', node, why }) as const;
  const actual = describeDecision(collected('orphaned', 'n1'));
  assert.equal(actual, 'pod ns/p of n1 deleted without a grace period: its node no longer exists');
  assert.match(
    describeDecision(collected('terminated', '')),
    /^pod ns\/p deleted without a grace period: it has terminated/,
  );
  const surplus = { kind: 'terminated-pods-surplus', terminated: 12, threshold: 10 } as const;
  assert.match(describeDecision(surplus), /^12 terminated pods, 2 more than the threshold of 10/);
  assert.equal(subjectOfDecision(surplus), 'cluster');
  const missing = { kind: 'node-missing', node: 'n1', pods: 3, quarantineMs: 40_000 } as const;
  assert.match(describeDecision(missing), /^node n1: not found, 3 pods .* still missing in 40s/);
  const kept = { kind: 'orphans-kept', node: 'n1', why: 'node-found' } as const;
  assert.match(describeDecision(kept), /^pods of node n1 kept: the API server has the node/);
});
