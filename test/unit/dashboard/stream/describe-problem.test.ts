import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeProblem, estimateRetryMs, parseProblem } from '../../../../src/dashboard/stream/describe-problem.ts';

test('known statuses are explained, others are named', () => {
  const text = (status: number): string => describeProblem({ status, message: '' });
  assert.match(text(0), /^The server does not answer/u);
  assert.match(text(401), /kubectl node-lifecycle dashboard/u);
  assert.match(text(403), /ClusterRole/u);
  assert.match(text(503), /further dashboard/u);
  assert.equal(text(418), 'The server answered with HTTP status 418.');
});

test('the message of the server is added', () => {
  assert.match(
    describeProblem({ status: 404, message: 'node "x" is not known' }),
    /It reports: node "x" is not known\.$/u,
  );
});

test('the message is that of the JSON error, or else the beginning of the body', () => {
  assert.deepEqual(parseProblem(403, '{"error":{"code":403,"message":"no"}}'), { status: 403, message: 'no' });
  for (const body of ['null', '{}', '{"error":{"message":1}}', '  <h1>no</h1> '])
    assert.deepEqual(parseProblem(502, body), { status: 502, message: body.trim() });
  assert.equal(parseProblem(502, 'x'.repeat(1_000)).message.length, 300);
});

test('attempts become rarer, at most one in 5 s', () => {
  assert.deepEqual(
    [1, 2, 3, 4, 50].map((failures) => estimateRetryMs(failures, null)),
    [500, 1_000, 2_000, 5_000, 5_000],
  );
});

test('Retry-After is respected within bounds; an unreadable one is ignored', () => {
  assert.deepEqual(
    ['7', '0', '9999'].map((header) => estimateRetryMs(1, header)),
    [7_000, 500, 60_000],
  );
  assert.deepEqual(
    ['', 'soon', '-1'].map((header) => estimateRetryMs(2, header)),
    [1_000, 1_000, 1_000],
  );
});
