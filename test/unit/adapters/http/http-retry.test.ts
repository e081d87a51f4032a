import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { errorFromFailure, errorFromResponse, parseRetryAfter } from '../../../../src/adapters/http-errors.ts';
import { retryAfterMsMax, retryWaitMs } from '../../../../src/adapters/http-retry.ts';
import { ApiError } from '../../../../src/api/api-error.ts';

const wallMs = Date.parse('2026-01-02T03:04:05Z');
const refused = (code: number, retryAfterMs?: number): ApiError =>
  new ApiError({ reason: 'unavailable', code, message: 'refused', retryAfterMs });

describe('Retry-After', () => {
  test('is seconds or a date', () => {
    assert.equal(parseRetryAfter('7', wallMs), 7_000);
    assert.equal(parseRetryAfter(' 0 ', wallMs), 0);
    assert.equal(parseRetryAfter('Fri, 02 Jan 2026 03:04:15 GMT', wallMs), 10_000);
    assert.equal(parseRetryAfter('Fri, 02 Jan 2026 03:04:00 GMT', wallMs), 0);
    assert.equal(parseRetryAfter('soon', wallMs), undefined);
    assert.equal(parseRetryAfter(undefined, wallMs), undefined);
  });
});

describe('a request is sent again', () => {
  const exactly = { next: () => 0 };
  const base = { method: 'PATCH', lost: false, renewable: false, retries: 0, retriesMax: 10, random: exactly };

  test('when the server said when, up to a minute later', () => {
    assert.equal(retryWaitMs({ ...base, error: refused(429, 3_000) }), 3_000);
    assert.equal(retryWaitMs({ ...base, error: refused(503, 0) }), 0);
    assert.equal(retryWaitMs({ ...base, error: refused(500, 3_600_000) }), retryAfterMsMax);
  });

  test('a fifth later at most, so that not all come back together', () => {
    const latest = { next: () => 1 };
    assert.equal(retryWaitMs({ ...base, random: latest, error: refused(429, 10_000) }), 12_000);
    assert.equal(retryWaitMs({ ...base, random: latest, error: refused(503, 3_600_000) }), 1.2 * retryAfterMsMax);
  });

  test('at once when its credentials are not the last ones, but only a read', () => {
    assert.equal(retryWaitMs({ ...base, method: 'GET', renewable: true, error: refused(401) }), 0);
    assert.equal(retryWaitMs({ ...base, renewable: true, error: refused(401) }), undefined);
    assert.equal(retryWaitMs({ ...base, method: 'GET', error: refused(401) }), undefined);
  });

  test('not when it did not say, not for another code, not for ever', () => {
    assert.equal(retryWaitMs({ ...base, error: refused(429) }), undefined);
    assert.equal(retryWaitMs({ ...base, error: refused(503) }), undefined);
    assert.equal(retryWaitMs({ ...base, error: refused(409, 1_000) }), undefined);
    assert.equal(retryWaitMs({ ...base, retries: 10, error: refused(429, 0) }), undefined);
    assert.equal(retryWaitMs({ ...base, retriesMax: 0, error: refused(429, 0) }), undefined);
  });

  test('after a lost connection only if it is a read', () => {
    assert.equal(retryWaitMs({ ...base, method: 'GET', lost: true, error: refused(0) }), 1_000);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      assert.equal(retryWaitMs({ ...base, method, lost: true, error: refused(0) }), undefined);
    }
    const aborted = new ApiError({ reason: 'aborted', message: 'given up' });
    assert.equal(retryWaitMs({ ...base, method: 'GET', lost: true, error: aborted }), undefined);
  });
});

describe('an error says', () => {
  const request = { method: 'PATCH', path: '/api/v1/nodes/n1' };
  const nothing = { error: new Error('boom'), aborted: false, overdue: false, unsent: false };

  test('what was asked and what the server answered', () => {
    const body = JSON.stringify({ kind: 'Status', reason: 'NotFound', message: 'nodes "n1" not found' });
    const error = errorFromResponse(request, { code: 404, headers: { 'retry-after': ['2'] }, body }, wallMs);
    assert.equal(error.message, 'PATCH /api/v1/nodes/n1: 404 nodes "n1" not found');
    assert.equal(error.reason, 'not-found');
    assert.equal(error.retryAfterMs, 2_000);
    assert.equal(error.status?.reason, 'NotFound');
  });

  test('what the server asks us to wait has a bound: a wrong clock makes hours of a date', () => {
    const inTenHours = { 'retry-after': 'Fri, 02 Jan 2026 13:04:05 GMT' };
    const error = errorFromResponse(request, { code: 503, headers: inTenHours, body: 'later' }, wallMs);
    assert.equal(error.retryAfterMs, retryAfterMsMax);
  });

  test('an answer that is no Status is judged by its code', () => {
    const error = errorFromResponse(request, { code: 429, headers: {}, body: 'Too many requests' }, wallMs);
    assert.equal(error.reason, 'too-many-requests');
    assert.equal(error.status, undefined);
    const other = errorFromResponse(request, { code: 500, headers: {}, body: '{"kind":"Pod"}' }, wallMs);
    assert.equal(other.status, undefined);
  });

  test('whether a write may have arrived', () => {
    const read = { ...request, method: 'GET' };
    assert.equal(errorFromFailure(request, nothing).reason, 'timeout');
    assert.equal(errorFromFailure(read, nothing).reason, 'unavailable');
    assert.equal(errorFromFailure(request, { ...nothing, unsent: true }).reason, 'unavailable');
    assert.equal(errorFromFailure(request, { ...nothing, overdue: true }).reason, 'timeout');
    assert.equal(errorFromFailure(read, { ...nothing, overdue: true }).reason, 'timeout');
    assert.equal(errorFromFailure(request, { ...nothing, aborted: true }).reason, 'aborted');
    assert.equal(errorFromFailure(request, nothing).cause, nothing.error);
  });
});
