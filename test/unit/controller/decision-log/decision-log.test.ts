import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DecisionLog } from '../../../../src/controller/decision-log/decision-log.ts';
import { RecordingLogger, RecordingMeter } from '../../../support/fakes.ts';

test('an exception of a listener reaches neither the caller nor other listeners, and is logged', () => {
  const logger = new RecordingLogger();
  const log = new DecisionLog(logger, new RecordingMeter(), () => 0);
  const seen: string[] = [];
  log.onDecision(() => {
    throw new Error('broken listener');
  });
  log.onDecision(({ decision }) => seen.push(decision.kind));
  log.note({ kind: 'node-removed', node: 'n1' });
  assert.deepEqual(seen, ['node-removed']);
  assert.equal(log.of('n1').length, 1);
  const [line] = logger.at('error');
  assert.equal(line?.message, 'listener of decisions failed');
});
