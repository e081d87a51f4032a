import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import type { Change } from '../../../src/informer/informer.ts';
import { complaintEveryMs, slowHandOverMs } from '../../../src/informer/listener-record.ts';
import { handOverMax, Listeners } from '../../../src/informer/listeners.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { KeepingLogger, KeepingMeter } from '../../support/quiet.ts';

const added = (key: string): Change<string> => ({ kind: 'added', key, object: key });
const many = (count: number): readonly Change<string>[] =>
  Array.from({ length: count }, (_, index) => added(`n${index}`));

function* oneByOne<T>(values: Iterable<T>): Generator<T> {
  yield* values;
}

describe('listeners', () => {
  let clock: ManualClock;
  let logger: KeepingLogger;
  let meter: KeepingMeter;
  let listeners: Listeners<string>;

  beforeEach(() => {
    clock = new ManualClock();
    logger = new KeepingLogger();
    meter = new KeepingMeter();
    listeners = new Listeners({ resource: 'nodes', clock, logger, meter });
  });

  const count = (name: string, listener: string): number | undefined =>
    meter.series.get(`informer_${name}_total{resource="nodes",listener="${listener}"}`);
  const linesOf = (level: string): readonly object[] =>
    logger.lines.filter((line) => line.level === level).map(({ fields }) => fields);

  test('each hears of everything in order, whatever the others do', () => {
    const heard: Record<string, string[]> = { first: [], last: [] };
    listeners.join('first', ({ key }) => heard['first']?.push(key), []);
    listeners.join('broken', () => assert.fail('always'), []);
    listeners.join('last', ({ key }) => heard['last']?.push(key), []);
    listeners.announce(many(3));
    listeners.announce(oneByOne(many(2 * handOverMax + 1)));
    const keys = [...many(3), ...many(2 * handOverMax + 1)].map(({ key }) => key);
    assert.deepEqual(heard, { first: keys, last: keys });
    assert.equal(count('listener_errors', 'broken'), keys.length);
  });

  test('who joins in the middle of a long announcement has heard of where it leads, and hears nothing of it twice', () => {
    const late: string[] = [];
    let joined = false;
    listeners.join('doorkeeper', () => {
      if (!joined) listeners.join('late', ({ key }) => late.push(key), [added('present')]);
      joined = true;
    }, []);
    listeners.announce(oneByOne(many(2 * handOverMax)));
    assert.deepEqual(late, ['present']);
    listeners.announce([added('next')]);
    assert.deepEqual(late, ['present', 'next']);
  });

  test('who leaves in the middle hears no more, and the others hear on', () => {
    const heard: string[] = [];
    const others: string[] = [];
    const leave = listeners.join(
      'leaving',
      ({ key }) => {
        heard.push(key);
        if (key === 'n1') leave();
      },
      [],
    );
    listeners.join('staying', ({ key }) => others.push(key), []);
    listeners.announce(many(4));
    leave();
    listeners.announce([added('later')]);
    assert.deepEqual(heard, ['n0', 'n1']);
    assert.deepEqual(others, ['n0', 'n1', 'n2', 'n3', 'later']);
  });

  test('the time that each takes is counted by its name', () => {
    listeners.join('quick', () => clock.stall(1), [added('past')]);
    listeners.join('slow', () => clock.stall(20), []);
    listeners.announce(many(3));
    assert.equal(count('listener_seconds', 'quick')?.toFixed(3), '0.004');
    assert.equal(count('listener_seconds', 'slow')?.toFixed(3), '0.060');
    assert.deepEqual(linesOf('warn'), []);
  });

  test('who keeps everybody waiting is named', () => {
    listeners.join('slow', () => clock.stall(slowHandOverMs / 2), []);
    listeners.announce(many(1));
    assert.deepEqual(linesOf('warn'), []);
    listeners.announce(many(2));
    assert.deepEqual(linesOf('warn'), [{ resource: 'nodes', listener: 'slow', changes: 2, tookMs: slowHandOverMs }]);
  });

  test('who throws at everything is told once in a while, with what it threw and how often', () => {
    const error = new Error('from a listener');
    listeners.join('broken', () => {
      throw error;
    }, []);
    const about = { resource: 'nodes', listener: 'broken', err: error };
    listeners.announce(many(1_000));
    assert.deepEqual(linesOf('error'), [{ ...about, key: 'n0', errors: 1 }]);
    clock.stall(complaintEveryMs);
    listeners.announce([added('later'), added('last')]);
    assert.deepEqual(linesOf('error').slice(1), [{ ...about, key: 'later', errors: 1_000 }]);
    assert.equal(count('listener_errors', 'broken'), 1_002);
  });
});
