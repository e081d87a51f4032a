import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import * as fc from 'fast-check';
import { Channel } from '../../../src/queueing/channel.ts';

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

  it('gives back what came in, in its order', () => {
    fill();
    assert.deepEqual([channel.take(), channel.take(), channel.take()], [1, 2, undefined]);
  });

  it('holds a sender back until there is room', async () => {
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
    assert.equal(channel.offer(4), false, 'the room went to the one who waited');
    assert.deepEqual([channel.take(), channel.take()], [2, 3]);
  });

  it('lets a sender go that no longer wants to wait, and nothing of it stays', async () => {
    fill();
    const sending = channel.send(3, life.signal);
    life.abort();
    assert.equal(await sending, false);
    assert.equal(await channel.send(4, life.signal), false);
    assert.deepEqual([channel.take(), channel.take(), channel.take()], [1, 2, undefined]);
  });

  it('takes nothing in once it is closed, and still gives what it has', async () => {
    fill();
    const sending = channel.send(3, life.signal);
    channel.close();
    assert.equal(await sending, false);
    assert.equal(channel.isDone, false);
    assert.deepEqual([channel.take(), channel.take()], [1, 2]);
    assert.equal(channel.isDone, true);
    assert.deepEqual([channel.offer(5), await channel.send(6, life.signal)], [false, false]);
  });

  it('calls back for each item and for the close, until one leaves', () => {
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

  it('refuses a bound that lets nothing in', () => {
    assert.throws(() => new Channel(0), /capacity: got 0; accepted: 1 or more/);
  });

  it('loses nothing and keeps the order, however sending and taking alternate', async () => {
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
          assert.deepEqual(
            taken.filter((item) => item !== undefined),
            sends.map((_, index) => index),
          );
        },
      ),
    );
  });
});
