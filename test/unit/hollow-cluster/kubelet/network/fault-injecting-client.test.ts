import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { ApiError, type ApiReason } from '../../../../../src/machinery/api/api-error.ts';
import { FaultInjectingClient } from '../../../../../src/hollow-cluster/kubelet/network/fault-injecting-client.ts';
import { ManualClock, settled } from '../../../../support/manual-clock.ts';
import { MemoryApi } from '../../../../support/memory-api.ts';

const requestTimeoutMs = 10_000;

describe('the fault-injecting client of a node', () => {
  let clock: ManualClock;
  let api: MemoryApi;
  let client: FaultInjectingClient;
  let life: AbortController;

  beforeEach(async () => {
    clock = new ManualClock();
    api = new MemoryApi(clock);
    client = new FaultInjectingClient({ api, clock, requestTimeoutMs });
    life = new AbortController();
    await api.create('nodes', { metadata: { name: 'a' } });
  });

  const get = () => client.get('nodes', { name: 'a' }, { signal: life.signal });

  it('passes requests and errors while connected', async () => {
    assert.equal((await get()).metadata.name, 'a');
    await assert.rejects(client.get('nodes', { name: 'b' }, { signal: life.signal }), because('not-found'));
  });

  it('sends nothing while cut, and times out at the deadline', async () => {
    client.cut();
    const asked = outcome(get());
    await clock.advance(requestTimeoutMs - 1);
    assert.equal(asked.reason, undefined);
    await clock.advance(1);
    assert.equal(asked.reason, 'timeout');
    assert.equal(api.count('get', 'nodes'), 0);
  });

  it('loses the response of a request that was in flight', async () => {
    const asked = outcome(client.create('nodes', { metadata: { name: 'b' } }, { signal: life.signal }));
    client.cut();
    await clock.advance(requestTimeoutMs);
    assert.equal(asked.reason, 'timeout');
    assert.ok(api.peek('nodes', 'b') !== undefined, 'it was carried out');
  });

  it('fails pending requests when restored, and passes later ones', async () => {
    client.cut();
    const asked = outcome(get());
    await clock.advance(3_000);
    client.restore();
    await settled();
    assert.equal(asked.reason, 'unavailable');
    assert.equal((await get()).metadata.name, 'a');
    assert.equal(clock.sleeping, 0);
  });

  it('lets a caller cancel, and leaks nothing', async () => {
    client.cut();
    const asked = outcome(get());
    await settled();
    life.abort();
    await settled();
    assert.equal(asked.reason, 'aborted');
    assert.equal(clock.sleeping, 0);
  });

  it('reports one restoration per cut', () => {
    let restored = 0;
    const leave = client.onRestored(() => restored++);
    client.restore();
    client.cut();
    client.cut();
    client.restore();
    client.restore();
    assert.equal(restored, 1);
    leave();
    client.cut();
    client.restore();
    assert.equal(restored, 1);
  });
});

function because(reason: ApiReason): (error: unknown) => boolean {
  return (error) => error instanceof ApiError && error.reason === reason;
}

/** Records how a promise failed. */
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
