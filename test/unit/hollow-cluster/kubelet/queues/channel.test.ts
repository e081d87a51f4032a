import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import * as fc from 'fast-check';
import { Channel } from '../../../../../src/hollow-cluster/kubelet/queues/channel.ts';

describe('a channel', () => {
  let life: AbortController;
  let channel: Channel<number>;

  beforeEach(() => {
    life = new AbortController();
    channel = new Channel<number>(2);
  });

  const fill = (): void => {
    assert.deepEqual([channel.offer(1), channel.offer(2), channel.offer(3)], [true, true, false]);
  };

  it('is first in, first out', () => {
    fill();
    assert.deepEqual([channel.take(), channel.take(), channel.take()], [1, 2, undefined]);
  });

  it('makes a sender wait until there is room', async () => {
    fill();
    let sent = false;
    const sending = channel.send(3, life.signal).then((taken) => {
      sent = taken;
    });
    await Promise.resolve();
    assert.equal(sent, false);
    assert.equal(channel.take(), 1);
    await sending;
    assert.equal(sent, true);
    assert.equal(channel.offer(4), false, 'the waiting sender got the slot');
    assert.deepEqual([channel.take(), channel.take()], [2, 3]);
  });

  it('an aborted sender stops waiting, and its item is not queued', async () => {
    fill();
    const sending = channel.send(3, life.signal);
    life.abort();
    assert.equal(await sending, false);
    assert.equal(await channel.send(4, life.signal), false);
    assert.deepEqual([channel.take(), channel.take(), channel.take()], [1, 2, undefined]);
  });

  it('accepts no items after close, and queued items can still be taken', async () => {
    fill();
    const sending = channel.send(3, life.signal);
    channel.close();
    assert.equal(await sending, false);
    assert.equal(channel.isDone, false);
    assert.deepEqual([channel.take(), channel.take()], [1, 2]);
    assert.equal(channel.isDone, true);
    assert.deepEqual([channel.offer(5), await channel.send(6, life.signal)], [false, false]);
  });

  it('calls listeners for each item and for the close, until they unsubscribe', () => {
    let calls = 0;
    const leave = channel.onReady(() => {
      calls += 1;
    });
    fill();
    channel.close();
    assert.equal(calls, 3);
    leave();
    channel.close();
    assert.equal(calls, 3);
  });

  it('rejects a capacity below 1', () => {
    assert.throws(() => new Channel(0), /capacity: must be a whole number >= 1 \(got 0\)/);
  });

  it('loses no item and keeps the order for any sequence of sends and takes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.boolean(), { maxLength: 60 }),
        async (room, acts) => {
          const channel = new Channel<number>(room);
          const sends: Promise<boolean>[] = [];
          const taken: (number | undefined)[] = [];
          for (const send of acts) {
            if (send) sends.push(channel.send(sends.length, life.signal));
            else taken.push(channel.take());
            assert.ok(channel.length <= room);
          }
          while (channel.length > 0) taken.push(channel.take());
          assert.ok((await Promise.all(sends)).every(Boolean));
          const seen = taken.filter((item) => item !== undefined);
          assert.deepEqual(
            seen,
            sends.map((_, index) => index),
          );
        },
      ),
    );
  });
});
