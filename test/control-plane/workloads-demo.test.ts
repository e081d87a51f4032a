// `nlc demo --with-workloads`, with the programs that the tests build, on the embedded API server and on a real one.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
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

/** That of its kubeconfig. */
function folderOf(demo: NlcProcess): string {
  const [, folder] = linesOf(demo).flatMap(({ text }) => /--kubeconfig (\S+)\/kubeconfig/.exec(text ?? '') ?? []);
  return folder ?? assert.fail('no kubeconfig was named');
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const commonFlags = ['--once', '--with-workloads', '--output=json', '--dashboard-port=0'];
const servers = [
  { name: 'the embedded API server', flags: [], programs: 2 },
  { name: 'a real one', flags: [`--control-plane=${found.dir}`], programs: 4 },
] as const;

for (const { name, flags, programs } of servers) {
  test(`pods of a Deployment move to other nodes in an outage on ${name}; nothing is left running`, {
    timeout: 150_000,
  }, async (t) => {
    const demo = new NlcProcess(['demo', ...commonFlags, ...flags], env);
    t.after(() => demo.kill());
    const exit = await demo.exited;
    const lines = linesOf(demo);
    assert.deepEqual(
      lines.filter(({ type, met }) => type === 'expectation' && met !== true),
      [],
    );
    assert.deepEqual(exit, { code: 0, signal: null }, demo.stderr);
    const end = lines.at(-1);
    assert.deepEqual([end?.type, end?.expectations, end?.failed], ['end', 8, []]);
    const pids = pidsOf(demo);
    assert.equal(pids.length, programs);
    assert.deepEqual(pids.filter(isRunning), []);
  });

  test(`the programs end with a demo on ${name} that is killed`, { timeout: 90_000 }, async () => {
    const demo = new NlcProcess(['demo', ...commonFlags, ...flags], env);
    const pids = await waitUntil('all programs', { timeoutMs: 60_000 }, () => {
      const started = pidsOf(demo);
      return started.length === programs && started;
    });
    assert.deepEqual(pids.filter(isRunning), pids);
    await demo.kill();
    await waitUntil('the end of the programs', { timeoutMs: 10_000 }, () => !pids.some(isRunning));
    const folder = folderOf(demo);
    await waitUntil('the end of its folder', { timeoutMs: 10_000 }, () => !existsSync(folder));
  });
}

test('Ctrl-C while the control plane starts ends the demo at once, and leaves nothing', {
  timeout: 60_000,
}, async () => {
  const demo = new NlcProcess(['demo', '--output=json', '--dashboard-port=0', ...servers[1].flags], env);
  await waitUntil('the start', { timeoutMs: 20_000 }, () => demo.stdout.includes('starting etcd'));
  demo.signal('SIGINT');
  assert.deepEqual(await demo.exited, { code: 0, signal: null }, demo.stderr);
  assert.equal(demo.stderr, '');
});

test('a folder without the programs is an error that says what is missing', async () => {
  const demo = new NlcProcess(['demo', `--control-plane=${import.meta.dirname}`]);
  assert.deepEqual(await demo.exited, { code: 2, signal: null });
  assert.match(
    demo.stderr,
    /--control-plane: must be a folder with etcd and kube-apiserver \(got .*, without an executable etcd and kube-apiserver\)/,
  );
});
