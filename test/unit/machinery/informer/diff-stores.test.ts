import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { isOlder } from '../../../../src/machinery/api/resource-version.ts';
import { isStale } from '../../../../src/machinery/informer/diff-stores.ts';

describe('versions', () => {
  test('compare as numbers of any length', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 80n }), fc.bigInt({ min: 0n, max: 2n ** 80n }), (a, b) => {
        assert.equal(isOlder(a.toString(), b.toString()), a < b);
      }),
    );
  });

  test('ignore leading zeros', () => {
    assert.equal(isOlder('009', '10'), true);
    assert.equal(isOlder('010', '9'), false);
    assert.equal(isOlder('0', '00'), false);
  });

  test('that are not numbers cannot be compared', () => {
    for (const [a, b] of [
      ['', '1'],
      ['1', ''],
      ['v1', 'v2'],
      ['1.5', '2'],
    ] as const) {
      assert.equal(isOlder(a, b), false);
    }
  });
});

describe('an event', () => {
  const arrival = (type: 'ADDED' | 'DELETED', uid: string, resourceVersion: string) => ({ type, uid, resourceVersion });

  test('about an object that is not in the store is stale if the stream is past its version', () => {
    assert.equal(isStale(arrival('ADDED', 'u', '5'), undefined, '9'), true);
    assert.equal(isStale(arrival('ADDED', 'u', '9'), undefined, '9'), false);
    assert.equal(isStale(arrival('ADDED', 'u', '10'), undefined, '9'), false);
    assert.equal(isStale(arrival('ADDED', 'u', '5'), undefined, ''), false);
  });

  test('is stale if the store has the same or a newer state of that name', () => {
    const stored = { uid: 'u', resourceVersion: '7' };
    assert.equal(isStale(arrival('ADDED', 'u', '7'), stored, '9'), true);
    assert.equal(isStale(arrival('ADDED', 'u', '6'), stored, '9'), true);
    assert.equal(isStale(arrival('ADDED', 'before', '6'), stored, '9'), true);
    assert.equal(isStale(arrival('ADDED', 'u', '8'), stored, '9'), false);
    assert.equal(isStale(arrival('DELETED', 'before', '6'), stored, '9'), true);
  });

  test('that deletes the stored object is never stale', () => {
    assert.equal(isStale(arrival('DELETED', 'u', '1'), { uid: 'u', resourceVersion: '7' }, '9'), false);
  });

  test('a repeated deletion is, where an object may have left the selection of the stream and come back', () => {
    const stored = { uid: 'u', resourceVersion: '7' };
    assert.equal(isStale(arrival('DELETED', 'u', '6'), stored, '9', true), true);
    assert.equal(isStale(arrival('DELETED', 'u', '8'), stored, '9', true), false);
  });
});
