// Scenarios of nodes that fail, and the arguments of `nlc simulate`; the others are in shipped-scenarios.networks.long.test.ts.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { assertDetection, resultOf, simulate } from '../support/shipped-scenario.ts';

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

test('all nodes reboot one after the other: no pod is deleted', async () => {
  const result = await resultOf('rolling-reboot');
  assertDetection(result);
  assert.deepEqual([result.outcomes.length, result.podsDeleted], [60, 0]);
});

test('two settings side by side: a shorter grace period is visible in the second column', async () => {
  const { code, stdout } = await simulate('scenarios/one-node.yaml', '--against', 'node-monitor-grace-period=24s');
  assert.equal(code, 0);
  assert.match(stdout, /^A: defaults$/m);
  assert.match(stdout, /^B: node-monitor-grace-period=24s$/m);
  const [, a, b] = /^fault to not ready, median +([\d.]+)s +([\d.]+)s$/m.exec(stdout) ?? [];
  assert.ok(Number(b) < Number(a) - 15, `${a} ${b}`);
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
  const files = globSync(join(import.meta.dirname, '*.test.ts'));
  const source = files.map((file) => readFileSync(file, 'utf8')).join('');
  for (const file of globSync('scenarios/*.yaml')) {
    const name = file.replace(/^scenarios\//, '').replace(/\.yaml$/, '');
    assert.ok(source.includes(`'${name}'`), `${name} has no test`);
  }
});
