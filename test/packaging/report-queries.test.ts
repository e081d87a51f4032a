// The queries of `nlc report` and of the document about it, evaluated by promtool: a series that begins with its first count.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { stringify } from 'yaml';
import { buildQueries } from '../../src/cli/report/build-queries.ts';
import { root, runTool } from '../../tools/manifests/render.ts';

const folder = mkdtempSync(join(tmpdir(), 'nlc-queries-'));
after(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'story.yaml');

const queries = buildQueries('job="nlc"', '3600s');
const fault = 'job="nlc", stage="unknown", cause="NodeFailure", policy="web"';

interface Case {
  readonly expr: string;
  /** By series; one value a minute. */
  readonly input: Readonly<Record<string, string>>;
  /** After two hours. */
  readonly wanted: readonly (readonly [labels: string, value: number])[];
}

/** The complaint of promtool; empty if the query has the wanted values. */
function differenceOf({ expr, input, wanted }: Case): string {
  const samples = wanted.map(([labels, value]) => ({ labels, value }));
  const story = {
    interval: '1m',
    input_series: Object.entries(input).map(([series, values]) => ({ series, values })),
    promql_expr_test: [{ expr, eval_time: '2h', exp_samples: samples }],
  };
  writeFileSync(file, stringify({ rule_files: [], tests: [story] }));
  const { code, stdout, stderr } = runTool('promtool', ['test', 'rules', file]);
  return code === 0 ? '' : stdout + stderr;
}

const faultsOf = (instance: string): string => `node_lifecycle_fault_seconds_count{${fault}, instance="${instance}"}`;
const faultsBy = '{stage="unknown", cause="NodeFailure", policy="web"}';

const faults: Readonly<Record<string, readonly [input: Readonly<Record<string, string>>, wanted: number]>> = {
  'the first of a leader, twelve between two scrapes': [{ [faultsOf('a')]: '_x90 12x30' }, 12],
  'at the last scrape': [{ [faultsOf('a')]: '_x119 12x1' }, 12],
  'of a leader that is gone': [{ [faultsOf('a')]: '_x90 12x9 stale _x20', [faultsOf('b')]: '_x105 1x15' }, 13],
  'before the time of the report': [{ [faultsOf('a')]: '_x10 12x110' }, 0],
  'before it and within it': [{ [faultsOf('a')]: '12x80 13x40' }, 1],
};

for (const [what, [input, wanted]] of Object.entries(faults)) {
  test(`faults: ${what}`, () => {
    const expr = `round(${queries.faults})`;
    assert.equal(differenceOf({ expr, input, wanted: [[faultsBy, wanted]] }), '');
  });
}

test('the time within which half of the first faults were Unknown', () => {
  const bucket = (le: string): string => `node_lifecycle_fault_seconds_bucket{${fault}, instance="a", le="${le}"}`;
  const input = { [bucket('40')]: '_x90 0x30', [bucket('50')]: '_x90 12x30', [bucket('+Inf')]: '_x90 12x30' };
  assert.equal(differenceOf({ expr: queries.median, input, wanted: [[faultsBy, 45]] }), '');
});

test('wrong detections: the first of a policy, and the first after 0', () => {
  const series = (policy: string): string =>
    `node_lifecycle_early_detections_total{job="nlc", instance="a", policy="${policy}", end="heartbeat"}`;
  const input = { [series('new')]: '_x90 1x30', [series('old')]: '0x90 1x30' };
  const wanted = ['new', 'old'].map((policy) => [`{policy="${policy}", end="heartbeat"}`, 1] as const);
  assert.equal(differenceOf({ expr: `round(${queries.detections})`, input, wanted }), '');
});

test('the share that docs/monitoring.md asks for: the first replacements of a month', () => {
  const text = readFileSync(join(root, 'docs', 'monitoring.md'), 'utf8');
  const [, expr = ''] = /```promql\n([^`]+)```/u.exec(text) ?? [];
  const replaced = (name: string, le = ''): string =>
    `node_lifecycle_fault_seconds_${name}{job="nlc", instance="a", stage="replacement", cause="NodeFailure"${le}}`;
  const input = { [replaced('bucket', ', le="420"')]: '_x90 3x30', [replaced('count')]: '_x90 4x30' };
  assert.equal(differenceOf({ expr, input, wanted: [['{}', 0.75]] }), '');
});
