import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestCounter } from '../../../../src/cli/controller/dashboard.ts';
import { restClientRequests, restClientRetries } from '../../../../src/machinery/kube-client/metrics.ts';
import { RecordingMeter } from '../../../support/fakes.ts';

test('requests are counted, and every metric is recorded', () => {
  const meter = new RecordingMeter();
  const counter = new RequestCounter(meter);
  counter.add(restClientRequests, 2, { code: '200', method: 'GET', host: 'h' });
  counter.add(restClientRequests, 1, { code: '409', method: 'PATCH', host: 'h' });
  counter.add(restClientRetries, 5, { code: '429', verb: 'get', host: 'h' });
  assert.equal(counter.total, 3);
  assert.equal(meter.series.size, 3);
});
