import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byVersion } from '../../support/by-version.ts';

test('an expectation is that of the newest row that is not newer than the version under test', () => {
  const rows = { '1.34': 'off', '1.36': 'on' };
  assert.deepEqual(
    (['1.34', '1.35', '1.36', '1.37'] as const).map((version) => byVersion(rows, version)),
    ['off', 'off', 'on', 'on'],
  );
});

test('a row with the value undefined is a row', () => {
  assert.equal(byVersion<string | undefined>({ '1.34': 'off', '1.35': undefined }, '1.37'), undefined);
});
