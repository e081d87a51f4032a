import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { ApiReason } from '../../../src/machinery/api/api-error.ts';
import type { KubeObject } from '../../../src/machinery/api/meta.ts';
import { SharedInformer } from '../../../src/machinery/informer/shared-informer.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';
import { ModelApi } from '../../support/model-api.ts';
import { RecordingLogger, RecordingMeter, SeededRandom } from '../../support/fakes.ts';
import { Replay, stateOfStore } from '../../support/replay.ts';

interface View {
  readonly uid: string;
  readonly resourceVersion: string;
}

type Step =
  | { readonly does: 'put' | 'remove' | 'recreate'; readonly name: string }
  | { readonly does: 'cut' | 'end' | 'stall' | 'compact' | 'bookmark' | 'babble' }
  | { readonly does: 'repeat'; readonly events: number }
  | { readonly does: 'refuse'; readonly reasons: readonly ApiReason[] }
  | { readonly does: 'serve'; readonly streamsLists: boolean; readonly pagesExpire: boolean }
  | { readonly does: 'join'; readonly when: 'now' | 'at-the-next-change' }
  | { readonly does: 'wait'; readonly ms: number };

const aName = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ does: fc.constantFrom('put', 'remove', 'recreate'), name: aName }) },
  {
    weight: 4,
    arbitrary: fc.record({ does: fc.constantFrom('cut', 'end', 'stall', 'compact', 'bookmark', 'babble') }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('repeat'), events: fc.integer({ min: 1, max: 6 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant('refuse'),
      reasons: fc.array(
        fc.constantFrom<ApiReason>('unavailable', 'too-many-requests', 'expired', 'internal', 'timeout', 'forbidden'),
        { minLength: 1, maxLength: 3 },
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ does: fc.constant('serve'), streamsLists: fc.boolean(), pagesExpire: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ does: fc.constant('join'), when: fc.constantFrom('now', 'at-the-next-change') }),
  },
  { weight: 4, arbitrary: fc.record({ does: fc.constant('wait'), ms: fc.constantFrom(10, 1_500, 20_000, 100_000) }) },
) as fc.Arbitrary<Step>;

/** Longer than the longest silence limit and the longest delay after it. */
const settlingMs = 400_000;

/** Listeners added during changes, some of them by another listener. */
class LateListeners {
  readonly #informer: SharedInformer<KubeObject, View>;
  readonly #added: Replay<View>[] = [];
  #waiting = 0;

  constructor(informer: SharedInformer<KubeObject, View>) {
    this.#informer = informer;
    informer.onChange('doorkeeper', () => {
      for (; this.#waiting > 0; this.#waiting -= 1) this.add('now');
    });
  }

  add(when: 'now' | 'at-the-next-change'): void {
    if (when === 'at-the-next-change') this.#waiting += 1;
    else {
      const replay = new Replay(this.#informer.store);
      this.#added.push(replay);
      this.#informer.onChange('late', replay.listen);
    }
  }

  assertNothingMissed(): void {
    for (const replay of this.#added) {
      assert.deepEqual(replay.violations, []);
      assert.deepEqual(replay.state(), stateOfStore(this.#informer.store));
    }
  }
}

interface World {
  readonly api: ModelApi;
  readonly clock: ManualClock;
  readonly listeners: LateListeners;
}

async function apply({ api, clock, listeners }: World, step: Step): Promise<void> {
  switch (step.does) {
    case 'put':
    case 'remove':
      return api[step.does](step.name);
    case 'recreate':
      api.remove(step.name);
      return api.put(step.name);
    case 'repeat':
      return api.repeat(step.events);
    case 'refuse':
      return api.refuse(...step.reasons);
    case 'serve':
      Object.assign(api, { streamsLists: step.streamsLists, pagesExpire: step.pagesExpire });
      return;
    case 'join':
      return listeners.add(step.when);
    case 'wait':
      return clock.advance(step.ms);
    case 'cut':
    case 'end':
    case 'stall':
    case 'compact':
    case 'bookmark':
    case 'babble':
      return api[step.does]();
  }
}

async function applyAll(steps: readonly Step[], seed: number): Promise<void> {
  const api = new ModelApi();
  const clock = new ManualClock();
  const meter = new RecordingMeter();
  const stop = new AbortController();
  const informer = new SharedInformer<KubeObject, View>({
    resource: 'nodes',
    api,
    clock,
    random: new SeededRandom(seed),
    logger: new RecordingLogger(),
    meter,
    transform: ({ metadata }) => ({ uid: metadata.uid ?? '', resourceVersion: metadata.resourceVersion ?? '' }),
    identity: (view) => view,
  });
  const delivered = new Map<string, View>();
  informer.onChange('test', (change) => {
    const known = delivered.get(change.key);
    assert.equal(change.kind === 'added', known === undefined, 'added: the object was absent before');
    if (change.kind === 'modified')
      assert.equal(change.object.uid, known?.uid, 'modified: the object has the same uid');
    if (change.kind === 'deleted') delivered.delete(change.key);
    else delivered.set(change.key, change.object);
  });
  const listeners = new LateListeners(informer);
  const running = informer.run(stop.signal);
  try {
    for (const step of steps) {
      await apply({ api, clock, listeners }, step);
      await settled();
      listeners.assertNothingMissed();
      assert.deepEqual(delivered, contentsOf(informer), 'listeners have received the contents of the store');
    }
    api.heal();
    await clock.advance(settlingMs);
    const real = [...api.objects].map(([name, { metadata }]) => [
      name,
      { uid: metadata.uid, resourceVersion: metadata.resourceVersion },
    ]);
    assert.deepEqual(contentsOf(informer), new Map(real as [string, View][]), 'the store equals the server');
    assert.equal(informer.hasSynced(), true);
  } finally {
    stop.abort();
    await running;
  }
  assert.equal(clock.sleeping, 0);
  const inconsistencies = [...meter.series.keys()].filter((name) => name.startsWith('informer_listener_errors_total'));
  assert.deepEqual(inconsistencies, [], 'no inconsistency was detected by a listener');
}

function contentsOf(informer: SharedInformer<KubeObject, View>): ReadonlyMap<string, View> {
  return new Map([...informer.store.keys()].map((key) => [key, informer.store.get(key) ?? assert.fail(key)]));
}

test('after any mix of disconnects, expired versions, silences, repeats, rejections and invalid events the store equals the server', async () => {
  await fc.assert(fc.asyncProperty(fc.array(anyStep, { maxLength: 40 }), fc.nat(), applyAll), {
    numRuns: 400,
  });
});
