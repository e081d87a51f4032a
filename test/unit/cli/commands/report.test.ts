// `nlc report`: what grace periods would have made of a recorded cluster, and what the metrics of a controller say.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { nlc } from '../../../support/run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'nlc-report-'));
after(() => rmSync(folder, { recursive: true }));

const header = {
  apiVersion: 'nodelifecycle/v1alpha1',
  kind: 'ClusterTrace',
  startedAt: '2026-11-01T00:00:00Z',
  hashedNames: false,
  gapSeconds: 15,
};

function aTrace(...records: readonly object[]): string {
  const file = join(folder, `${Math.random()}.jsonl`);
  writeFileSync(file, [header, ...records].map((line) => `${JSON.stringify(line)}\n`).join(''));
  return file;
}

const recorded = aTrace(
  { t: 0, node: 'a', zone: 'z', ready: 'True', pods: { 300: 10, forever: 2 } },
  { t: 0, node: 'b', zone: 'z', ready: 'True', pods: { none: 3 } },
  { t: 0, node: 'c', zone: 'z', ready: 'True', pods: { 300: 5 } },
  // Alive after 45 s, after 400 s, after a restart of its machine, and not at all.
  { t: 145, node: 'a', gap: 45 },
  { t: 500, node: 'b', gap: 45 },
  { t: 1_400, node: 'a', gap: 400 },
  { t: 1_410, node: 'a', pods: { 300: 1 } },
  { t: 2_080, node: 'b', gap: 80 },
  { t: 2_090, node: 'b', rebooted: true },
  { t: 3_600, node: 'c', gap: 600, open: true },
  { t: 3_600, end: 'time' },
);

test('a trace: which silences would have been Unknown, for nothing or not, and what waiting cost', async () => {
  const { code, out } = await nlc('report', `--trace=${recorded}`, '--grace-period=40s', '--grace-period', '50s');
  assert.equal(code, 0);
  assert.match(out, /^Recorded from 2026-11-01T00:00:00Z on, for 1h0m0s: 3 nodes, 5 silences longer than 15s$/mu);
  // 40 s: pods of b without a toleration at once, those of a after 340 s; two failed nodes were waited for.
  assert.match(out, /^40s +5 +3 +1 +1 +13 +1m20s$/mu);
  assert.match(out, /^50s +3 +1 +1 +1 +10 +1m40s$/mu);
});

test('as JSON, with the grace periods of the default', async () => {
  const { code, out } = await nlc('report', `--trace=${recorded}`, '-o', 'json');
  assert.equal(code, 0);
  const report = JSON.parse(out) as { graces: { graceSeconds: number }[]; silences: { node: string; end: string }[] };
  assert.deepEqual(
    report.graces.map(({ graceSeconds }) => graceSeconds),
    [20, 30, 40, 50, 60, 90, 120],
  );
  assert.deepEqual(
    report.silences.map(({ node, end }) => `${node} ${end}`),
    ['a alive', 'b alive', 'a alive', 'b restarted', 'c not-back'],
  );
});

test('grace periods shorter than what was recorded, and a trace that cannot be read', async () => {
  const short = await nlc('report', `--trace=${recorded}`, '--grace-period=10s');
  assert.equal(short.code, 0);
  assert.match(short.err, /silences up to 15 s were not recorded/u);
  const missing = await nlc('report', `--trace=${join(folder, 'none')}`);
  assert.equal(missing.code, 1);
  assert.match(missing.err, /none: ENOENT/u);
  const malformed = await nlc('report', `--trace=${aTrace({ t: 'now' })}`);
  assert.match(malformed.err, /line 2: .*must be an object with t and node/u);
});

for (const [args, message] of [
  [[], /one of --prometheus and --trace is required/u],
  [['--trace=a', '--prometheus=http://b'], /one of --prometheus and --trace is required, and not both/u],
  [['--prometheus=prometheus:9090'], /--prometheus: must be an http or https URL \(got "prometheus:9090"\)/u],
  [['--trace=a', '--selector=job="nlc"'], /--selector: must not be set with --trace/u],
  [['--prometheus=http://b', '--grace-period=40s'], /--grace-period: must not be set with --prometheus/u],
  [['--trace=a', '--grace-period=soon'], /--grace-period: must be a duration/u],
  [['--trace=a', ...Array.from({ length: 21 }, () => '--grace-period=40s')], /at most 20 times \(got 21\)/u],
] as const) {
  test(`an error: ${args.join(' ').slice(0, 60)}`, async () => {
    const { code, err } = await nlc('report', ...args);
    assert.equal(code, 2);
    assert.match(err, message);
  });
}

interface FakePrometheus {
  readonly url: string;
  readonly queries: readonly string[];
  readonly requests: readonly IncomingMessage[];
  readonly close: () => Promise<void>;
}

