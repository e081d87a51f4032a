import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LimitWaits } from '../../../simulator/drill/drill-run.ts';
import type { RequestLine } from '../../../../src/simulator/network/network.ts';

function aLine(client: string): RequestLine {
  return { by: { process: 'replica-1', client }, verb: 'patch', resource: 'pods', name: 'p' };
}

function waitsOf(timesMs: readonly number[], client = 'main'): number {
  const waits = new LimitWaits({ qps: 5, burst: 2 });
  for (const atMs of timesMs) waits.onSent(aLine(client), atMs);
  return waits.longestMs;
}

test('requests within the burst did not wait', () => {
  assert.equal(waitsOf([0, 0, 400, 400]), 0);
});

test('a request that took its token as soon as there was one may have waited since the burst was used up', () => {
  assert.equal(waitsOf([0, 0, 200, 400, 600, 2_000, 2_200]), 600);
});

test('only the main client is limited', () => {
  assert.equal(waitsOf([0, 0, 200, 400, 600], 'events'), 0);
});
