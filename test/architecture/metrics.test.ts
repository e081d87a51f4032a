// Every defined metric is exposed by a command, and therefore documented.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { controllerProcessMetrics } from '../../src/cli/controller/metrics.ts';
import { fleetProcessMetrics } from '../../src/cli/simulation/hollow-nodes/fleet-process.ts';
import type { MetricDefinition } from '../../src/machinery/ports/meter.ts';

const root = join(import.meta.dirname, '..', '..');
const exposed = [...controllerProcessMetrics, ...fleetProcessMetrics];

/** Help texts are sent with every scrape and shown in one line; label values are explained in docs/monitoring.md. */
const helpMax = 250;

function isDefinition(value: unknown): value is MetricDefinition {
  return typeof value === 'object' && value !== null && 'help' in value && 'stability' in value && 'kind' in value;
}

test('every defined metric is exposed by a command', async () => {
  const known = new Set(exposed);
  const files = globSync('src/**/*.ts', { cwd: root }).filter((path) =>
    readFileSync(join(root, path), 'utf8').includes('machinery/ports/meter.ts'),
  );
  let found = 0;
  for (const path of files) {
    const module = (await import(join(root, path))) as Readonly<Record<string, unknown>>;
    for (const definition of Object.values(module).filter(isDefinition)) {
      found += 1;
      assert.ok(known.has(definition), `${path}: ${definition.name} is not in the list of a command`);
    }
  }
  assert.ok(found > 50, `${found} definitions`);
});

test('metric names and labels follow the conventions of Prometheus and Kubernetes', () => {
  for (const { name, kind, labels = [], buckets, help } of exposed) {
    assert.match(name, /^[a-z][a-z0-9_]*$/);
    assert.equal(name.endsWith('_total'), kind === 'counter', `${name} is a ${kind}`);
    assert.doesNotMatch(name, /_(milliseconds|ms|minutes|percent)$/, 'base units');
    assert.equal(buckets !== undefined, kind === 'histogram', `${name}: buckets`);
    assert.deepEqual(
      buckets,
      buckets?.toSorted((a, b) => a - b),
      `${name}: buckets ascend`,
    );
    for (const label of labels) assert.ok(!['node', 'pod', 'uid'].includes(label), `${name}: ${label} is not bounded`);
    assert.ok(help.endsWith('.'), `${name}: ${help}`);
    assert.ok(help.length <= helpMax, `${name}: ${help.length} characters, more than ${helpMax}`);
  }
});

test('the buckets equal those of kube-controller-manager', () => {
  const bucketsOf = (name: string): readonly number[] | undefined =>
    controllerProcessMetrics.find((metric) => metric.name === name)?.buckets;
  const powers = (first: number): readonly number[] =>
    Array.from({ length: 8 }, (_, power) => Number((first * 4 ** power).toFixed(3)));
  assert.deepEqual(bucketsOf('node_collector_update_node_health_duration_seconds'), powers(0.001));
  assert.deepEqual(bucketsOf('node_collector_update_all_nodes_health_duration_seconds'), powers(0.01));
  const actual = bucketsOf('taint_eviction_controller_pod_deletion_duration_seconds');
  assert.deepEqual(actual, [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 60, 120, 180, 240]);
});
