import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evictionsByTarget } from '../../../src/controller/model/indexes.ts';
import { ApiError } from '../../../src/machinery/api/api-error.ts';
import { targetKey } from '../../../src/machinery/api/eviction.ts';
import type { KubeReader } from '../../../src/machinery/ports/kube-reader.ts';
import { ApiContact } from '../../../src/machinery/supervision/api-contact.ts';
import { makeEvictionInformer } from '../../../src/manager/eviction-informer.ts';
import { anEviction } from '../../support/evictions.ts';
import { RecordingLogger, RecordingMeter, SeededRandom } from '../../support/fakes.ts';
import { ManualClock } from '../../support/manual-clock.ts';

/** An informer of an API server whose answers to lists and watches are these. */
function aStand(api: Pick<KubeReader, 'list' | 'watch'>) {
  const clock = new ManualClock();
  const logger = new RecordingLogger();
  const reader = { ...api, get: () => Promise.reject(new ApiError({ reason: 'not-found', message: 'none' })) };
  const common = { clock, logger, meter: new RecordingMeter(), random: new SeededRandom(1), api: reader };
  const informer = makeEvictionInformer({ ...common, contact: new ApiContact(clock) });
  const stop = new AbortController();
  const running = informer.run(stop.signal);
  return {
    clock,
    logger,
    informer,
    async [Symbol.asyncDispose](): Promise<void> {
      stop.abort();
      await clock.advance(0);
      await running;
    },
  };
}

for (const [reason, code, message, shown] of [
  [
    'not-found',
    404,
    'the server could not find the requested resource',
    /^lifecycle.k8s.io\/v1alpha1 is not served; pods/,
  ],
  ['forbidden', 403, 'User "nlc" cannot list evictions', /^User "nlc" cannot list evictions; pods of reachable nodes/],
] as const) {
  test(`${code}: asked about once a minute, logged once, and shown`, async () => {
    let asked = 0;
    const refuse = (): Promise<never> => {
      asked += 1;
      return Promise.reject(new ApiError({ reason, code, message }));
    };
    await using stand = aStand({ list: refuse, watch: refuse });
    await stand.clock.advance(600_000);
    assert.ok(asked >= 5 && asked <= 25, `${asked} requests in ten minutes`);
    assert.equal(stand.logger.at('warn').length, 1);
    assert.match(stand.informer.status().lastError ?? '', shown);
    assert.equal(stand.informer.hasSynced(), false);
    assert.equal(stand.informer.store.size, 0);
  });
}

test('other errors are logged as those of every informer, and another end is logged again', async () => {
  const ends = ['not-found', 'not-found', 'forbidden', 'not-found'] as const;
  let asked = 0;
  const refuse = (): Promise<never> => {
    const reason = ends[asked++] ?? 'not-found';
    return Promise.reject(new ApiError({ reason, message: reason }));
  };
  await using stand = aStand({ list: refuse, watch: refuse });
  await stand.clock.advance(1_200_000);
  assert.deepEqual(
    stand.logger.at('warn').map(({ fields }) => fields['end']),
    ['not-found', 'forbidden', 'not-found'],
  );
});

test('Evictions are found by the pod that they are about', async () => {
  const heartbeatAtMs = Date.parse('2026-11-28T12:00:00Z');
  const page = {
    metadata: { resourceVersion: '9' },
    items: [anEviction({ heartbeatAtMs }), anEviction({ pod: 'b', uid: 'u' }), anEviction({ pod: '', uid: '' })],
  };
  await using stand = aStand({
    list: () => Promise.resolve(page),
    watch: () => Promise.reject(new ApiError({ reason: 'invalid', message: 'no streaming lists' })),
  });
  await stand.clock.advance(5_000);
  const found = stand.informer.store.byIndex(evictionsByTarget, targetKey('default/b', 'u'));
  assert.deepEqual(stand.informer.store.byIndex(evictionsByTarget, targetKey('default/', '')), []);
  assert.deepEqual(
    found.map(({ name }) => name),
    ['b-1'],
  );
});
