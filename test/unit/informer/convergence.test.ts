import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { ApiReason } from '../../../src/api/api-error.ts';
import type { KubeObject } from '../../../src/api/meta.ts';
import { SharedInformer } from '../../../src/informer/shared-informer.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';
import { ModelApi } from '../../support/model-api.ts';
import { KeepingLogger, KeepingMeter, SeededRandom } from '../../support/quiet.ts';
import { Replay, stateOfStore } from '../../support/replay.ts';

interface View {
  readonly uid: string;
  readonly resourceVersion: string;
}

type Happening =
  | { readonly does: 'put' | 'remove' | 'recreate'; readonly name: string }
  | { readonly does: 'cut' | 'end' | 'mute' | 'compact' | 'bookmark' | 'babble' }
  | { readonly does: 'repeat'; readonly events: number }
  | { readonly does: 'refuse'; readonly reasons: readonly ApiReason[] }
  | { readonly does: 'serve'; readonly streamsLists: boolean; readonly pagesExpire: boolean }
  | { readonly does: 'join'; readonly when: 'now' | 'at-the-next-change' }
  | { readonly does: 'wait'; readonly ms: number };

const aName = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const anyHappening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ does: fc.constantFrom('put', 'remove', 'recreate'), name: aName }) },
  { weight: 4, arbitrary: fc.record({ does: fc.constantFrom('cut', 'end', 'mute', 'compact', 'bookmark', 'babble') }) },
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
) as fc.Arbitrary<Happening>;

/** Longer than the longest silence and the longest delay after it. */
const settlingMs = 400_000;

/** Listeners that join in the middle of everything, some of them from within another listener. */
class LateJoiners {
  readonly #informer: SharedInformer<KubeObject, View>;
  readonly #joined: Replay<View>[] = [];
  #waiting = 0;

  constructor(informer: SharedInformer<KubeObject, View>) {
    this.#informer = informer;
    informer.onChange('doorkeeper', () => {
      for (; this.#waiting > 0; this.#waiting -= 1) this.join('now');
    });
  }

  join(when: 'now' | 'at-the-next-change'): void {
    if (when === 'at-the-next-change') this.#waiting += 1;
    else {
      const replay = new Replay(this.#informer.store);
      this.#joined.push(replay);
      this.#informer.onChange('late', replay.listen);
    }
  }

  assertNothingMissed(): void {
    for (const replay of this.#joined) {
      assert.deepEqual(replay.violations, []);
      assert.deepEqual(replay.state(), stateOfStore(this.#informer.store));
    }
  }
}

interface World {
  readonly api: ModelApi;
  readonly clock: ManualClock;
  readonly joiners: LateJoiners;
}

async function happen({ api, clock, joiners }: World, happening: Happening): Promise<void> {
  switch (happening.does) {
    case 'put':
    case 'remove':
      return api[happening.does](happening.name);
    case 'recreate':
      api.remove(happening.name);
      return api.put(happening.name);
    case 'repeat':
      return api.repeat(happening.events);
    case 'refuse':
      return api.refuse(...happening.reasons);
    case 'serve':
      Object.assign(api, { streamsLists: happening.streamsLists, pagesExpire: happening.pagesExpire });
      return;
    case 'join':
      return joiners.join(happening.when);
    case 'wait':
      return clock.advance(happening.ms);
    case 'cut':
    case 'end':
    case 'mute':
    case 'compact':
    case 'bookmark':
    case 'babble':
      return api[happening.does]();
  }
}

async function liveThrough(happenings: readonly Happening[], seed: number): Promise<void> {
  const api = new ModelApi();
  const clock = new ManualClock();
  const meter = new KeepingMeter();
  const stop = new AbortController();
  const informer = new SharedInformer<KubeObject, View>({
    resource: 'nodes',
    api,
    clock,
    random: new SeededRandom(seed),
    logger: new KeepingLogger(),
    meter,
    view: ({ metadata }) => ({ uid: metadata.uid ?? '', resourceVersion: metadata.resourceVersion ?? '' }),
    identity: (view) => view,
  });
  const told = new Map<string, View>();
  informer.onChange('test', (change) => {
    const known = told.get(change.key);
    assert.equal(change.kind === 'added', known === undefined, 'added is what was not there');
    if (change.kind === 'modified') assert.equal(change.object.uid, known?.uid, 'modified is the same object');
    if (change.kind === 'deleted') told.delete(change.key);
    else told.set(change.key, change.object);
  });
  const joiners = new LateJoiners(informer);
  const running = informer.run(stop.signal);
  try {
    for (const happening of happenings) {
      await happen({ api, clock, joiners }, happening);
      await settled();
      joiners.assertNothingMissed();
      assert.deepEqual(told, contentsOf(informer), 'listeners know what the store shows');
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
  const objections = [...meter.series.keys()].filter((name) => name.startsWith('informer_listener_errors_total'));
  assert.deepEqual(objections, [], 'no listener objected');
}

function contentsOf(informer: SharedInformer<KubeObject, View>): ReadonlyMap<string, View> {
  return new Map([...informer.store.keys()].map((key) => [key, informer.store.get(key) ?? assert.fail(key)]));
}

test('after any mix of cuts, expiries, silences, repeats, refusals and nonsense the store equals the server', async () => {
  await fc.assert(fc.asyncProperty(fc.array(anyHappening, { maxLength: 40 }), fc.nat(), liveThrough), {
    numRuns: 400,
  });
});
