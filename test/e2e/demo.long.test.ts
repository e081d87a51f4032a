import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { findKubectl } from '../../tools/control-plane/binaries.ts';
import { NlcProcess } from '../support/nlc-process.ts';
import { tempFolder } from '../support/temp-folder.ts';

const storyMsMax = 90_000;

interface Line {
  readonly type: 'scene' | 'note' | 'decision' | 'expectation' | 'end';
  readonly text?: string;
  readonly met?: boolean;
  readonly what?: string;
  readonly found?: string;
  readonly expectations?: number;
  readonly failed?: readonly unknown[];
}

test('the demo runs its scenario to the end, every expectation is met, and kubectl can follow it', {
  timeout: storyMsMax + 20_000,
}, async (t) => {
  const startedAtMs = performance.now();
  const demo = new NlcProcess(['demo', '--once', '--output=json']);
  t.after(() => demo.kill());
  const following = followWithKubectl(demo);
  const exit = await demo.exited;
  const tookMs = performance.now() - startedAtMs;

  const lines = demo.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
  const unmet = lines.filter(({ type, met }) => type === 'expectation' && met !== true);
  assert.deepEqual(unmet, []);
  assert.deepEqual(exit, { code: 0, signal: null }, demo.stderr);
  assert.ok(tookMs < storyMsMax, `the scenario took ${Math.round(tookMs / 1_000)} s`);
  assert.deepEqual(lines.filter(({ type }) => type === 'scene').length, 5);
  assert.ok(lines.filter(({ type }) => type === 'expectation').length >= 15);
  const decisions = lines.filter(({ type }) => type === 'decision');
  for (const kind of [
    'is silent',
    'all zones fully disrupted',
    'secondary rate applies',
    'evicted from',
    'cancelled',
    'Ready again',
  ]) {
    assert.ok(
      decisions.some(({ text }) => text?.includes(kind)),
      `no decision of kind "${kind}"`,
    );
  }
  const end = lines.at(-1);
  assert.ok(end?.type === 'end' && end.failed?.length === 0);

  const seen = await following;
  if (seen === undefined) return t.diagnostic('kubectl not found: following the scenario was not tested');
  assert.match(seen, /^a-07\s+Ready /m);
  assert.match(seen, /^a-07\s+NotReady /m);
});

/** `kubectl get nodes -w` as the demo proposes it: its output when the demo ended; undefined without kubectl. */
async function followWithKubectl(demo: NlcProcess): Promise<string | undefined> {
  const kubectl = findKubectl();
  if (kubectl === undefined) return undefined;
  const kubeconfig = await kubeconfigOf(demo);
  const child = spawn(kubectl, ['--kubeconfig', kubeconfig, 'get', 'nodes', '-w'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  void demo.exited.then(() => child.kill());
  await once(child, 'close');
  return text;
}

async function kubeconfigOf(demo: NlcProcess): Promise<string> {
  for (;;) {
    const found = /--kubeconfig (\S+) get nodes -w/.exec(demo.stdout)?.[1];
    if (found !== undefined) return found;
    if (demo.hasEnded) throw new Error(`the demo ended before it printed a kubeconfig: ${demo.stderr}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test('the demo reports all invalid arguments at once', async () => {
  const demo = new NlcProcess(['demo', '--output=xml', '--port=banana', '--nonsense']);
  assert.deepEqual(await demo.exited, { code: 2, signal: null });
  for (const problem of ['--output', '--port', '--nonsense']) assert.ok(demo.stderr.includes(problem), demo.stderr);
});

test('an interrupted demo ends at once and reports that the scenario is incomplete', { timeout: 30_000 }, async () => {
  const demo = new NlcProcess(['demo', '--once']);
  await kubeconfigOf(demo);
  const signalledAtMs = performance.now();
  demo.signal('SIGTERM');
  const { code } = await demo.exited;
  assert.equal(code, 1);
  // The rest of the start, 60 nodes, replicas and 300 pods, takes longer on two cores.
  const afterMs = performance.now() - signalledAtMs;
  assert.ok(afterMs < 3_000, `${afterMs} ms after the signal`);
});

test('without kube-scheduler and kube-controller-manager, --with-workloads says how to get them', async () => {
  const empty = tempFolder();
  const demo = new NlcProcess(['demo', '--once', '--with-workloads'], { KUBEBUILDER_ASSETS: empty });
  assert.deepEqual(await demo.exited, { code: 1, signal: null });
  for (const text of [empty, 'https://dl.k8s.io/release/', 'npm run control-plane'])
    assert.ok(demo.stderr.includes(text));
  assert.equal(demo.stdout, '');
});
