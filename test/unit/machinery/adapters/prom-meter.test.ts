import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PromMeter } from '../../../../src/machinery/adapters/prom-meter.ts';
import { announceBuild, buildInfo } from '../../../../src/cli/controller/metrics.ts';
import type { MetricDefinition } from '../../../../src/machinery/ports/meter.ts';

const evictions: MetricDefinition = {
  name: 'node_collector_evictions_total',
  kind: 'counter',
  help: 'Nodes tainted.',
  stability: 'STABLE',
  labels: ['zone'],
};
const deletions: MetricDefinition = { name: 'pod_deletions_total', kind: 'counter', help: 'Pods.', stability: 'ALPHA' };
const size: MetricDefinition = {
  name: 'zone_size',
  kind: 'gauge',
  help: 'Nodes.',
  stability: 'ALPHA',
  labels: ['zone'],
};
const duration: MetricDefinition = {
  name: 'pass_duration_seconds',
  kind: 'histogram',
  help: 'One pass.',
  stability: 'ALPHA',
  buckets: [0.01, 0.04],
};

async function linesOf(meter: PromMeter): Promise<readonly string[]> {
  return (await meter.text()).split('\n').filter((line) => line !== '');
}

test('declared metrics start at zero, with their stability in the help text', async () => {
  const meter = new PromMeter();
  meter.declare([deletions, duration, evictions]);
  assert.deepEqual(await linesOf(meter), [
    '# HELP pod_deletions_total [ALPHA] Pods.',
    '# TYPE pod_deletions_total counter',
    'pod_deletions_total 0',
    '# HELP pass_duration_seconds [ALPHA] One pass.',
    '# TYPE pass_duration_seconds histogram',
    'pass_duration_seconds_bucket{le="0.01"} 0',
    'pass_duration_seconds_bucket{le="0.04"} 0',
    'pass_duration_seconds_bucket{le="+Inf"} 0',
    'pass_duration_seconds_sum 0',
    'pass_duration_seconds_count 0',
    '# HELP node_collector_evictions_total [STABLE] Nodes tainted.',
    '# TYPE node_collector_evictions_total counter',
  ]);
});

test('counts, sets, observes and forgets', async () => {
  const meter = new PromMeter();
  meter.add(evictions, 0, { zone: 'b' });
  meter.add(evictions, 2, { zone: 'a' });
  meter.add(evictions, 1, { zone: 'a' });
  meter.set(size, 7, { zone: 'a' });
  meter.add(size, -2, { zone: 'a' });
  meter.set(size, 3, { zone: 'gone' });
  meter.forget(size, { zone: 'gone' });
  meter.observe(duration, 0.02);
  const lines = await linesOf(meter);
  assert.ok(lines.includes('node_collector_evictions_total{zone="a"} 3'));
  assert.ok(lines.includes('node_collector_evictions_total{zone="b"} 0'));
  assert.ok(lines.includes('zone_size{zone="a"} 5'));
  assert.ok(!lines.some((line) => line.includes('gone')));
  assert.ok(lines.includes('pass_duration_seconds_bucket{le="0.01"} 0'));
  assert.ok(lines.includes('pass_duration_seconds_bucket{le="0.04"} 1'));
});

test('onRead callbacks run before each scrape', async () => {
  const meter = new PromMeter();
  let nodes = 3;
  meter.onRead(() => meter.set(size, nodes, { zone: 'a' }));
  assert.ok((await linesOf(meter)).includes('zone_size{zone="a"} 3'));
  nodes = 4;
  assert.ok((await linesOf(meter)).includes('zone_size{zone="a"} 4'));
});

test('undeclared or missing labels throw and record nothing', async () => {
  const meter = new PromMeter();
  meter.declare([evictions]);
  assert.throws(() => meter.add(evictions, 1, { zone: 'a', node: 'n' }), RangeError);
  assert.throws(() => meter.add(evictions, 1, { node: 'n' }), RangeError);
  assert.throws(() => meter.add(evictions, 1), RangeError);
  assert.throws(() => meter.add(deletions, 1, { zone: 'a' }), RangeError);
  assert.throws(() => meter.forget(evictions, { node: 'n' }), RangeError);
  assert.ok(!(await meter.text()).includes('node_collector_evictions_total{'));
});

test('each kind supports only its own operations', () => {
  const meter = new PromMeter();
  assert.throws(() => meter.set(deletions, 1), RangeError);
  assert.throws(() => meter.observe(deletions, 1), RangeError);
  assert.throws(() => meter.add(duration, 1), RangeError);
  assert.throws(() => meter.set(duration, 1), RangeError);
  assert.throws(() => meter.observe(size, 1, { zone: 'a' }), RangeError);
  assert.throws(() => meter.add(deletions, -1));
});

test('two definitions of one name are rejected', () => {
  const meter = new PromMeter();
  meter.declare([deletions, deletions]);
  assert.throws(() => meter.declare([{ ...deletions, help: 'Other.' }]), RangeError);
});

test('two meters share nothing', async () => {
  const one = new PromMeter();
  const other = new PromMeter();
  one.add(deletions, 5);
  other.declare([deletions]);
  assert.ok((await linesOf(other)).includes('pod_deletions_total 0'));
});

test('build information is exported', async () => {
  const meter = new PromMeter();
  meter.declare([buildInfo]);
  announceBuild(meter, { version: '1.2.3', nodeVersion: 'v26.0.0' });
  assert.ok((await linesOf(meter)).includes(`${buildInfo.name}{version="1.2.3",node_version="v26.0.0"} 1`));
});
