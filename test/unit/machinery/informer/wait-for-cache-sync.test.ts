import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Syncing, syncPollMs, waitForCacheSync } from '../../../../src/machinery/informer/wait-for-cache-sync.ts';
import { ManualClock, settled } from '../../../support/manual-clock.ts';

class Waiter implements Syncing {
  readonly name: string;
  readonly #synced = Promise.withResolvers<void>();
  #has = false;
  constructor(name: string) {
    this.name = name;
  }
  hasSynced(): boolean {
    return this.#has;
  }
  whenSynced(): Promise<void> {
    return this.#synced.promise;
  }
  sync(): void {
    this.#has = true;
    this.#synced.resolve();
  }
}

describe('waiting for caches', () => {
  test('ends when the last one syncs, without polling', async () => {
    const clock = new ManualClock();
    const [nodes, pods] = [new Waiter('nodes'), new Waiter('pods')];
    let missing: readonly string[] | undefined;
    const waiting = waitForCacheSync([nodes, pods], { clock, signal: new AbortController().signal }).then((names) => {
      missing = names;
    });
    nodes.sync();
    await settled();
    assert.equal(missing, undefined);
    await clock.advance(24 * 3_600_000);
    assert.equal(missing, undefined, 'no time limit');
    pods.sync();
    await waiting;
    assert.deepEqual(missing, []);
    assert.equal(clock.sleeping, 0);
  });

  test('returns those that have not synced at the timeout, and leaves no timer', async () => {
    const clock = new ManualClock();
    const nodes = new Waiter('nodes');
    const { signal } = new AbortController();
    const waiting = waitForCacheSync([nodes, new Waiter('pods')], { clock, signal, timeoutMs: 5_000 });
    nodes.sync();
    await clock.advance(5_000);
    assert.deepEqual(await waiting, ['pods']);
    assert.equal(clock.sleeping, 0);
  });

  test('ends when the signal aborts', async () => {
    const clock = new ManualClock();
    const stop = new AbortController();
    const polled: Syncing = { name: 'polled', hasSynced: () => false };
    const options = { clock, signal: stop.signal, timeoutMs: 5_000 };
    const waiting = waitForCacheSync([new Waiter('nodes'), polled], options);
    stop.abort();
    assert.deepEqual(await waiting, ['nodes', 'polled']);
    await settled();
    assert.equal(clock.sleeping, 0);
    assert.deepEqual(await waitForCacheSync([polled], options), ['polled']);
  });

  test('polls those without whenSynced', async () => {
    const clock = new ManualClock();
    let has = false;
    const polled: Syncing = { name: 'polled', hasSynced: () => has };
    const waiting = waitForCacheSync([polled], { clock, signal: new AbortController().signal });
    await clock.advance(syncPollMs);
    has = true;
    await clock.advance(syncPollMs);
    assert.deepEqual(await waiting, []);
  });
});
