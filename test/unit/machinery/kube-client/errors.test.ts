import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorFromResponse } from '../../../../src/machinery/kube-client/errors.ts';

const request = { method: 'DELETE', path: '/api/v1/namespaces/default/pods/p1' };

function answered(code: number, body: unknown, retryAfter?: string): ReturnType<typeof errorFromResponse> {
  const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
  return errorFromResponse(request, { code, headers, body: typeof body === 'string' ? body : JSON.stringify(body) }, 0);
}

test('a 404 of the API server names the object, a 404 of a proxy does not', () => {
  const details = { name: 'p1', kind: 'pods' };
  const confirmed = answered(404, { kind: 'Status', reason: 'NotFound', code: 404, details });
  const proxied = answered(404, '404 page not found\n');

  assert.deepEqual([confirmed.reason, confirmed.isStatus, confirmed.details], ['not-found', true, details]);
  assert.deepEqual([proxied.reason, proxied.isStatus, proxied.details], ['not-found', false, undefined]);
});

test('the retry delay is read from Retry-After, else from the Status', () => {
  const status = { kind: 'Status', reason: 'TooManyRequests', details: { retryAfterSeconds: 7 } };

  assert.equal(answered(429, status).retryAfterMs, 7_000);
  assert.equal(answered(429, status, '3').retryAfterMs, 3_000);
  assert.equal(answered(429, { kind: 'Status' }).retryAfterMs, undefined);
});

test('no delay is longer than a minute, and one that is not a positive number counts as absent', () => {
  for (const [retryAfterSeconds, expected] of [
    [3_600, 60_000],
    [0, undefined],
    [-1, undefined],
    ['9', undefined],
  ]) {
    assert.equal(answered(503, { kind: 'Status', details: { retryAfterSeconds } }).retryAfterMs, expected);
  }
});

test('a Status with a malformed field is classified by the HTTP code', () => {
  const error = answered(404, { kind: 'Status', reason: 7, message: {} });

  assert.deepEqual([error.reason, error.isStatus], ['not-found', false]);
});

test('a message of an admission webhook is kept to a limit, in the error and in its Status', () => {
  const error = answered(403, { kind: 'Status', reason: 'Forbidden', message: 'x'.repeat(400_000) });
  assert.equal(error.status?.message, `${'x'.repeat(1_000)}…`);
  assert.ok(error.message.length < 1_100, `${error.message.length} characters`);
  assert.ok(answered(502, 'y'.repeat(400_000)).message.length < 1_100);
});
