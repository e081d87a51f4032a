import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { ObjectMeta } from '../../../../src/machinery/api/meta.ts';
import type { ObjectEventType, WatchEvent } from '../../../../src/machinery/ports/kube-reader.ts';
import {
  added,
  anObject,
  bookmark,
  initialEnd,
  modified,
  ScriptedInformer,
} from '../../../support/scripted-informer.ts';

const expired: WatchEvent = { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } };
const ghostRelistMs = 600_000;

function undecodable(change?: ObjectEventType, metadata?: ObjectMeta): WatchEvent {
  return { type: 'UNDECODABLE', change, object: { metadata, problem: 'the message is cut short' } };
}

/** The metadata of a node whose other bytes could not be decoded. */
function only(name: string, resourceVersion: string, uid = `uid-${name}`): ObjectMeta {
  return { name, resourceVersion, uid };
}

describe('an object that cannot be decoded', () => {
  let world: ScriptedInformer;

  beforeEach(async () => {
    world = new ScriptedInformer();
    await world.start();
  });
  afterEach(() => world.stop());

  const counted = (problem: string): number =>
    world.meter.series.get(`informer_malformed_objects_total{resource="nodes",problem="${problem}"}`) ?? 0;
  const skipped = (): readonly unknown[] => world.warnings(/skipped/).map(({ fields }) => fields['key']);

  test('in a watch loses only that change', async () => {
    const stream = await world.synced('n1', 'n2');
    await stream.send(modified('n1', '101'), undecodable('MODIFIED', only('n2', '102')), modified('n1', '103'));
    await stream.send(undecodable('ADDED', only('n3', '104')), added('n4', '105'));
    assert.deepEqual(world.stored, ['n1@103', 'n2@90', 'n4@105']);
    assert.equal(stream.closed, false);
    assert.equal(world.informer.status().resourceVersion, '105');
    assert.equal(counted('object'), 2);
    assert.deepEqual(skipped(), ['n2', 'n3']);
  });

  test('is known as such until a later state is decoded, or the object is gone', async () => {
    const isUndecoded = (): readonly boolean[] =>
      ['n1', 'n2', 'n3', 'n4'].map((name) => world.informer.isUndecoded(name));
    const stream = await world.synced('n1', 'n2', 'n3', 'n4');
    const names = ['n1', 'n2', 'n3'];
    await stream.send(...names.map((name, place) => undecodable('MODIFIED', only(name, String(101 + place)))));
    assert.deepEqual(isUndecoded(), [true, true, true, false]);
    await stream.send(modified('n1', '104'), undecodable('DELETED', only('n2', '105')));
    assert.deepEqual(isUndecoded(), [false, false, true, false]);
    await world.clock.advance(60_000);
    await stream.send(expired);
    const again = await world.api.nextWatch().accept();
    await again.send(undecodable('ADDED', only('n1', '104')), added('n4', '90'), initialEnd('160'));
    assert.deepEqual(isUndecoded(), [true, false, false, false], 'n3 is gone');
  });

  test('in a DELETED event deletes the named object, but no later object of that name', async () => {
    const stream = await world.synced('n1', 'n2');
    await stream.send(undecodable('DELETED', only('n1', '101')));
    assert.deepEqual(world.stored, ['n2@90']);
    await stream.send(undecodable('DELETED', only('n2', '80', 'uid-of-an-earlier-n2')));
    assert.deepEqual(world.stored, ['n2@90']);
    assert.equal(stream.closed, false);
  });

  test('in a DELETED event stays deleted when an earlier change is repeated and can be decoded', async () => {
    const stream = await world.synced('n1', 'n2');
    await stream.send(undecodable('MODIFIED', only('n1', '101')), undecodable('DELETED', only('n1', '102')));
    await stream.send(modified('n1', '101'));
    assert.deepEqual(world.stored, ['n2@90']);
    await world.clock.advance(60_000);
    await stream.send(expired);
    const again = await world.api.nextWatch().accept();
    await again.send(added('n2', '90'), added('n3', '95'), undecodable('DELETED', only('n3', '103')));
    await again.send(added('n3', '95'), initialEnd('160'));
    assert.deepEqual(world.stored, ['n2@90']);
  });

  test('in an initial state keeps the stored object of its name', async () => {
    const stream = await world.synced('n1', 'n2', 'n3');
    await world.clock.advance(60_000);
    await stream.send(expired);
    const again = await world.api.nextWatch().accept();
    const broken = [undecodable('ADDED', only('n1', '150')), undecodable('ADDED', only('n9', '151'))];
    await again.send(...broken, added('n2', '152'), undecodable('ADDED'), initialEnd('160'));
    assert.deepEqual(world.stored, ['n1@90', 'n2@152'], 'n1 is kept, n3 is gone, n9 never existed');
    assert.equal(world.informer.status().resourceVersion, '160');
  });

  test('in a list keeps the stored object of its name', async () => {
    await world.synced('n1', 'n2', 'n3');
    await world.clock.advance(60_000);
    world.informer.relist();
    await world.clock.advance(0);
    await world.api.nextList().answer({
      metadata: { resourceVersion: '160' },
      items: [anObject('n2', '152')],
      undecodable: [
        { metadata: only('n1', '150'), problem: 'the message is cut short' },
        { metadata: undefined, problem: 'field number zero' },
      ],
    });
    assert.deepEqual(world.stored, ['n1@90', 'n2@152']);
    assert.equal(counted('object'), 2);
  });

  test('that was kept from a history before a restore holds no later change back', async () => {
    await world.synced('n1', 'n2');
    world.informer.noticeRollback();
    await world.clock.advance(5_000);
    await world.api.nextList().answer({
      metadata: { resourceVersion: '60' },
      items: [],
      undecodable: ['n1', 'n2'].map((name) => ({ metadata: only(name, '50'), problem: 'the message is cut short' })),
    });
    assert.deepEqual(world.stored, ['n1@90', 'n2@90']);
    const stream = await world.api.nextWatch().accept();
    await stream.send(modified('n1', '61'), modified('n1', '61'), modified('n1', '62'), modified('n1', '61'));
    assert.deepEqual(world.stored, ['n1@62', 'n2@90']);
    await stream.send(undecodable('DELETED', only('n2', '63', 'uid-of-a-later-n2')));
    assert.deepEqual(world.stored, ['n1@62']);
  });

  test('without a name is skipped, and a possible deletion causes a list, at most every ten minutes', async () => {
    let stream = await world.synced('n1', 'ghost');
    await world.clock.advance(60_000);
    const nameless: WatchEvent = { type: 'MODIFIED', object: { metadata: { resourceVersion: '101' } } };
    await stream.send(nameless, { type: 'ADDED', object: {} } as WatchEvent, modified('n1', '102'));
    assert.equal(stream.closed, false, 'no deletion was missed');
    assert.equal(counted('name'), 2);
    await stream.send(undecodable('DELETED'), modified('n1', '103'));
    assert.equal(stream.closed, true);
    const list = world.api.nextList();
    assert.equal(list.options.resourceVersion, undefined);
    await list.answer({ metadata: { resourceVersion: '110' }, items: [anObject('n1', '103')] });
    assert.deepEqual(world.stored, ['n1@103']);
    assert.equal(world.relists('undecodable'), 1);
    stream = await world.api.nextWatch().accept();
    await stream.send(undecodable(), undecodable('DELETED'));
    assert.equal(stream.closed, false);
    const pass = async (minutes: number, version: string): Promise<void> => {
      for (let minute = 0; minute < minutes; minute += 1) {
        await world.clock.advance(60_000);
        if (stream.closed) stream = await world.api.nextWatch().accept();
        await stream.send(bookmark(version));
      }
    };
    await pass(ghostRelistMs / 60_000 - 1, '120');
    assert.equal(stream.closed, false);
    await pass(1, '120');
    assert.equal(stream.closed, true, 'the list that was put off');
    await world.api.nextList().answer({ metadata: { resourceVersion: '121' }, items: [anObject('n1', '103')] });
    assert.equal(world.relists('undecodable'), 2);
    stream = await world.api.nextWatch().accept();
    await pass(4, '130');
    assert.equal(world.relists('undecodable'), 2, 'once for each');
  });

  test('that may be a deletion within the initial state is listed when that is complete', async () => {
    const stream = await world.api.nextWatch().accept();
    await stream.send(added('n1', '90'), added('n2', '90'));
    await stream.send(undecodable('DELETED'));
    await world.clock.advance(1);
    await stream.send(initialEnd('100'));
    await stream.send(bookmark('101'));
    assert.equal(world.relists('undecodable'), 1);
    await world.api.nextList().answer({ metadata: { resourceVersion: '110' }, items: [anObject('n1', '90')] });
    assert.deepEqual(world.stored, ['n1@90']);
  });

  for (const [what, event] of [
    ['of an unknown type', { type: 'MOVED', object: anObject('n1', '101') }],
    ['that is a bookmark without a version', { type: 'BOOKMARK', object: { metadata: {} } }],
  ] as const) {
    test(`as an event ${what} is skipped and counted`, async () => {
      const stream = await world.synced('n1');
      await stream.send(modified('n1', '101'), event as unknown as WatchEvent, modified('n1', '102'));
      assert.deepEqual(world.stored, ['n1@102']);
      assert.equal(counted('event'), 1);
    });
  }

  test('does not count as a frame of the stream', async () => {
    const stream = await world.synced('n1');
    const lastFrameAtMs = world.informer.status().lastFrameAtMs;
    for (let passedMs = 0; passedMs < 80_000; passedMs += 20_000) {
      await world.clock.advance(20_000);
      await stream.send(undecodable('MODIFIED', only('n1', '101')));
    }
    assert.equal(world.informer.status().lastFrameAtMs, lastFrameAtMs);
    await world.clock.advance(10_000);
    assert.equal(stream.closed, true);
  });
});

describe('a transform that throws', () => {
  test('loses only the object that it throws at', async () => {
    const world = new ScriptedInformer({
      transform: ({ metadata: { name = '', resourceVersion = '' } }) => {
        if (name === 'malformed') throw new TypeError('scripted');
        return { name, uid: name, resourceVersion };
      },
    });
    await world.start();
    await world.synced('n1', 'malformed', 'n2');
    assert.deepEqual(world.stored, ['n1@90', 'n2@90']);
    const seen = world.warnings(/skipped/).map(({ fields }) => [fields['key'], fields['problem']]);
    assert.deepEqual(seen, [['malformed', 'scripted']]);
    await world.stop();
  });
});
