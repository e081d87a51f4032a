import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { errorFromFailure, errorFromResponse, parseRetryAfter } from '../../../../src/machinery/kube-client/errors.ts';
import { readWaitMsMax, retryAfterMsMax, retryWaitMs } from '../../../../src/machinery/supervision/request-retry.ts';
import { ApiError } from '../../../../src/machinery/api/api-error.ts';

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

describe('a read is retried', () => {
  const exactly = { next: () => 0 };
  const limits = { retries: 0, retriesMax: 10, waitMsLeft: readWaitMsMax };
  const base = { method: 'GET', lost: false, renewable: false, ...limits, random: exactly };

  test('when the server sent Retry-After', () => {
    assert.equal(retryWaitMs({ ...base, error: refused(429, 3_000) }), 3_000);
    assert.equal(retryWaitMs({ ...base, error: refused(503, 0) }), 0);
  });

  test('with a jitter of up to a fifth, so that clients do not retry together', () => {
    const latest = { next: () => 1 };
    assert.equal(retryWaitMs({ ...base, random: latest, error: refused(429, 10_000) }), 12_000);
  });

  test('not if the delay exceeds the rest of the minute', () => {
    assert.equal(retryWaitMs({ ...base, error: refused(503, 59_000) }), 59_000);
    assert.equal(retryWaitMs({ ...base, error: refused(503, retryAfterMsMax) }), undefined);
    assert.equal(retryWaitMs({ ...base, waitMsLeft: 5_000, error: refused(503, 5_000) }), undefined);
    assert.equal(retryWaitMs({ ...base, waitMsLeft: 0, error: refused(503, 0) }), undefined);
  });

  test('at once when other credentials may be accepted', () => {
    assert.equal(retryWaitMs({ ...base, renewable: true, error: refused(401) }), 0);
    assert.equal(retryWaitMs({ ...base, waitMsLeft: 0, renewable: true, error: refused(401) }), 0);
    assert.equal(retryWaitMs({ ...base, error: refused(401) }), undefined);
  });

  test('not without Retry-After, not for another code, not without limit', () => {
    assert.equal(retryWaitMs({ ...base, error: refused(429) }), undefined);
    assert.equal(retryWaitMs({ ...base, error: refused(503) }), undefined);
    assert.equal(retryWaitMs({ ...base, error: refused(409, 1_000) }), undefined);
    assert.equal(retryWaitMs({ ...base, retries: 10, error: refused(429, 0) }), undefined);
    assert.equal(retryWaitMs({ ...base, retriesMax: 0, error: refused(429, 0) }), undefined);
  });

  test('after a lost connection: a second later, or once and at once if it may not wait', () => {
    assert.equal(retryWaitMs({ ...base, lost: true, error: refused(0) }), 1_000);
    assert.equal(retryWaitMs({ ...base, waitMsLeft: 0, lost: true, error: refused(0) }), 0);
    assert.equal(retryWaitMs({ ...base, waitMsLeft: 0, retries: 1, lost: true, error: refused(0) }), undefined);
    const aborted = new ApiError({ reason: 'aborted', message: 'given up' });
    assert.equal(retryWaitMs({ ...base, lost: true, error: aborted }), undefined);
  });

  test('never for a write, for any reason', () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const write = { ...base, method };
      assert.equal(retryWaitMs({ ...write, error: refused(429, 0) }), undefined, method);
      assert.equal(retryWaitMs({ ...write, error: refused(503, 1_000) }), undefined, method);
      assert.equal(retryWaitMs({ ...write, lost: true, error: refused(0) }), undefined, method);
      assert.equal(retryWaitMs({ ...write, renewable: true, error: refused(401) }), undefined, method);
    }
  });
});

describe('an error contains', () => {
  const request = { method: 'PATCH', path: '/api/v1/nodes/n1' };
  const nothing = { error: new Error('boom'), aborted: false, overdue: false, unsent: false };

  test('the request and the response', () => {
    const body = JSON.stringify({ kind: 'Status', reason: 'NotFound', message: 'nodes "n1" not found' });
    const error = errorFromResponse(request, { code: 404, headers: { 'retry-after': ['2'] }, body }, wallMs);
    assert.equal(error.message, 'PATCH /api/v1/nodes/n1: 404 nodes "n1" not found');
    assert.deepEqual([error.reason, error.retryAfterMs, error.status?.reason], ['not-found', 2_000, 'NotFound']);
  });

  test('Retry-After is limited: with a wrong clock a date can be hours away', () => {
    const inTenHours = { 'retry-after': 'Fri, 02 Jan 2026 13:04:05 GMT' };
    const error = errorFromResponse(request, { code: 503, headers: inTenHours, body: 'later' }, wallMs);
    assert.equal(error.retryAfterMs, retryAfterMsMax);
  });

  test('a response without a Status is classified by its code', () => {
    const error = errorFromResponse(request, { code: 429, headers: {}, body: 'Too many requests' }, wallMs);
    assert.deepEqual([error.reason, error.status], ['too-many-requests', undefined]);
    const other = errorFromResponse(request, { code: 500, headers: {}, body: '{"kind":"Pod"}' }, wallMs);
    assert.equal(other.status, undefined);
  });

  test('whether the write may have been carried out', () => {
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
