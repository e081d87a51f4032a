import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { transformLease } from '../../../../src/machinery/api/lease.ts';
import {
  linesMax,
  MalformedObjects,
  reportedMax,
  reportAgainMs,
} from '../../../../src/machinery/informer/malformed-objects.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { RecordingLogger, RecordingMeter } from '../../../support/fakes.ts';

const resource = 'leases';
const nameOf = (name: string): { readonly namespace: string; readonly name: string } => ({ namespace: 'n', name });

/** The problems of a lease with that renewTime. */
function problemsAt(renewTime: unknown): readonly string[] | undefined {
  return transformLease({ metadata: { name: 'a' }, spec: { renewTime: renewTime as string } }).problems;
}

describe('malformed objects', () => {
  let clock: ManualClock;
  let logger: RecordingLogger;
  let meter: RecordingMeter;
  let malformed: MalformedObjects;

  beforeEach(() => {
    clock = new ManualClock();
    logger = new RecordingLogger();
    meter = new RecordingMeter();
    malformed = new MalformedObjects({ resource, clock, logger, meter });
  });

  const counted = (problem: string): number =>
    meter.series.get(`informer_malformed_objects_total{resource="leases",problem="${problem}"}`) ?? 0;

  test('a field that is malformed at each renewal, with changing values, is one log line', () => {
    for (let renewal = 0; renewal < 1_000; renewal += 1)
      malformed.report(nameOf('a'), problemsAt(`${2 ** 50 + renewal}:0: must be x (got ${renewal})`));
    assert.equal(logger.lines.length, 1);
    assert.equal(counted('field'), 1);
  });

  test('renewals that are intermittently malformed are one log line', () => {
    for (let renewal = 0; renewal < 1_000; renewal += 1)
      malformed.report(nameOf('a'), problemsAt(renewal % 2 === 0 ? 'never' : '2026-01-02T03:04:05.000000Z'));
    assert.equal(logger.lines.length, 1);
  });

  test('another problem of the same object is another log line, and so is one of an object that was deleted and created again', () => {
    malformed.report(nameOf('a'), problemsAt('never'));
    malformed.report(nameOf('a'), problemsAt(7));
    assert.equal(logger.lines.length, 2, 'a missing string and a string that is not a time are different problems');
    malformed.report(nameOf('a'), problemsAt('never'));
    assert.equal(logger.lines.length, 2);
    malformed.forget(nameOf('a'));
    malformed.report(nameOf('a'), problemsAt('never'));
    assert.equal(logger.lines.length, 3);
  });

  test('a persistent problem is counted and logged again after half an hour', async () => {
    malformed.report(nameOf('a'), problemsAt('never'));
    await clock.advance(reportAgainMs - 1);
    malformed.report(nameOf('a'), problemsAt('never'));
    assert.equal(counted('field'), 1);
    await clock.advance(1);
    malformed.report(nameOf('a'), problemsAt('never'));
    assert.equal(counted('field'), 2);
    assert.equal(logger.lines.length, 2);
  });

  test('many problems are counted, with at most twenty log lines a minute; the next line contains the number of suppressed ones', async () => {
    for (let object = 0; object < 100; object += 1) malformed.report(nameOf(`l${object}`), problemsAt('never'));
    assert.equal(counted('field'), 100);
    assert.equal(logger.lines.length, linesMax);
    await clock.advance(60_000);
    malformed.reportSkipped('object', nameOf('b'), 'the message is cut short');
    assert.equal(logger.lines.length, linesMax + 1);
    assert.equal(logger.lines.at(-1)?.fields['suppressed'], 80);
  });

  test('objects beyond the remembered ones are not logged', async () => {
    for (let object = 0; object < reportedMax; object += 1) malformed.report(nameOf(`l${object}`), problemsAt('never'));
    await clock.advance(60_000);
    const before = logger.lines.length;
    for (let renewal = 0; renewal < 100; renewal += 1) malformed.report(nameOf('beyond'), problemsAt('never'));
    assert.equal(logger.lines.length, before);
  });

  test('objects without a name are each counted, and one log line', () => {
    for (let object = 0; object < 5; object += 1) malformed.reportSkipped('name', undefined, 'no name');
    assert.equal(counted('name'), 5);
    assert.equal(logger.lines.length, 1);
  });
});
