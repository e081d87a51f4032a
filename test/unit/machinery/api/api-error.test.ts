import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, isObjectMissing, namesObject, readFailureOf } from '../../../../src/machinery/api/api-error.ts';
import type { Status } from '../../../../src/machinery/api/meta.ts';

function notFound(status?: unknown): ApiError {
  return new ApiError({ reason: 'not-found', message: 'not found', code: 404, status: status as Status });
}

test('an ApiError carries the object that its Status names', () => {
  const error = notFound({ kind: 'Status', details: { name: 'n1', kind: 'nodes', uid: 'u1' } });

  assert.equal(error.isStatus, true);
  assert.deepEqual(error.details, { name: 'n1', kind: 'nodes' });
  assert.equal(namesObject(error, 'nodes', 'n1'), true);
  assert.equal(namesObject(error, 'nodes', 'n2'), false);
  assert.equal(namesObject(error, 'pods', 'n1'), false);
});

test('an ApiError without a Status names no object', () => {
  const error = notFound();

  assert.deepEqual([error.isStatus, error.details], [false, undefined]);
  assert.equal(namesObject(error, 'nodes', 'n1'), false);
});

test('a Status without details names no object', () => {
  assert.equal(notFound({ kind: 'Status', reason: 'NotFound' }).isStatus, true);
  assert.equal(notFound({ kind: 'Status', reason: 'NotFound' }).details, undefined);
});

test('details of another type are treated as absent', () => {
  for (const details of ['n1', null, 7, { name: 7, kind: {} }, { causes: 'x' }]) {
    assert.equal(notFound({ kind: 'Status', details }).details, undefined);
  }
});

test('the kind and the group must match if the Status has them', () => {
  // The UID precondition of a DELETE fails with the kind instead of the resource name.
  assert.equal(namesObject(notFound({ details: { name: 'p1', kind: 'Pod' } }), 'pods', 'p1'), true);
  assert.equal(namesObject(notFound({ details: { name: 'p1' } }), 'pods', 'p1'), true);
  assert.equal(namesObject(notFound({ details: { name: 'p1', kind: 'namespaces' } }), 'pods', 'p1'), false);
  const other = notFound({ details: { name: 'p1', kind: 'pods', group: 'metrics.k8s.io' } });
  assert.equal(namesObject(other, 'pods', 'p1'), false);
});

test('an object is missing only if a Status of the API server reports NotFound and names it', () => {
  const missing = (details: unknown): ApiError => notFound({ kind: 'Status', reason: 'NotFound', details });
  assert.equal(isObjectMissing(missing({ name: 'n1', kind: 'nodes' }), 'nodes', 'n1'), true);
  assert.equal(isObjectMissing(missing({ name: 'n2', kind: 'nodes' }), 'nodes', 'n1'), false);
  assert.equal(isObjectMissing(missing({ name: 'n1', kind: 'secrets' }), 'nodes', 'n1'), false);
  assert.equal(isObjectMissing(notFound(), 'nodes', 'n1'), false);
  const conflict = notFound({ kind: 'Status', reason: 'Conflict', details: { name: 'n1', kind: 'nodes' } });
  assert.equal(isObjectMissing(conflict, 'nodes', 'n1'), false);
  const lease = { name: 'n1', kind: 'leases', group: 'coordination.k8s.io' };
  assert.equal(isObjectMissing(missing(lease), 'leases', 'n1'), true);
});

test('readFailureOf classifies a failed live read as gone, not permitted or unreadable, and rethrows other errors', () => {
  const missing = notFound({ kind: 'Status', reason: 'NotFound', details: { name: 'n1', kind: 'nodes' } });
  assert.equal(readFailureOf(missing, 'nodes', 'n1'), 'gone');
  assert.equal(readFailureOf(notFound(), 'nodes', 'n1'), 'unreadable');
  for (const reason of ['forbidden', 'unauthorized'] as const)
    assert.equal(readFailureOf(new ApiError({ reason, message: reason }), 'nodes', 'n1'), 'not-permitted');
  assert.throws(() => readFailureOf(new TypeError('broken'), 'nodes', 'n1'), TypeError);
});
