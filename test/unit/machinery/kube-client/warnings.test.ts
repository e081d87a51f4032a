import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  HttpWarnings,
  parseWarnings,
  warningLinesPerMinute,
  warningsWaitingMax,
} from '../../../../src/machinery/kube-client/warnings.ts';
import { RecordingLogger } from '../../../support/fakes.ts';
import { until } from '../../../support/until.ts';

describe('warnings of the API server', () => {
  test('are parsed as in RFC 7234', () => {
    assert.deepEqual(parseWarnings(undefined), []);
    assert.deepEqual(parseWarnings('299 - "v1beta1 is deprecated"'), ['v1beta1 is deprecated']);
    assert.deepEqual(parseWarnings('299 - "one, \\"two\\"", 299 - "three"'), ['one, "two"', 'three']);
    assert.deepEqual(parseWarnings(['299 - "a"', '299 - "b" "Sat, 21 Nov 2026 10:00:00 GMT"']), ['a', 'b']);
    assert.deepEqual(parseWarnings('199 - "another code"'), []);
    assert.deepEqual(parseWarnings('299 - "unterminated'), []);
  });

  const texts = (logger: RecordingLogger): readonly unknown[] => logger.lines.map(({ fields }) => fields['warning']);

  test('are logged once per text', async () => {
    const logger = new RecordingLogger();
    const warnings = new HttpWarnings(logger);
    for (let times = 0; times < 3; times += 1) warnings.note(['299 - "a"', '299 - "b"']);
    await until(() => logger.lines.length === 2);
    assert.deepEqual(texts(logger), ['a', 'b']);
    await warnings.close();
  });

  test('are logged at a bounded rate, and dropped ones may be logged when they are received again', async () => {
    const logger = new RecordingLogger();
    const warnings = new HttpWarnings(logger);
    for (let made = 0; made < 2 * warningsWaitingMax; made += 1) warnings.note(`299 - "made up ${made}"`);
    assert.equal(warnings.remembered, warningsWaitingMax);
    await until(() => logger.lines.length === warningLinesPerMinute);
    // A line leaves the queue shortly after it was logged.
    await until(() => {
      for (let made = 0; made < 2 * warningsWaitingMax; made += 1) warnings.note(`299 - "made up ${made}"`);
      return warnings.remembered === warningsWaitingMax + warningLinesPerMinute;
    });
    assert.equal(logger.lines.length, warningLinesPerMinute);
    await warnings.close();
    assert.equal(logger.lines.length, warningLinesPerMinute, 'queued lines are dropped');
  });

  test('leave no timer and no queued line after close', async () => {
    const logger = new RecordingLogger();
    const warnings = new HttpWarnings(logger);
    for (let made = 0; made < warningsWaitingMax; made += 1) warnings.note(`299 - "made up ${made}"`);
    await warnings.close();
    assert.ok(logger.lines.length <= warningLinesPerMinute);
  });
});
