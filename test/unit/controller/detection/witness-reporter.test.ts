import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WitnessReporter } from '../../../../src/controller/detection/witness-reporter.ts';
import type { WitnessReport } from '../../../../src/controller/model/detection.ts';
import { ApiError, type ApiReason } from '../../../../src/machinery/api/api-error.ts';
import { RecordingLogger } from '../../../support/fakes.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const { signal } = new AbortController();
const heartbeats = (...nodes: readonly string[]): WitnessReport['unanswered'] =>
  new Map(nodes.map((node) => [node, '2026-01-02T03:04:05Z']));

function aReporter(): {
  readonly reporter: WitnessReporter;
  readonly clock: ManualClock;
  readonly logger: RecordingLogger;
  readonly written: (readonly string[])[];
  stored: WitnessReport | undefined;
  failsWith: ApiReason | undefined;
} {
  const clock = new ManualClock();
  const logger = new RecordingLogger();
  const own = { identity: 'this', place: 'here' };
  const reports = {
    own,
    read: () => Promise.resolve(stand.stored),
    write: (unanswered: WitnessReport['unanswered']) => {
      if (stand.failsWith !== undefined) throw new ApiError({ reason: stand.failsWith, message: 'no' });
      stand.written.push([...unanswered.keys()]);
      stand.stored = { ...own, reportedAtMs: clock.nowMs(), unanswered };
      return Promise.resolve();
    },
  };
  const stand: ReturnType<typeof aReporter> = {
    reporter: new WitnessReporter({ reports, clock, logger }),
    clock,
    logger,
    written: [],
    stored: undefined,
    failsWith: undefined,
  };
  return stand;
}

test('nothing is written while every node answers; a change is, and its end; the same again after 10 s', async () => {
  const { reporter, clock, written } = aReporter();
  const report = async (...nodes: readonly string[]): Promise<void> => {
    await reporter.report(heartbeats(...nodes), signal);
    await clock.advance(1_000);
  };
  await report();
  assert.deepEqual(written, []);
  await report('a');
  await report('a');
  await report('a', 'b');
  assert.deepEqual(written, [['a'], ['a', 'b']]);
  for (let seconds = 0; seconds < 11; seconds += 1) await report('a', 'b');
  assert.equal(written.length, 3);
  await report();
  await report();
  assert.deepEqual(written.slice(3), [[]]);
});

test('a failure is tried again after 5 s, and logged once; one that another standby caused is not', async () => {
  const stand = aReporter();
  const { reporter, clock, logger, written } = stand;
  stand.failsWith = 'forbidden';
  for (let seconds = 0; seconds < 12; seconds += 1) {
    await reporter.report(heartbeats('a'), signal);
    await clock.advance(1_000);
  }
  assert.equal(logger.lines.filter(({ message }) => message === 'failed to report nodes that do not answer').length, 1);
  stand.failsWith = 'already-exists';
  await clock.advance(5_000);
  await reporter.report(heartbeats('a'), signal);
  stand.failsWith = undefined;
  await clock.advance(1_000);
  await reporter.report(heartbeats('a'), signal);
  assert.deepEqual(written, [['a']]);
  assert.equal(logger.lines.length, 1);
});
