import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import type { Change } from '../../../../src/machinery/informer/informer.ts';
import {
  deliveryBatchMax,
  errorLogEveryMs,
  Listeners,
  slowListenerMs,
} from '../../../../src/machinery/informer/listeners.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { RecordingLogger, RecordingMeter } from '../../../support/fakes.ts';

const added = (key: string): Change<string> => ({ kind: 'added', key, object: key });
const many = (count: number): readonly Change<string>[] =>
  Array.from({ length: count }, (_, index) => added(`n${index}`));

function* oneByOne<T>(values: Iterable<T>): Generator<T> {
  yield* values;
}

describe('listeners', () => {
  let clock: ManualClock;
  let logger: RecordingLogger;
  let meter: RecordingMeter;
  let listeners: Listeners<string>;

  beforeEach(() => {
    clock = new ManualClock();
    logger = new RecordingLogger();
    meter = new RecordingMeter();
    listeners = new Listeners({ resource: 'nodes', clock, logger, meter });
  });

  const count = (name: string, listener: string): number | undefined =>
    meter.series.get(`informer_${name}_total{resource="nodes",listener="${listener}"}`);
  const linesOf = (level: string): readonly object[] =>
    logger.lines.filter((line) => line.level === level).map(({ fields }) => fields);

  test('each listener receives all changes in order, whatever the others do', () => {
    const received: Record<string, string[]> = { first: [], last: [] };
    listeners.add('first', ({ key }) => received['first']?.push(key), []);
    listeners.add('broken', () => assert.fail('always'), []);
    listeners.add('last', ({ key }) => received['last']?.push(key), []);
    listeners.deliver(many(3));
    listeners.deliver(oneByOne(many(2 * deliveryBatchMax + 1)));
    const keys = [...many(3), ...many(2 * deliveryBatchMax + 1)].map(({ key }) => key);
    assert.deepEqual(received, { first: keys, last: keys });
    assert.equal(count('listener_errors', 'broken'), keys.length);
  });

  test('a listener added during a long delivery receives the resulting state, and no change twice', () => {
    const late: string[] = [];
    let joined = false;
    listeners.add('doorkeeper', () => {
      if (!joined) listeners.add('late', ({ key }) => late.push(key), [added('present')]);
      joined = true;
    }, []);
    listeners.deliver(oneByOne(many(2 * deliveryBatchMax)));
    assert.deepEqual(late, ['present']);
    listeners.deliver([added('next')]);
    assert.deepEqual(late, ['present', 'next']);
  });

  test('a listener removed during a delivery receives no more, the others do', () => {
    const received: string[] = [];
    const others: string[] = [];
    const leave = listeners.add(
      'leaving',
      ({ key }) => {
        received.push(key);
        if (key === 'n1') leave();
      },
      [],
    );
    listeners.add('staying', ({ key }) => others.push(key), []);
    listeners.deliver(many(4));
    leave();
    listeners.deliver([added('later')]);
    assert.deepEqual(received, ['n0', 'n1']);
    assert.deepEqual(others, ['n0', 'n1', 'n2', 'n3', 'later']);
  });

  test('the time of each listener is counted by its name', () => {
    listeners.add('quick', () => clock.stall(1), [added('past')]);
    listeners.add('slow', () => clock.stall(20), []);
    listeners.deliver(many(3));
    assert.equal(count('listener_seconds', 'quick')?.toFixed(3), '0.004');
    assert.equal(count('listener_seconds', 'slow')?.toFixed(3), '0.060');
    assert.deepEqual(linesOf('warn'), []);
  });

  test('a slow listener is logged with its name', () => {
    listeners.add('slow', () => clock.stall(slowListenerMs / 2), []);
    listeners.deliver(many(1));
    assert.deepEqual(linesOf('warn'), []);
    listeners.deliver(many(2));
    assert.deepEqual(linesOf('warn'), [{ resource: 'nodes', listener: 'slow', changes: 2, tookMs: slowListenerMs }]);
  });

  test('a listener that always throws is logged at intervals, with its error and the number of errors', () => {
    const error = new Error('from a listener');
    listeners.add('broken', () => {
      throw error;
    }, []);
    const about = { resource: 'nodes', listener: 'broken', err: error };
    listeners.deliver(many(1_000));
    assert.deepEqual(linesOf('error'), [{ ...about, key: 'n0', errors: 1 }]);
    clock.stall(errorLogEveryMs);
    listeners.deliver([added('later'), added('last')]);
    assert.deepEqual(linesOf('error').slice(1), [{ ...about, key: 'later', errors: 1_000 }]);
    assert.equal(count('listener_errors', 'broken'), 1_002);
  });
});
