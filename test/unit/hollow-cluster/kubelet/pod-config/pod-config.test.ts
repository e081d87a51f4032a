import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../../../src/machinery/api/pod.ts';
import { configAnnotations } from '../../../../../src/hollow-cluster/kubelet/pod-config/classify-pod.ts';
import { PodConfig } from '../../../../../src/hollow-cluster/kubelet/pod-config/pod-config.ts';
import type { PodSourceName } from '../../../../../src/hollow-cluster/kubelet/pod-config/pod-update.ts';
import { ManualClock, settled } from '../../../../support/manual-clock.ts';
import { RecordingRecorder } from '../../../../support/fakes.ts';

interface Extra {
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
  readonly metadata?: Partial<Pod['metadata']>;
  readonly phase?: string;
  readonly image?: string;
}

function aPod(name: string, extra: Extra = {}): Pod {
  const { labels, annotations, phase, image = 'img:1' } = extra;
  return {
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-${name}`,
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ...extra.metadata,
    },
    spec: { nodeName: 'n1', containers: [{ name: 'c', image }] },
    ...(phase === undefined ? {} : { status: { phase } }),
  };
}

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) for (const part of Object.values(Object.freeze(value))) frozen(part);
  return value;
}

function aMux(sources: readonly PodSourceName[] = ['api']) {
  const clock = new ManualClock();
  const recorder = new RecordingRecorder();
  const config = new PodConfig({ sources, clock, recorder });
  const { signal } = new AbortController();
  const taken = () => {
    const updates = [];
    for (let update = config.updates.take(); update !== undefined; update = config.updates.take()) updates.push(update);
    for (const { source } of updates) config.addSource(source);
    return updates;
  };
  const sent = () =>
    taken().map(({ op, source, pods }) => `${op} ${source} ${pods.map((pod) => pod.metadata.name).join()}`);
  // The sources' objects belong to an informer: they are frozen, so that a change throws.
  const set = (pods: readonly Pod[], source: PodSourceName = 'api') => config.send(source, frozen(pods), signal);
  return { clock, config, recorder, set, taken, sent, signal };
}

describe('the mux of pod sources', () => {
  it('sends one empty update for a source without pods, after which it is ready [C1]', async () => {
    const { config, set, sent } = aMux();
    await set([]);
    assert.equal(config.updates.length, 1);
    assert.equal(config.allReady(), false, 'the update has not been read yet');
    assert.deepEqual(sent(), ['ADD api ']);
    assert.equal(config.allReady(), true);
    await set([]);
    assert.deepEqual(sent(), []);
  });

  it('sends removals, then additions, then updates [C2]', async () => {
    const { set, sent } = aMux();
    await set([aPod('p1'), aPod('p2')]);
    assert.deepEqual(sent(), ['ADD api p1,p2']);
    await set([aPod('p2', { labels: { app: 'web' } }), aPod('p3')]);
    assert.deepEqual(sent(), ['REMOVE api p1', 'ADD api p3', 'UPDATE api p2']);
  });

  it('sends a change of the status alone as RECONCILE, once [C3]', async () => {
    const { set, taken } = aMux();
    await set([aPod('p1', { phase: 'Pending' })]);
    taken();
    await set([aPod('p1', { phase: 'Running' })]);
    const [update, ...more] = taken();
    assert.deepEqual([update?.op, update?.pods[0]?.status?.phase, more.length], ['RECONCILE', 'Running', 0]);
    await set([aPod('p1', { phase: 'Running' })]);
    assert.deepEqual(taken(), []);
  });

  it('sends a graceful deletion as DELETE, and later changes too [C4]', async () => {
    const { set, taken } = aMux();
    const deletion = { deletionTimestamp: '2026-01-02T03:04:35Z', deletionGracePeriodSeconds: 30 };
    await set([aPod('p1')]);
    taken();
    await set([aPod('p1', { metadata: deletion, phase: 'Running' })]);
    const [first] = taken();
    assert.deepEqual([first?.op, first?.pods[0]?.metadata.deletionGracePeriodSeconds], ['DELETE', 30]);
    assert.equal(first?.pods[0]?.status?.phase, 'Running', 'the status is included');
    await set([aPod('p1', { metadata: deletion, labels: { app: 'web' }, phase: 'Running' })]);
    const ops = taken().map(({ op }) => op);
    assert.deepEqual(ops, ['DELETE']);
    await set([aPod('p1', { metadata: { ...deletion, deletionGracePeriodSeconds: 1 }, labels: { app: 'web' } })]);
    const seen = taken().map(({ op }) => op);
    assert.deepEqual(seen, ['DELETE'], 'a shorter grace period is sent');
  });

  it('ignores changes of finalizers, owners and resourceVersion [C5]', async () => {
    const { set, taken } = aMux();
    await set([aPod('p1', { metadata: { resourceVersion: '1' } })]);
    taken();
    const owner = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u' };
    const metadata = { resourceVersion: '2', generation: 7, finalizers: ['a/b'], ownerReferences: [owner] };
    await set([aPod('p1', { metadata })]);
    assert.deepEqual(taken(), []);
  });

  it('keeps its local annotations, whatever other clients write there [C6]', async () => {
    const { clock, set, taken } = aMux();
    await set([aPod('p1', { annotations: { note: 'a' } })]);
    const seenAt = '2026-01-02T03:04:05Z';
    const own = { [configAnnotations.source]: 'api', [configAnnotations.seen]: seenAt };
    assert.deepEqual(taken()[0]?.pods[0]?.metadata.annotations, { note: 'a', ...own });
    await clock.advance(5_000);
    await set([aPod('p1', { annotations: { note: 'a', [configAnnotations.seen]: '2020-01-01T00:00:00Z' } })]);
    assert.deepEqual(taken(), []);
    await set([aPod('p1', { annotations: { note: 'b', [configAnnotations.seen]: '2020-01-01T00:00:00Z' } })]);
    const [update] = taken();
    assert.deepEqual([update?.op, update?.pods[0]?.metadata.annotations], ['UPDATE', { note: 'b', ...own }]);
  });

  it('keeps the first of two pods with one name and records a warning for the second [C7]', async () => {
    const { recorder, set, taken } = aMux();
    const second = aPod('web', { metadata: { uid: 'other' } });
    await set([aPod('web'), second]);
    const seen = taken().map(({ op, pods }) => [op, pods.map((pod) => pod.metadata.uid)]);
    assert.deepEqual(seen, [['ADD', ['uid-web']]]);
    assert.deepEqual(recorder.drafts, [
      {
        about: { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'web', uid: 'other' },
        type: 'Warning',
        reason: 'FailedValidation',
        message: 'Error validating pod web_default(other) from api due to duplicate pod name "web", ignoring',
      },
    ]);
  });

  it('keeps pods with one name from two sources [C8]', async () => {
    const { recorder, set, sent } = aMux(['file', 'api']);
    await set([aPod('web')], 'api');
    await set([aPod('web', { metadata: { uid: 'static' } })], 'file');
    assert.deepEqual(sent(), ['ADD api web', 'ADD file web']);
    assert.deepEqual(recorder.drafts, []);
  });

  it('buffers 50 updates for a loop that does not read, then blocks the source, and loses nothing [C9]', async () => {
    const { config, set, taken } = aMux();
    let sent = 0;
    const producer = (async () => {
      for (let image = 1; image <= 60; image++) {
        await set([aPod('p1', { image: `img:${image}` })]);
        sent = image;
      }
    })();
    await settled();
    assert.deepEqual([config.updates.length, sent], [50, 50]);
    const images: unknown[] = [];
    while (images.length < 60) {
      images.push(...taken().map(({ pods }) => pods[0]?.spec?.containers?.[0]?.image));
      await settled();
    }
    await producer;
    assert.deepEqual(
      images,
      Array.from({ length: 60 }, (_, index) => `img:${index + 1}`),
    );
  });

  it('is not ready while one source has not sent its complete list', async () => {
    const { config, set, sent } = aMux(['file', 'http', 'api']);
    await set([aPod('static')], 'file');
    await set([], 'http');
    assert.deepEqual(sent(), ['ADD file static', 'ADD http ']);
    assert.equal(config.allReady(), false);
    await set([], 'api');
    assert.equal(config.allReady(), false, 'its update was not read');
    sent();
    assert.equal(config.allReady(), true);
  });

  it('is ready at once if no source is configured', () => assert.equal(aMux([]).config.allReady(), true));

  it('never modifies a pod that it has delivered', async () => {
    const { set, taken } = aMux();
    await set([aPod('p1', { annotations: { note: 'a' }, phase: 'Pending' })]);
    const given = taken()[0]?.pods[0];
    const before = structuredClone(given);
    await set([aPod('p1', { annotations: { note: 'b' }, labels: { a: 'b' }, phase: 'Running', image: 'img:2' })]);
    await set([aPod('p1', { annotations: { note: 'b' }, labels: { a: 'b' }, phase: 'Failed', image: 'img:2' })]);
    assert.deepEqual(given, before);
    const seen = taken().map(({ op, pods }) => [op, pods[0]?.status?.phase, pods[0]?.metadata.labels]);
    assert.deepEqual(seen, [
      ['UPDATE', 'Running', { a: 'b' }],
      ['RECONCILE', 'Failed', { a: 'b' }],
    ]);
  });

  it('updates the generation with a change, so that the status refers to the right one', async () => {
    const { set, taken } = aMux();
    await set([aPod('p1', { metadata: { generation: 1 } })]);
    await set([aPod('p1', { metadata: { generation: 2, deletionTimestamp: '2026-01-02T03:04:35Z' } })]);
    const seen = taken().map(({ op, pods }) => [op, pods[0]?.metadata.generation]);
    assert.deepEqual(seen, [
      ['ADD', 1],
      ['DELETE', 2],
    ]);
  });

  it('aborts a send that is never read', async () => {
    const { config, set } = aMux();
    const life = new AbortController();
    for (let image = 0; image < 50; image++) await set([aPod('p1', { image: `img:${image}` })]);
    const sending = config.send('api', [], life.signal);
    life.abort();
    await sending;
    assert.equal(config.updates.length, 50);
  });
});