/** Answers each query with the samples whose metric it names, as the HTTP API of Prometheus does. */
async function aPrometheus(samplesOf: (query: string) => readonly object[], status = 200): Promise<FakePrometheus> {
  const queries: string[] = [];
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    const query = new URL(request.url ?? '', 'http://any').searchParams.get('query') ?? '';
    queries.push(query);
    requests.push(request);
    const data = { resultType: 'vector', result: samplesOf(query) };
    response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
    response.end(JSON.stringify(status === 200 ? { status: 'success', data } : { status: 'error', error: 'bad' }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async (): Promise<void> => {
    server.close();
    await once(server, 'close');
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, queries, requests, close };
}

const sample = (value: string, metric: object): object => ({ metric, value: [1_764_000_000, value] });
const fault = { stage: 'unknown', cause: 'NodeFailure', policy: 'web' };
const samples: readonly (readonly [string, readonly object[]])[] = [
  ['0.9', [sample('57.5', fault)]],
  ['0.5', [sample('NaN', fault)]],
  ['fault_seconds_count', [sample('11.98', fault), sample('0.2', { ...fault, stage: 'recovery' })]],
  ['fault_seconds_sum', [sample('5400', { cause: 'NodeFailure', policy: 'web' })]],
  ['recovered_nodes', [sample('2', { boot: 'same' }), sample('10.1', { boot: 'changed' })]],
  ['overdue_total', [sample('12', { policy: 'web', end: 'silent' }), sample('3', { policy: 'web', end: 'heartbeat' })]],
  [
    'early_detections',
    [sample('9', { policy: 'web', end: 'confirmed' }), sample('1', { policy: 'web', end: 'heartbeat' })],
  ],
  ['saved_seconds', [sample('310', { policy: 'web' })]],
];
const answer = (query: string): readonly object[] => samples.find(([part]) => query.includes(part))?.[1] ?? [];

test('Prometheus: faults, false positives, the time that was lost, and what warnings were worth', async () => {
  const { url, queries, requests, close } = await aPrometheus(answer);
  const token = join(folder, 'token');
  writeFileSync(token, 'secret\n');
  const args = [`--prometheus=${url}/`, '--since=24h', '--selector=job="nlc"', `--bearer-token-file=${token}`];
  const { code, out, err } = await nlc('report', ...args);
  await close();
  assert.equal(code, 0, err);
  assert.match(out, /^The last 24h0m0s, by http:\/\/127/mu);
  assert.match(out, /^unknown +NodeFailure +web +12 +0s +58s$/mu);
  assert.doesNotMatch(out, /^recovery/mu);
  assert.match(out, /^False positives: 2 of 12 nodes that recovered had not restarted\.$/mu);
  assert.match(out, /policy web: 1h30m0s$/mu);
  assert.match(out, /^Early warnings of policy web: 12 right, 3 wrong$/mu);
  assert.match(out, /^Early detections of policy web: 9 right, which saved 5m10s in all, 1 wrong$/mu);
  assert.ok(queries.every((query) => query.includes('job="nlc"') && query.includes('[86400s]')));
  assert.ok(requests.every(({ headers }) => headers.authorization === 'Bearer secret'));
});

test('the first value of a series that began within the time counts: `increase` does not see it', async () => {
  const { url, queries, close } = await aPrometheus(answer);
  await nlc('report', `--prometheus=${url}`, '--since=24h', '--selector=job="nlc"');
  await close();
  for (const series of [
    'node_lifecycle_fault_seconds_count{job="nlc"}',
    'node_lifecycle_fault_seconds_bucket{job="nlc"}',
    'node_lifecycle_fault_seconds_sum{job="nlc",stage="recovery"}',
    'node_lifecycle_overdue_total{job="nlc"}',
    'node_lifecycle_early_detections_total{job="nlc"}',
    'node_lifecycle_early_detection_saved_seconds_total{job="nlc"}',
  ]) {
    const begun = `min_over_time(${series}[86400s]) unless ${series} offset 86400s`;
    const asked = queries.filter((query) => query.includes(`increase(${series}[86400s])`));
    assert.ok(asked.length > 0 && asked.every((query) => query.includes(begun)), series);
  }
});

test('a Prometheus without these metrics, one that answers an error, and none', async () => {
  const empty = await aPrometheus(() => []);
  const none = await nlc('report', `--prometheus=${empty.url}`);
  await empty.close();
  assert.equal(none.code, 0);
  assert.match(none.out, /no fault was counted/u);
  const failing = await aPrometheus(() => [], 422);
  const failed = await nlc('report', `--prometheus=${failing.url}`);
  await failing.close();
  assert.equal(failed.code, 1);
  assert.match(failed.err, /status 422/u);
  const gone = await nlc('report', `--prometheus=${failing.url}`);
  assert.equal(gone.code, 1);
  assert.match(gone.err, /ECONNREFUSED/u);
});
