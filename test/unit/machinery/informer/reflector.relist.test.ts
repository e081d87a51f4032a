import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { ApiError } from '../../../../src/machinery/api/api-error.ts';
import type { ListCall, ScriptedStream } from '../../../support/scripted-reader.ts';
import {
  added,
  anObject,
  bookmark,
  initialEnd,
  modified,
  ScriptedInformer,
} from '../../../support/scripted-informer.ts';
import type { WatchEvent } from '../../../../src/machinery/ports/kube-reader.ts';

const quietMs = 90_000;
const retryMs = 30_000;
const internalError: WatchEvent = {
  type: 'ERROR',
  object: { kind: 'Status', code: 500, reason: 'InternalError', message: 'scripted' },
};

describe('an informer that lists again', () => {
  let world: ScriptedInformer;
  let rollbacks: number;

  beforeEach(async () => {
    rollbacks = 0;
    world = new ScriptedInformer({ onRollback: () => (rollbacks += 1) });
    await world.start();
  });
  afterEach(() => world.stop());

  function assertFromScratch({ options }: ListCall): void {
    assert.equal(options.resourceVersion, undefined, 'the read is consistent');
    assert.deepEqual([options.resourceVersionMatch, options.continue], [undefined, undefined]);
  }

  /** The list of a server that was restored from a backup: its versions are lower than those that the stream reached. */
  async function answerRestored(call: ListCall): Promise<void> {
    assertFromScratch(call);
    await call.answer({ metadata: { resourceVersion: '40' }, items: [anObject('n1', '30')] });
    assert.deepEqual(world.stored, ['n1@30'], 'n2 was not in the backup');
    const { options } = world.api.nextWatch();
    assert.deepEqual([options.resourceVersion, options.sendInitialEvents], ['40', undefined]);
  }

  async function quietStreams(streams: number): Promise<void> {
    for (let trips = 0; trips < streams; trips += 1) {
      assert.equal((await nextWatchAt('100')).closed, false);
      await world.clock.advance(quietMs);
    }
  }

  async function nextWatchAt(version: string): Promise<ScriptedStream> {
    const call = world.api.nextWatch();
    assert.equal(call.options.resourceVersion, version);
    return call.accept();
  }

  test('after three consecutive silent streams at one version it lists', async () => {
    await world.synced('n1', 'n2');
    await world.clock.advance(quietMs);
    await quietStreams(2);
    await answerRestored(world.api.nextList());
    assert.equal(world.relists('failing'), 1);
  });

  const versioned = (resourceVersion: string): Parameters<ListCall['answer']>[0] => ({
    metadata: { resourceVersion },
    items: [anObject('n1', '30')],
  });

  test('a stream that continues from a version that the storage has not reached ends, and a list follows', async () => {
    world.api.holdsChecks = true;
    const stream = await world.synced('n1', 'n2');
    assert.equal(world.api.checks.length, 0, 'the version of a list that was just read needs no check');
    await stream.fail('unavailable');
    const second = await nextWatchAt('100');
    const [check] = world.api.checks;
    assert.equal(check?.options.limit, 1);
    assertFromScratch(check);
    await check.answer(versioned('40'));
    assert.equal(rollbacks, 1, 'the other informers list too: the storage may have passed their versions');
    assert.equal(second.closed, true);
    await world.clock.advance(retryMs);
    await answerRestored(world.api.nextList());
    assert.equal(world.relists('rolled-back'), 1);
    assert.equal(world.api.checks.length, 1, 'the stream after the list continues from its version');
  });

  test('a stream continues from a version that the storage has reached', async () => {
    world.api.holdsChecks = true;
    const stream = await world.synced('n1');
    await stream.end();
    await world.clock.advance(5_000);
    const second = await nextWatchAt('100');
    await world.api.checks[0]?.answer(versioned('100'));
    assert.deepEqual([second.closed, world.api.waiting, world.relists('rolled-back'), rollbacks], [false, 0, 0, 0]);
  });

  test('a version that could not be read is read again while the stream is open, and not after it', async () => {
    world.api.holdsChecks = true;
    const refusal = new ApiError({ reason: 'unavailable', message: 'scripted' });
    await (await world.synced('n1')).fail('unavailable');
    const second = await nextWatchAt('100');
    await world.api.checks[0]?.refuse(refusal);
    await world.clock.advance(5_000);
    await world.api.checks[1]?.refuse(refusal);
    await second.send(modified('n1', '101'));
    await second.fail('unavailable');
    await nextWatchAt('101');
    await world.clock.advance(4_000);
    assert.equal(world.api.checks.length, 3);
    await world.api.checks[2]?.answer(versioned('40'));
    await world.clock.advance(retryMs);
    assert.equal(world.api.nextList().options.limit, 500);
  });

  test('a version that is not answered is read again', async () => {
    world.api.holdsChecks = true;
    await (await world.synced('n1')).fail('unavailable');
    await nextWatchAt('100');
    assert.equal(world.api.checks.length, 1);
    await world.clock.advance(10_000);
    assert.equal(world.api.checks.length, 2);
    await world.api.checks[1]?.answer(versioned('40'));
    assert.equal(rollbacks, 1);
    await world.clock.advance(60_000);
    assert.equal(world.api.checks.length, 2);
  });

  test('a version that is not answered for 15 s is unknown, and a list follows', async () => {
    world.api.holdsChecks = true;
    await (await world.synced('n1')).fail('unavailable');
    const second = await nextWatchAt('100');
    await world.clock.advance(14_000);
    assert.deepEqual([second.closed, world.relists('unverified')], [false, 0]);
    await world.clock.advance(1_000);
    assert.equal(second.closed, true);
    await world.clock.advance(retryMs);
    await answerRestored(world.api.nextList());
    assert.equal(world.relists('unverified'), 1);
  });

  const tooMany = new ApiError({ reason: 'too-many-requests', code: 429, retryAfterMs: 1_000, message: 'scripted' });

  /** The check is answered 429 once in five seconds from now on. */
  async function refuseChecks(times: number, from = 0): Promise<void> {
    for (let checks = from; checks < from + times; checks += 1) {
      await world.api.checks[checks]?.refuse(tooMany);
      await world.clock.advance(5_000);
    }
  }

  test('a version whose read is answered 429 leaves the stream open, and a list follows when it is answered', async () => {
    world.api.holdsChecks = true;
    await (await world.synced('n1')).fail('unavailable');
    const second = await nextWatchAt('100');
    await refuseChecks(12);
    assert.deepEqual([second.closed, world.api.waiting, world.relists('unverified')], [false, 0, 0]);
    await world.api.checks[12]?.answer(versioned('100'));
    assert.deepEqual(
      [second.closed, rollbacks],
      [true, 0],
      'the storage may have gone back and passed the version again',
    );
    await world.clock.advance(retryMs);
    await answerRestored(world.api.nextList());
    assert.equal(world.relists('unverified'), 1);
  });

  test('a version whose read is answered 429 for five minutes is unknown', async () => {
    world.api.holdsChecks = true;
    await (await world.synced('n1')).fail('unavailable');
    const second = await nextWatchAt('100');
    for (let checks = 0; checks < 60; checks += 6) {
      await refuseChecks(6, checks);
      await second.send(bookmark('101'));
    }
    assert.equal(second.closed, false);
    await refuseChecks(1, 60);
    assert.equal(second.closed, true);
  });

  /** The list that follows five minutes of 429 is answered 429 too, at version 101. */
  async function refusedList(): Promise<ScriptedStream> {
    world.api.holdsChecks = true;
    await (await world.synced('n1')).fail('unavailable');
    const second = await nextWatchAt('100');
    for (let checks = 0; checks < 60; checks += 6) {
      await refuseChecks(6, checks);
      await second.send(bookmark('101'));
    }
    await refuseChecks(1, 60);
    while (world.api.waiting === 0) await world.clock.advance(1_000);
    await world.api.nextList().refuse(tooMany);
    while (world.api.waiting === 0) await world.clock.advance(1_000);
    return nextWatchAt('101');
  }

  test('a version that was not compared until its watch ended stays unverified: the next watch began at what proves nothing', async () => {
    world.api.holdsChecks = true;
    await (await world.synced('n1', 'n2')).fail('unavailable');
    const second = await nextWatchAt('100');
    await refuseChecks(12);
    // The storage was restored to an older version, without n2, and has passed 100 meanwhile.
    await second.send(modified('n1', '120'));
    await second.fail('unavailable');
    await world.clock.advance(1_000);
    await nextWatchAt('120');
    await world.api.checks[13]?.answer(versioned('130'));
    await world.clock.advance(retryMs);
    await answerRestored(world.api.nextList());
    assert.equal(world.relists('unverified'), 1);
  });

  test('attempts that never opened a watch leave nothing to verify: after a long outage versions are compared first', async () => {
    world.api.holdsChecks = true;
    await (await world.synced('n1')).fail('unavailable');
    const refusal = { reason: 'unavailable', code: 503, retryAfterMs: 20_000, message: 'scripted' } as const;
    await world.api.nextWatch().refuse(new ApiError(refusal));
    while (world.api.waiting === 0) await world.clock.advance(1_000);
    const second = await nextWatchAt('100');
    await world.api.checks.at(-1)?.answer(versioned('100'));
    await world.clock.advance(retryMs);
    assert.deepEqual([second.closed, world.relists('unverified')], [false, 0]);
  });

  for (const [attempts, relists] of [
    [1, 0],
    [2, 1],
  ] as const)
    test(`watches that are not answered for 10 s may have been received: ${attempts} of them, ${relists} lists`, async () => {
      world.api.holdsChecks = true;
      await (await world.synced('n1')).fail('unavailable');
      for (let left = attempts as number; left > 0; left -= 1) {
        const unanswered = world.api.nextWatch();
        await world.clock.advance(10_000);
        await unanswered.refuse(new ApiError({ reason: 'timeout', message: 'scripted' }));
        while (world.api.waiting === 0) await world.clock.advance(500);
      }
      await nextWatchAt('100');
      // The storage may have been restored while the answers were awaited, and have passed 100 since.
      await world.api.checks.at(-1)?.answer(versioned('101'));
      await world.clock.advance(retryMs);
      if (relists > 0) await answerRestored(world.api.nextList());
      assert.equal(world.relists('unverified'), relists);
    });

  test('one answer that is lost among 429 leaves the stream open', async () => {
    const lost = new ApiError({ reason: 'timeout', message: 'scripted' });
    world.api.holdsChecks = true;
    await (await world.synced('n1')).fail('unavailable');
    const second = await nextWatchAt('100');
    await refuseChecks(6);
    await world.api.checks[6]?.refuse(lost);
    await world.clock.advance(5_000);
    assert.equal(second.closed, false);
    for (let checks = 7; checks < 10; checks += 1) {
      await world.api.checks[checks]?.refuse(lost);
      await world.clock.advance(5_000);
    }
    assert.equal(second.closed, true, 'nothing was answered for fifteen seconds');
  });

  test('a list that is answered 429 too leaves the version to the watch, for five minutes more', async () => {
    const third = await refusedList();
    const answered = world.api.checks.length - 1;
    await refuseChecks(15, answered);
    await third.send(bookmark('102'));
    await refuseChecks(15, answered + 15);
    assert.equal(third.closed, false);
    await world.api.checks[answered + 30]?.answer(versioned('102'));
    assert.equal(third.closed, true, 'the storage may have gone back and passed the version again');
    await world.clock.advance(retryMs);
    await answerRestored(world.api.nextList());
  });

  test('a server that shows its version and rejects each list leaves the watch open for a while', async () => {
    const third = await refusedList();
    await world.api.checks.at(-1)?.answer(versioned('101'));
    await world.clock.advance(80_000);
    await third.send(bookmark('102'));
    await world.clock.advance(60_000);
    assert.equal(third.closed, false);
    await world.clock.advance(10_000);
    assert.equal(third.closed, true);
  });

  test('a watch that was answered after this time is not reopened, whenever it was requested', async () => {
    await (await world.synced('n1')).fail('unavailable');
    const call = world.api.nextWatch();
    await world.clock.advance(20_000);
    const contactAtMs = world.clock.monotonicMs();
    await world.clock.advance(5_000);
    const stream = await call.accept();
    world.informer.reopen(contactAtMs);
    await world.clock.advance(0);
    assert.equal(stream.closed, false);
    world.informer.reopen(world.clock.monotonicMs());
    await world.clock.advance(0);
    assert.equal(stream.closed, true);
  });

  test('a rollback that is read late is one', async () => {
    world.api.holdsChecks = true;
    await (await world.synced('n1')).fail('unavailable');
    await nextWatchAt('100');
    await refuseChecks(6);
    await world.api.checks[6]?.answer(versioned('40'));
    assert.equal(rollbacks, 1);
  });

  test('a version that may not be read leaves the stream as it is', async () => {
    world.api.holdsChecks = true;
    const refusal = new ApiError({ reason: 'forbidden', message: 'scripted' });
    await (await world.synced('n1')).fail('unavailable');
    const second = await nextWatchAt('100');
    for (let checks = 0; checks < 6; checks += 1) {
      await world.api.checks[checks]?.refuse(refusal);
      await world.clock.advance(5_000);
    }
    assert.deepEqual([second.closed, world.relists('unverified')], [false, 0]);
  });

  test('a change of the version restarts the count of failures', async () => {
    await world.synced('n1');
    await world.clock.advance(quietMs);
    const second = await nextWatchAt('100');
    await second.send(bookmark('101'));
    await world.clock.advance(quietMs);
    for (let trips = 0; trips < 2; trips += 1) {
      await nextWatchAt('101');
      await world.clock.advance(quietMs);
    }
    assert.equal(world.relists('failing'), 1, 'three at 101, the first of which reached it');
  });

  test('after three consecutive internal errors at one version it lists, after a delay', async () => {
    let stream = await world.synced('n1', 'n2');
    await world.clock.advance(60_000);
    for (let failures = 0; failures < 3; failures += 1) {
      await stream.send(internalError);
      assert.equal(world.api.waiting, 0, 'after a delay');
      await world.clock.advance(retryMs);
      if (failures < 2) stream = await nextWatchAt('100');
    }
    await answerRestored(world.api.nextList());
    assert.equal(world.relists('failing'), 1);
  });

  test('three rejections with an internal error cause a list; an unreachable server never does', async () => {
    const stream = await world.synced('n1');
    await stream.end();
    const refuse = async (reason: 'internal' | 'unavailable'): Promise<void> => {
      await world.clock.advance(retryMs);
      await world.api.nextWatch().refuse(new ApiError({ reason, message: 'scripted' }));
    };
    for (let failures = 0; failures < 20; failures += 1) await refuse('unavailable');
    for (let failures = 0; failures < 3; failures += 1) await refuse('internal');
    await world.clock.advance(retryMs);
    assertFromScratch(world.api.nextList());
  });

  test('a relist ends the watch and lists from storage', async () => {
    const stream = await world.synced('n1', 'n2');
    await world.clock.advance(60_000);
    const askedAtMs = world.clock.monotonicMs();
    world.informer.relist();
    await world.clock.advance(0);
    assert.equal(stream.closed, true);
    await answerRestored(world.api.nextList());
    assert.equal(world.relists('requested'), 1);
    assert.equal(world.informer.status().lastListAtMs, askedAtMs);
  });

  test('a state that the server sent for a version is no proof that a write was undone: it may be older', async () => {
    const stream = await world.synced('n1');
    assert.equal(typeof world.informer.status().lastListSentAtMs, 'number', 'without a version it is the most recent');
    await stream.send({ type: 'ERROR', object: { code: 410, reason: 'Expired' } });
    await world.clock.advance(retryMs);
    const again = await nextWatchAt('100');
    await again.send(added('n1', '90'), initialEnd('100'));
    assert.equal(world.relists('expired'), 1);
    assert.equal(world.informer.status().lastListSentAtMs, undefined);
  });

  test('consecutive relists are one list', async () => {
    await world.synced('n1');
    world.informer.relist();
    await world.clock.advance(0);
    assert.equal(world.api.waiting, 0, 'the state is recent enough');
    await world.clock.advance(10_000);
    for (let asked = 0; asked < 3; asked += 1) world.informer.relist();
    await world.clock.advance(0);
    const call = world.api.nextList();
    world.informer.relist();
    await call.answer({ metadata: { resourceVersion: '120' }, items: [] });
    assert.equal(world.api.nextWatch().options.resourceVersion, '120');
    assert.equal(world.relists('requested'), 1);
  });

  test('a relist during a retry delay takes effect at the end of it', async () => {
    const stream = await world.synced('n1');
    await world.clock.advance(60_000);
    await stream.send(internalError);
    world.informer.relist();
    await world.clock.advance(retryMs);
    assertFromScratch(world.api.nextList());
    assert.equal(world.relists('requested'), 1);
  });

  test('a relist whose list fails once and is then answered 429 gives way to the watch', async () => {
    await world.synced('n1');
    await world.clock.advance(60_000);
    world.informer.relist();
    await world.clock.advance(0);
    await world.api.nextList().refuse(new ApiError({ reason: 'timeout', message: 'scripted' }));
    await world.clock.advance(retryMs);
    await world.api.nextWatch().refuse(tooMany);
    await world.clock.advance(retryMs);
    await nextWatchAt('100');
  });

  test('after a list was answered 429 the watch is tried before the next relist', async () => {
    await world.synced('n1');
    await world.clock.advance(60_000);
    world.informer.relist();
    await world.clock.advance(0);
    await world.api.nextList().refuse(tooMany);
    world.informer.relist();
    await world.clock.advance(retryMs);
    await world.api.nextWatch().refuse(tooMany);
    world.informer.relist();
    await world.clock.advance(retryMs);
    assertFromScratch(world.api.nextList());
  });

  test('a relist whose list fails does not fall back to the old version', async () => {
    await world.synced('n1');
    await world.clock.advance(60_000);
    world.informer.relist();
    await world.clock.advance(0);
    await world.api.nextList().refuse(new ApiError({ reason: 'unavailable', message: 'scripted' }));
    await world.clock.advance(retryMs);
    const { options } = world.api.nextWatch();
    assert.deepEqual([options.sendInitialEvents, options.resourceVersion], [true, undefined]);
  });

  for (const noticed of ['before the list is sent', 'while it is under way'])
    test(`a list that a caller asked for is not dropped at 429 if a restore was noticed ${noticed}`, async () => {
      await world.synced('n1');
      await world.clock.advance(60_000);
      world.informer.relist();
      if (noticed.startsWith('before')) world.informer.noticeRollback();
      await world.clock.advance(0);
      const list = world.api.nextList();
      if (noticed.startsWith('while')) world.informer.noticeRollback();
      await list.refuse(new ApiError({ reason: 'too-many-requests', message: 'scripted' }));
      await world.clock.advance(retryMs);
      const { options } = world.api.nextWatch();
      assert.deepEqual([options.sendInitialEvents, options.resourceVersion], [true, undefined]);
    });

  test('a server at a lower version than the stream (restored from a backup) causes a list without a version', async () => {
    await world.synced('n1', 'n2');
    await world.clock.advance(60_000);
    world.informer.noticeServerVersion('99', '100');
    await world.clock.advance(0);
    await answerRestored(world.api.nextList());
    assert.equal(world.relists('rolled-back'), 1);
  });

  test('after a restore of etcd the state is listed even right after another list', async () => {
    await world.synced('n1', 'n2');
    assert.equal(world.informer.status().restoredAtMs, undefined);
    world.informer.noticeRollback();
    assert.equal(world.informer.status().restoredAtMs, world.clock.monotonicMs());
    await world.clock.advance(1_000);
    await answerRestored(world.api.nextList());
    assert.equal(
      world.informer.status().restoredAtMs,
      world.clock.monotonicMs(),
      'what was renewed until then is lost too',
    );
    assert.equal(world.relists('rolled-back'), 1);
  });

  const mayBeOld = { metadata: { resourceVersion: '1000' }, items: [anObject('n1', '90'), anObject('old', '990')] };

  /** The list at version 1000 is followed by one more, and that by a watch. */
  async function assertListedOnceMore(): Promise<void> {
    await world.api.nextList().answer({ metadata: { resourceVersion: '1005' }, items: [anObject('n1', '1004')] });
    assert.deepEqual(world.stored, ['n1@1004']);
    assert.equal((await nextWatchAt('1005')).closed, false);
    assert.equal(world.relists('rolled-back'), 1);
  }

  test('a list that was under way when a restore was noticed may be older: one more follows', async () => {
    await world.synced('n1', 'n2');
    await world.clock.advance(60_000);
    world.informer.relist();
    await world.clock.advance(0);
    const list = world.api.nextList();
    world.informer.noticeRollback();
    await list.answer(mayBeOld);
    await assertListedOnceMore();
  });

  test('a streaming list that was under way when a restore was noticed may be older: a list follows', async () => {
    const stream = await world.api.nextWatch().accept();
    world.informer.noticeRollback();
    await stream.send(added('old', '990'), initialEnd('1000'));
    assert.equal(stream.closed, true);
    await assertListedOnceMore();
  });

  test('a list that was under way when a restore was noticed, and shows it, is enough', async () => {
    await world.synced('n1', 'n2');
    await world.clock.advance(60_000);
    world.informer.relist();
    await world.clock.advance(0);
    const list = world.api.nextList();
    world.informer.noticeRollback();
    await answerRestored(list);
  });

  test('a storage that another informer finds at a lower version, while no watch is open, is listed before the next watch', async () => {
    const stream = await world.synced('n1', 'n2');
    await world.clock.advance(60_000);
    world.informer.noticeStorageVersion({ version: '99', sentAtMs: world.clock.monotonicMs() });
    await world.clock.advance(0);
    assert.equal(stream.closed, false, 'an open watch compares the version itself');
    await stream.fail('unavailable');
    await world.api.nextWatch().refuse(new ApiError({ reason: 'unavailable', message: 'scripted' }));
    world.informer.noticeStorageVersion({ version: '99', sentAtMs: world.clock.monotonicMs() });
    await world.clock.advance(retryMs);
    await answerRestored(world.api.nextList());
    assert.equal(world.relists('rolled-back'), 1);
  });

  test('a version that was read before the own one was reached, or before the own list was sent, shows no restore', async () => {
    const stream = await world.synced('n1', 'n2');
    const readAtMs = world.clock.monotonicMs();
    await world.clock.advance(60_000);
    await stream.send(modified('n1', '1005'));
    await stream.fail('unavailable');
    await world.clock.advance(0);
    await world.api.nextWatch().refuse(new ApiError({ reason: 'unavailable', message: 'scripted' }));
    world.informer.noticeStorageVersion({ version: '1002', sentAtMs: readAtMs });
    world.informer.relist();
    await world.clock.advance(retryMs);
    const list = world.api.nextList();
    world.informer.noticeStorageVersion({ version: '1002', sentAtMs: world.clock.monotonicMs() - retryMs });
    await list.answer({ metadata: { resourceVersion: '1100' }, items: [anObject('n1', '1005')] });
    assert.equal(world.api.nextWatch().options.resourceVersion, '1100');
    assert.equal(world.relists('rolled-back'), 0);
  });

  test('a stream that advances during the version check does not cause a list', async () => {
    const stream = await world.synced('n1');
    await world.clock.advance(60_000);
    const before = world.informer.status().resourceVersion;
    await stream.send(modified('n1', '1005'));
    for (const version of ['100', '1002', '9999', 'opaque', '']) world.informer.noticeServerVersion(version, before);
    await world.clock.advance(0);
    assert.equal(stream.closed, false);
    assert.equal(world.relists('rolled-back'), 0);
  });
});
