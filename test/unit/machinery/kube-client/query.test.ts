import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatGoSeconds, formatQuery, listQuery, watchQuery } from '../../../../src/machinery/kube-client/query.ts';

describe('queries', () => {
  test('are sorted and encoded, without unset parameters', () => {
    assert.equal(formatQuery({ b: 'x y', a: '=', c: undefined, d: '', e: false, f: 0 }), '?a=%3D&b=x+y&e=false&f=0');
    assert.equal(formatQuery({}), '');
  });

  test('of informers equal those of client-go', () => {
    assert.equal(
      watchQuery({
        allowWatchBookmarks: true,
        resourceVersionMatch: 'NotOlderThan',
        sendInitialEvents: true,
        timeoutSeconds: 590,
      }),
      '?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeout=9m50s&timeoutSeconds=590&watch=true',
    );
    const actual = watchQuery({ allowWatchBookmarks: true, resourceVersion: '7', timeoutSeconds: 307 });
    assert.equal(actual, '?allowWatchBookmarks=true&resourceVersion=7&timeout=5m7s&timeoutSeconds=307&watch=true');
    assert.equal(listQuery({ limit: 500, namespace: 'is in the path' }), '?limit=500');
  });

  test('format durations as Go does', () => {
    const written = [0, 30, 60, 300, 449, 3_600, 3_725].map(formatGoSeconds);
    assert.deepEqual(written, ['0s', '30s', '1m0s', '5m0s', '7m29s', '1h0m0s', '1h2m5s']);
  });
});
