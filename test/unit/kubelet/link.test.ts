import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { ApiError, type ApiReason } from '../../../src/api/api-error.ts';
import { Link } from '../../../src/kubelet/link.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';
import { MemoryApi } from '../../support/memory-api.ts';

const requestTimeoutMs = 10_000;

describe("a node's cable", () => {
  let clock: ManualClock;
  let api: MemoryApi;
  let link: Link;
  let life: AbortController;

  beforeEach(async () => {
    clock = new ManualClock();
    api = new MemoryApi(clock);
    link = new Link({ api, clock, requestTimeoutMs });
    life = new AbortController();
    await api.create('nodes', { metadata: { name: 'a' } });
  });

  const get = () => link.get('nodes', { name: 'a' }, { signal: life.signal });

  it('passes requests and refusals while it is in', async () => {
    assert.equal((await get()).metadata.name, 'a');
    await assert.rejects(link.get('nodes', { name: 'b' }, { signal: life.signal }), because('not-found'));
  });

  it('sends nothing while it is out, and times out at the deadline', async () => {
    link.cut();
    const asked = outcome(get());
    await clock.advance(requestTimeoutMs - 1);
    assert.equal(asked.reason, undefined);
    await clock.advance(1);
    assert.equal(asked.reason, 'timeout');
    assert.equal(api.count('get', 'nodes'), 0);
  });

  it('loses the answer to a request that was on its way', async () => {
    const asked = outcome(link.create('nodes', { metadata: { name: 'b' } }, { signal: life.signal }));
    link.cut();
    await clock.advance(requestTimeoutMs);
    assert.equal(asked.reason, 'timeout');
    assert.ok(api.peek('nodes', 'b') !== undefined, 'it was carried out all the same');
  });

  it('fails what still hangs when it is in again, and passes what comes then', async () => {
    link.cut();
    const asked = outcome(get());
    await clock.advance(3_000);
    link.restore();
    await settled();
    assert.equal(asked.reason, 'unavailable');
    assert.equal((await get()).metadata.name, 'a');
    assert.equal(clock.sleeping, 0);
  });

  it('lets a caller leave, and keeps nothing of it', async () => {
    link.cut();
    const asked = outcome(get());
    await settled();
    life.abort();
    await settled();
    assert.equal(asked.reason, 'aborted');
    assert.equal(clock.sleeping, 0);
  });

  it('tells of a restoration once for each cut', () => {
    let told = 0;
    const leave = link.onRestored(() => told++);
    link.restore();
    link.cut();
    link.cut();
    link.restore();
    link.restore();
    assert.equal(told, 1);
    leave();
    link.cut();
    link.restore();
    assert.equal(told, 1);
  });

  it('shows nothing of a watch while it is out, and then the stream turns out to be dead', async () => {
    const stream = await link.watch('nodes', { signal: life.signal });
    const seen: string[] = [];
    const reading = outcome(
      (async () => {
        for await (const batch of stream) seen.push(...batch.map((event) => event.type));
      })(),
    );
    await settled();
    await api.create('nodes', { metadata: { name: 'b' } });
    await settled();
    assert.deepEqual(seen, ['ADDED']);
    link.cut();
    await api.create('nodes', { metadata: { name: 'c' } });
    await clock.advance(60_000);
    assert.deepEqual(seen, ['ADDED']);
    link.restore();
    await settled();
    assert.deepEqual([seen.length, reading.reason], [1, 'unavailable']);
  });

  it('does not deliver late what a watch missed while nobody read it', async () => {
    const stream = await link.watch('nodes', { signal: life.signal });
    link.cut();
    await api.create('nodes', { metadata: { name: 'b' } });
    link.restore();
    const events = stream[Symbol.asyncIterator]();
    await assert.rejects(events.next(), because('unavailable'));
  });
});

function because(reason: ApiReason): (error: unknown) => boolean {
  return (error) => error instanceof ApiError && error.reason === reason;
}

/** Notes how a promise failed, while the test goes on. */
function outcome(promise: Promise<unknown>): { reason: ApiReason | undefined } {
  const noted: { reason: ApiReason | undefined } = { reason: undefined };
  promise.then(
    () => {},
    (error: unknown) => {
      noted.reason = error instanceof ApiError ? error.reason : 'internal';
    },
  );
  return noted;
}
