import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { initialMsMax, initialMsPerObject, initialQuietMsMax } from '../../../../src/machinery/informer/read-pages.ts';
import {
  added,
  anObject,
  bookmark,
  initialEnd,
  modified,
  ScriptedInformer,
} from '../../../support/scripted-informer.ts';
import type { WatchEvent } from '../../../../src/machinery/ports/kube-reader.ts';
import type { ScriptedStream } from '../../../support/scripted-reader.ts';

/** Interval at which the guard of a watch reads its limits. */
const recheckMs = 5_000;

describe('a streaming list', () => {
  let world: ScriptedInformer;
  let stream: ScriptedStream;

  beforeEach(async () => {
    world = new ScriptedInformer();
    await world.start();
    stream = await world.api.nextWatch().accept();
  });
  afterEach(() => world.stop());

  /** Sends the events of `next` every second until the stream is closed; returns how long that took, in milliseconds. */
  async function sendUntilClosed(next: (second: number) => readonly WatchEvent[]): Promise<number> {
    const sinceMs = world.clock.monotonicMs();
    for (let second = 1; !stream.closed && second < 1_000; second += 1) {
      await world.clock.advance(1_000);
      await stream.send(...next(second));
    }
    return world.clock.monotonicMs() - sinceMs;
  }

  test('without an end, while known objects change: a warning and a paged list after 30 s', async () => {
    await stream.send(added('n1', '1'), added('n2', '2'));
    const tookMs = await sendUntilClosed((second) => [
      modified('n1', String(10 + second)),
      bookmark(String(10 + second)),
    ]);
    assert.ok(tookMs >= initialQuietMsMax && tookMs <= initialQuietMsMax + recheckMs, `${tookMs} ms`);
    const [warning] = world.warnings(/watch interrupted/);
    assert.deepEqual([warning?.fields['end'], warning?.fields['next']], ['guard', 'list']);
    assert.match(String(warning?.fields['detail']), /initial state not complete/);
    await world.api.nextList().answer({ metadata: { resourceVersion: '50' }, items: [anObject('n1', '40')] });
    assert.deepEqual(world.stored, ['n1@40']);
    assert.equal(world.api.nextWatch().options.resourceVersion, '50');
  });

  test('without an end, while objects are created all the time, is closed as well', async () => {
    const tookMs = await sendUntilClosed((second) => [added(`n${second}`, String(second))]);
    const limitMs = 1_000 + initialMsMax + (initialMsPerObject * tookMs) / 1_000;
    assert.ok(tookMs >= limitMs && tookMs <= limitMs + recheckMs, `${tookMs} ms`);
    assert.equal(world.api.nextList().options.limit, 500);
  });

  test('that starts and progresses slowly is not closed', async () => {
    await world.clock.advance(65_000);
    for (let part = 0; part < 10; part += 1) {
      await world.clock.advance(20_000);
      await stream.send(...Array.from({ length: 10_000 }, (_, index) => added(`n${part}-${index}`, '1')));
    }
    assert.equal(stream.closed, false);
    await stream.send(initialEnd('100'));
    assert.equal(world.informer.store.size, 100_000);
  });

  test('that is complete becomes a watch with the default limits', async () => {
    await stream.send(added('n1', '1'), initialEnd('100'));
    await world.clock.advance(89_000);
    assert.equal(stream.closed, false);
  });
});
