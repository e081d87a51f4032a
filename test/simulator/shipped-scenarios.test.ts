// Every scenario that is shipped, as `nlc simulate` runs it.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { ScenarioResult } from '../../src/simulator/scenario/scenario-result.ts';
import { run } from '../../src/cli/commands/simulate.ts';

interface Output {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function simulate(...argv: readonly string[]): Promise<Output> {
  const printed = { stdout: '', stderr: '' };
  const io = {
    stdout: (text: string) => void (printed.stdout += text),
    stderr: (text: string) => void (printed.stderr += text),
    env: {},
    signal: new AbortController().signal,
  };
  return { code: await run(argv, io), ...printed };
}

async function resultOf(name: string, ...argv: readonly string[]): Promise<ScenarioResult> {
  const { code, stdout, stderr } = await simulate(`scenarios/${name}.yaml`, '--output=json', ...argv);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as ScenarioResult;
}

const graceMs = 50_000;
const renewalMs = 10_500;

/** No node that was reachable was marked, and each one that was not within the grace period of its last heartbeat. */
function assertDetection({ outcomes, falseAssessments }: ScenarioResult): void {
  assert.equal(falseAssessments, 0);
  for (const { node, faultAtMs = 0, notReadyAtMs } of outcomes) {
    if (notReadyAtMs === undefined) continue;
    const afterMs = notReadyAtMs - faultAtMs;
    assert.ok(afterMs > graceMs - renewalMs && afterMs < graceMs + 5_000, `${node}: ${afterMs} ms`);
  }
}

test('one node fails: only its pods with a limited toleration are deleted, 300 s after the taint', async () => {
  const result = await resultOf('one-node');
  assertDetection(result);
  const [outcome, ...others] = result.outcomes;
  assert.equal(others.length, 0);
  assert.equal(outcome?.podsDeleted, 5);
  const tolerated = (outcome?.firstDeletionAtMs ?? 0) - (outcome?.noExecuteAtMs ?? 0);
  assert.ok(Math.abs(tolerated - 300_000) <= 1_500, `${tolerated} ms`);
});

test('a rack fails: one NoExecute taint every ten seconds', async () => {
  const result = await resultOf('rack');
  assertDetection(result);
  const times = result.outcomes.map(({ noExecuteAtMs = 0 }) => noExecuteAtMs).sort((a, b) => a - b);
  assert.equal(times.length, 8);
  for (const [index, atMs] of times.slice(1).entries()) assert.ok(atMs - (times[index] ?? 0) > 9_500);
});

test('a zone fails: all its nodes are tainted at the rate of the zone, and pods of a recovered node stay', async () => {
  const result = await resultOf('zone');
  assertDetection(result);
  assert.equal(result.outcomes.length, 20);
  const states = result.zoneStates.map(({ state }) => state);
  assert.ok(states.includes('fully-disrupted') && states.at(-1) === 'normal', states.join());
  for (const { readyAtMs = 0, lastDeletionAtMs = 0 } of result.outcomes) assert.ok(lastDeletionAtMs <= readyAtMs);
});

test('the API servers restart: nothing is marked', async () => {
  const result = await resultOf('api-server-rollout');
  assert.deepEqual([result.outcomes.length, result.podsDeleted], [0, 0]);
});

test('all kubelet certificates expire: no node is tainted NoExecute, no pod is deleted', async () => {
  const result = await resultOf('certificate-expiry');
  assert.equal(result.podsDeleted, 0);
  assert.ok(result.outcomes.every(({ noExecuteAtMs }) => noExecuteAtMs === undefined));
});

test('the network between zones fails: the zone of the control plane is not affected', async () => {
  const result = await resultOf('zone-partition');
  assertDetection(result);
  assert.deepEqual(new Set(result.outcomes.map(({ zone }) => zone)), new Set(['b', 'c']));
  assert.equal(result.podsDeleted, 0);
});

test('all nodes reboot one after the other: no pod is deleted', async () => {
  const result = await resultOf('rolling-reboot');
  assertDetection(result);
  assert.deepEqual([result.outcomes.length, result.podsDeleted], [60, 0]);
});

test('a network card flaps: its pods survive, and other nodes are not affected', async () => {
  const result = await resultOf('flapping-nic');
  assert.equal(result.podsDeleted, 0);
  assert.deepEqual(new Set(result.outcomes.map(({ node }) => node)), new Set(['a-1']));
});

test('edge and cloud: slow links are no silence', async () => {
  const result = await resultOf('edge-and-cloud');
  assertDetection(result);
  assert.ok(result.outcomes.every(({ zone }) => zone === 'edge'));
});

test('two settings side by side: a shorter grace period is visible in the second column', async () => {
  const { code, stdout } = await simulate('scenarios/one-node.yaml', '--against', 'node-monitor-grace-period=24s');
  assert.equal(code, 0);
  assert.match(stdout, /^A: defaults$/m);
  assert.match(stdout, /^B: node-monitor-grace-period=24s$/m);
  const [, a, b] = /^fault to not ready, median +([\d.]+)s +([\d.]+)s$/m.exec(stdout) ?? [];
  assert.ok(Number(b) < Number(a) - 15, `${a} ${b}`);
});

test('the same scenario, settings and seed give the same report', async () => {
  const reports = [await simulate('scenarios/rack.yaml'), await simulate('scenarios/rack.yaml')];
  assert.equal(reports[0]?.stdout, reports[1]?.stdout);
});

test('every problem of the arguments, the scenario and the settings is reported at once, by its name', async () => {
  const none = await simulate();
  assert.equal(none.code, 2);
  assert.match(none.stderr, /must name one scenario file/);
  const setting = await simulate('scenarios/one-node.yaml', '--set', 'node-eviction-rate=-1', '--set=no-such-flag=1');
  assert.equal(setting.code, 2);
  assert.match(setting.stderr, /--node-eviction-rate: must be a number >= 0 \(got -1\)/);
  assert.match(setting.stderr, /no-such-flag/);
});

test('there is a test for each shipped scenario', () => {
  const source = readFileSync(import.meta.filename, 'utf8');
  for (const file of globSync('scenarios/*.yaml')) {
    const name = file.replace(/^scenarios\//, '').replace(/\.yaml$/, '');
    assert.ok(source.includes(`'${name}'`), `${name} has no test`);
  }
});
