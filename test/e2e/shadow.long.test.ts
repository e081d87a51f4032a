// `--shadow` beside an active controller: during a whole outage it sends read requests only, and it reports how the two
// compare.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ShadowReport } from '../../src/controller/shadow/report.ts';
import { NlcProcess } from '../support/nlc-process.ts';
import type { ProxiedController } from '../support/proxied-controller.ts';
import { SmallWorld, taintsOf, until } from '../support/small-world.ts';

const soonMs = 30_000;
const period = '--node-monitor-period=1s';
const common = [period, '--node-eviction-rate=10', '--control-plane-path-failure-hold=0s'];
const leaving = { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' } as const;

test('a shadow observes a whole outage, writes nothing, and is earlier by the difference of the grace periods', async () => {
  await using world = await SmallWorld.start({ nodes: { a0: 'a', a1: 'a', a2: 'a', b0: 'b' } });
  await using acting = NlcProcess.controller(world.kubeconfigFile, '--node-monitor-grace-period=12s', ...common);
  await using shadow = await world.proxied([
    '--shadow',
    '--node-monitor-grace-period=4s',
    '--metrics-bind-address=127.0.0.1:0',
    ...common,
  ]);
  await until('in shadow', soonMs, async () => shadow.said('running in shadow mode; nothing is written'));
  await until('the other leads', soonMs, async () => acting.said('leading'));
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
  const actual = evicted.episodes.find(({ act }) => act === 'node-unknown')?.why ?? '';
  assert.match(actual, /no heartbeat for [4-9]\.\ds \(monitor grace period 4\.0s/);

  world.fleet.reconnect(['a0']);
  await until('the way back', soonMs, async () => taintsOf(await world.node('a0')).length === 0);
  const end = await until('untainted by both', soonMs, async () => {
    const page = await report(shadow);
    return page.open === 0 ? page : undefined;
  });
  assert.equal(end.totals['pod-eviction'].only_cluster, 0, 'a pod deleted by another client is not counted');
  assert.equal(end.totals['node-unknown'].only_cluster + end.totals['node-unknown'].only_shadow, 0);

  assert.match(await shadow.process.page('/metrics'), /^node_lifecycle_shadow 1$/m);
  assert.match(
    await shadow.process.page('/metrics'),
    /^node_lifecycle_shadow_episodes_total\{act="node-unknown",outcome="earlier"\} 1$/m,
  );
  assert.match(await shadow.process.page('/status?output=text'), /^shadow mode: nothing is written/);
  assert.match(await shadow.process.page('/explain/nodes/a1?output=text'), /held +shadow mode: nothing is written/);
  assert.match(await shadow.process.page('/configz'), /"shadow": true/);
  assert.match(await shadow.process.page('/shadow?output=text'), /node\/a0 node-unknown: shadow earlier by /);
  assert.match(
    await (await fetch(`http://${shadow.process.address('health')}/readyz?verbose`)).text(),
    /^\[\+\]shadow-writes-nothing ok$/m,
  );
  assert.ok(
    shadow.process.logs().some(({ msg, act }) => msg === 'shadow mode: decisions differ' && act === 'node-unknown'),
  );
  assert.ok(
    shadow.process.logs().every((line) => line['shadow'] === true),
    'no log line looks like an action',
  );
  const asked = new NlcProcess(['shadow', `--server=http://${shadow.process.address()}`]);
  assert.deepEqual(await asked.exited, { code: 0, signal: null });
  assert.match(asked.stdout, /^shadow mode: nothing is written/);

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
});

async function report(shadow: ProxiedController): Promise<ShadowReport> {
  return JSON.parse(await shadow.process.page('/shadow')) as ShadowReport;
}
