// `--shadow` beside a controller that acts: through a whole outage not one request of it is anything but a read, and it says
// how the two compare.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ShadowReport } from '../../src/controller/shadow/report.ts';
import { NlcProcess } from '../support/nlc-process.ts';
import { ProxiedController } from '../support/proxied-controller.ts';
import { SmallWorld, taintsOf, until } from '../support/small-world.ts';

const soonMs = 30_000;
const period = '--node-monitor-period=1s';
const common = [period, '--node-eviction-rate=10', '--control-plane-path-failure-hold=0s'];
const leaving = { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' } as const;

test('a shadow sees a whole outage, writes nothing, and is earlier by what its grace period is shorter', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'nlc-shadow-'));
  const world = await SmallWorld.start({ nodes: { a0: 'a', a1: 'a', a2: 'a', b0: 'b' } });
  const { url, caPem, adminToken } = world.server;
  const acting = new NlcProcess([
    'controller',
    `--kubeconfig=${world.kubeconfigFile}`,
    '--node-monitor-grace-period=12s',
    '--metrics-bind-address=0',
    '--health-probe-bind-address=0',
    '--log-format=json',
    ...common,
  ]);
  const shadow = await ProxiedController.start({
    url,
    ca: caPem,
    token: adminToken,
    folder,
    name: 'shadow',
    args: ['--shadow', '--node-monitor-grace-period=4s', '--metrics-bind-address=127.0.0.1:0', ...common],
  });
  try {
    await until('in shadow', soonMs, async () => shadow.said('in shadow: nothing is written'));
    await until('the other leads', soonMs, async () => acting.logs().some(({ msg }) => msg === 'leading'));
    await world.addPod('leaves', 'a0', [{ ...leaving, tolerationSeconds: 0 }]);
    await world.addPod('is-drained', 'a1', []);
    await until('clean nodes', soonMs, async () => (await world.nodes()).every((node) => taintsOf(node).length === 0));

    world.fleet.cutOff(['a0']);
    await until('a page while it differs', soonMs, async () => (await report(shadow)).open > 0);
    const pod = (await world.pods()).find(({ name }) => name === 'is-drained');
    await world.api.delete(
      'pods',
      { namespace: 'default', name: 'is-drained' },
      { uid: pod?.uid ?? '', signal: AbortSignal.timeout(5_000) },
    );
    const evicted = await until('the eviction', soonMs, async () => {
      const page = await report(shadow);
      return page.totals['pod-eviction'].earlier === 1 ? page : undefined;
    });
    for (const act of ['node-unknown', 'no-schedule-taint', 'no-execute-taint'] as const) {
      assert.equal(evicted.totals[act].earlier, 1, act);
      const episode = evicted.episodes.find((each) => each.act === act && each.outcome === 'earlier');
      const apart = episode?.differenceSeconds ?? 0;
      assert.ok(apart > 4 && apart < 14, `${act}: ${apart} s apart`);
    }
    assert.match(evicted.episodes.find(({ act }) => act === 'node-unknown')?.why ?? '', /nothing heard for .* 4\.0 s/);

    world.fleet.bringBack(['a0']);
    await until('the way back', soonMs, async () => taintsOf(await world.node('a0')).length === 0);
    const end = await until('untainted by both', soonMs, async () => {
      const page = await report(shadow);
      return page.open === 0 ? page : undefined;
    });
    assert.equal(end.totals['pod-eviction'].only_them, 0, 'a pod that somebody else deleted is nobody of theirs');
    assert.equal(end.totals['node-unknown'].only_them + end.totals['node-unknown'].only_us, 0);

    assert.match((await page(shadow, '/metrics')).text, /^node_lifecycle_shadow 1$/m);
    assert.match(
      (await page(shadow, '/metrics')).text,
      /^node_lifecycle_shadow_episodes_total\{act="node-unknown",outcome="earlier"\} 1$/m,
    );
    assert.match((await page(shadow, '/status?output=text')).text, /^in shadow: nothing is written/);
    assert.match((await page(shadow, '/explain/nodes/a1?output=text')).text, /held +this process is a shadow/);
    assert.match((await page(shadow, '/configz')).text, /"shadow": true/);
    assert.match((await page(shadow, '/shadow?output=text')).text, /node\/a0 node-unknown: earlier by /);
    assert.match((await page(shadow, '/readyz?verbose', 'health')).text, /^\[\+\]shadow-writes-nothing ok$/m);
    assert.ok(shadow.process.logs().some(({ msg, act }) => msg === 'shadow: we differ' && act === 'node-unknown'));
    assert.ok(
      shadow.process.logs().every((line) => line['shadow'] === true),
      'no line can be taken for an act',
    );
    const asked = new NlcProcess(['shadow', `--server=http://127.0.0.1:${portOf(shadow, 'serving /metrics')}`]);
    assert.deepEqual(await asked.exited, { code: 0, signal: null });
    assert.match(asked.stdout, /^shadow: nothing is written/);

    assert.deepEqual(await shadow.process.terminate(), { code: 0, signal: null });
    assert.deepEqual(
      shadow.proxy.requests.filter(({ method }) => method !== 'GET').map(({ method, path }) => `${method} ${path}`),
      [],
    );
    assert.deepEqual(
      shadow.proxy.requests.map(({ path }) => path.split('?')[0] ?? '').filter((path) => path.includes('kube-system')),
      [],
      'no lease of its own is read',
    );
    for (const resource of ['nodes', 'pods', 'leases']) {
      assert.ok(
        shadow.proxy.requests.some(({ path }) => path.includes(`/${resource}`)),
        `${resource} were read through it`,
      );
    }
  } finally {
    await acting.kill();
    await shadow.stop();
    await world.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

async function report(shadow: ProxiedController): Promise<ShadowReport> {
  const { text } = await page(shadow, '/shadow');
  return JSON.parse(text) as ShadowReport;
}

async function page(shadow: ProxiedController, path: string, kind: 'metrics' | 'health' = 'metrics') {
  const port = portOf(shadow, kind === 'metrics' ? 'serving /metrics' : 'serving /livez and /readyz');
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  return { status: response.status, text: await response.text() };
}

function portOf(shadow: ProxiedController, message: string): string {
  return String(shadow.process.logs().find(({ msg }) => msg === message)?.['port']);
}
