import assert from 'node:assert/strict';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { buildHistory } from '../../../../src/dashboard/report/build-moment.ts';
import type { Report } from '../../../../src/dashboard/report/report-data.ts';
import { controlsIn } from '../../../support/control-characters.ts';
import { nlc } from '../../../support/run-command.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

const root = join(import.meta.dirname, '..', '..', '..', '..');
const [scenario = ''] = globSync('scenarios/*.yaml', { cwd: root }).map((path) => join(root, path));

test('policies that are objects of the API are refused: a scenario has none', async () => {
  const { code, err } = await nlc('simulate', scenario, '--set=policy-source=crd');
  assert.equal(code, 2);
  assert.match(err, /--policy-source: must be file \(got crd\): a scenario has no NodeLifecyclePolicy objects/u);
});

const hostileScenario = `
apiVersion: nodelifecycle/v1alpha1
kind: SimulationScenario
name: '</script><script>alert(1)</script>'
duration: 5m
cluster:
  nodes: [{ prefix: n, count: 3, zone: z-1 }, { prefix: m, count: 3, zone: z-2 }]
  pods: [{ perNode: 1, tolerates: 1s }]
steps:
  - { at: 20s, selector: { names: [n-1] }, action: { kind: partition, for: 2m } }
`;

test('the page needs no network, shows names as text, and is the same for the same seed', async () => {
  const folder = tempFolder();
  const [file, first, second] = ['scenario.yaml', 'a.html', 'b.html'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(file, hostileScenario);
  const text = await nlc('simulate', file, `--html=${first}`);
  assert.deepEqual([text.code, text.err], [0, '']);
  assert.match(text.out, /^fault to not ready, median +/mu);
  const html = await nlc('simulate', file, '--output=html', `--out=${second}`);
  assert.deepEqual([html.code, html.out], [0, '']);
  const page = readFileSync(first, 'utf8');
  assert.ok(page === readFileSync(second, 'utf8'), 'the pages differ');

  assert.equal(page.match(/<script/gu)?.length, page.match(/<\/script>/gu)?.length);
  assert.ok(!page.includes('<script>alert'));
  assert.deepEqual(
    [...page.matchAll(/\b(?:src|href)\s*=\s*"([^"]*)"/gu)].map(([, target]) => target),
    [],
  );
  const [, json = ''] = /id="report-data">(.*?)<\/script>/su.exec(page) ?? [];
  const report: Report = JSON.parse(json);
  const [run] = report.runs;
  const statesOf = (name: string): readonly string[] =>
    run === undefined ? [] : buildHistory(run, name).map(({ state }) => state);
  assert.deepEqual(statesOf('n-1'), ['ready', 'suspect', 'unreachable', 'tainted', 'emptying', 'tainted', 'ready']);
  assert.deepEqual(statesOf('m-1'), ['ready']);
  assert.ok(run?.timeline.some(({ kind, node }) => kind === 'node-silent' && node === 'n-1'));
});

test('files that cannot be written are named before anything is simulated', async () => {
  const folder = tempFolder();
  const { code, err } = await nlc('simulate', '--html=/nonexistent/page.html', `--out=${folder}`);
  assert.equal(code, 2);
  assert.match(err, /--html: must be a file that can be written \(got "\/nonexistent\/page\.html": ENOENT/u);
  assert.ok(err.includes(`--out: must be a file that can be written (got ${JSON.stringify(folder)}: a folder)`), err);
  assert.match(err, /scenario/u);
});

test('the name of a scenario reaches the terminal as an escape, and begins no line', async () => {
  const file = join(tempFolder(), 'scenario.yaml');
  writeFileSync(file, hostileScenario.replace(/^name: .*$/m, 'name: "a\\e[2J\\u009b\\u202e\\nb"'));
  const { code, out } = await nlc('simulate', file);
  assert.equal(code, 0);
  assert.match(out, /^a\\x1b\[2J\\x9b\\u202e\\nb: 6 nodes/u);
  const json = await nlc('simulate', file, '--output=json');
  assert.deepEqual(controlsIn(json.out), []);
  assert.equal(JSON.parse(json.out).name, 'a\u001b[2J\u009b\u202e\nb');
});

test('a cluster without zones: pods are counted within a minute, however few there are', async () => {
  const file = join(tempFolder(), 'homelab.yaml');
  writeFileSync(
    file,
    `
apiVersion: nodelifecycle/v1alpha1
kind: SimulationScenario
name: homelab
duration: 5m
cluster:
  nodes: [{ names: [server] }, { names: [agent-1, agent-2] }]
  pods: [{ perNode: 3, tolerates: 1m }]
  apiServers: 1
  replicas: 1
steps:
  - { at: 10s, selector: { names: [agent-*] }, action: { kind: partition } }
`,
  );
  const { code, out, err } = await nlc('simulate', file);
  assert.deepEqual([code, err], [0, '']);
  assert.match(out, /^homelab: 3 nodes in no zones, 9 pods/mu);
  assert.match(out, /^pods deleted +6$/mu);
  assert.match(out, /^pods deleted within a minute, at most +6$/mu);
});

test('settings with which no node stays Ready are an error that names them', async () => {
  const file = join(tempFolder(), 'scenario.yaml');
  writeFileSync(file, hostileScenario.replaceAll('count: 3', 'count: 15'));
  const flags = ['--set=node-monitor-grace-period=3s', '--set=node-monitor-period=1s'];
  const { code, err } = await nlc('simulate', file, ...flags);
  assert.equal(code, 2);
  assert.match(err, /do not stay Ready .* nodeMonitorGracePeriod must be longer/u);
});
