// `nlc demo --with-workloads`, with the programs that the tests build.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findControlPlane } from '../../tools/control-plane/binaries.ts';
import { NlcProcess } from '../support/nlc-process.ts';
import { waitUntil } from './wait-until.ts';

const found = findControlPlane();
if ('missing' in found) throw new Error(found.missing);
const env = { KUBEBUILDER_ASSETS: found.dir };

interface Line {
  readonly type: string;
  readonly text?: string;
  readonly met?: boolean;
  readonly expectations?: number;
  readonly failed?: readonly unknown[];
}

function linesOf(demo: NlcProcess): readonly Line[] {
  const text = demo.stdout.slice(0, demo.stdout.lastIndexOf('\n') + 1).trim();
  return text === '' ? [] : text.split('\n').map((line) => JSON.parse(line) as Line);
}

function pidsOf(demo: NlcProcess): readonly number[] {
  return linesOf(demo)
    .flatMap(({ text }) => /^running .*\(process (\d+)\)$/.exec(text ?? '')?.[1] ?? [])
    .map(Number);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('pods of a Deployment move to other nodes in an outage; nothing is left running', {
  timeout: 150_000,
}, async (t) => {
  const demo = new NlcProcess(['demo', '--once', '--with-workloads', '--output=json', '--dashboard-port=0'], env);
  t.after(() => demo.kill());
  const exit = await demo.exited;
  const lines = linesOf(demo);
  assert.deepEqual(
    lines.filter(({ type, met }) => type === 'expectation' && met !== true),
    [],
  );
  assert.deepEqual(exit, { code: 0, signal: null }, demo.stderr);
  const end = lines.at(-1);
  assert.deepEqual([end?.type, end?.expectations, end?.failed], ['end', 9, []]);
  const pids = pidsOf(demo);
  assert.equal(pids.length, 2);
  assert.deepEqual(pids.filter(isRunning), []);
});

test('the programs end with a demo that is killed', { timeout: 60_000 }, async () => {
  const demo = new NlcProcess(['demo', '--once', '--with-workloads', '--output=json', '--dashboard-port=0'], env);
  const pids = await waitUntil('both programs', { timeoutMs: 20_000 }, () => {
    const started = pidsOf(demo);
    return started.length === 2 && started;
  });
  assert.deepEqual(pids.map(isRunning), [true, true]);
  await demo.kill();
  await waitUntil('the end of the programs', { timeoutMs: 10_000 }, () => !pids.some(isRunning));
});
