import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HttpWarnings, parseWarnings, warningsMax } from '../../../../src/adapters/http-warnings.ts';
import { KeepingLogger } from '../../../support/quiet.ts';

describe('warnings of the API server', () => {
  test('are read as RFC 7234 writes them', () => {
    assert.deepEqual(parseWarnings(undefined), []);
    assert.deepEqual(parseWarnings('299 - "v1beta1 is deprecated"'), ['v1beta1 is deprecated']);
    assert.deepEqual(parseWarnings('299 - "one, \\"two\\"", 299 - "three"'), ['one, "two"', 'three']);
    assert.deepEqual(parseWarnings(['299 - "a"', '299 - "b" "Sat, 21 Nov 2026 10:00:00 GMT"']), ['a', 'b']);
    assert.deepEqual(parseWarnings('199 - "not for us"'), []);
    assert.deepEqual(parseWarnings('299 - "never ends'), []);
  });

  test('are said once for each text, and not without end', () => {
    const logger = new KeepingLogger();
    const warnings = new HttpWarnings(logger);
    for (let times = 0; times < 3; times += 1) warnings.note(['299 - "a"', '299 - "b"']);
    assert.deepEqual(
      logger.lines.map(({ fields }) => fields['warning']),
      ['a', 'b'],
    );
    for (let made = 0; made < 2 * warningsMax; made += 1) warnings.note(`299 - "made up ${made}"`);
    assert.equal(logger.lines.length, warningsMax);
  });
});
