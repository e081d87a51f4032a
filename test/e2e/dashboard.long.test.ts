// The events of the dashboard of `nlc controller` as a process.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DashboardMirror } from '../support/dashboard-mirror.ts';
import { NlcProcess } from '../support/nlc-process.ts';
import { SmallWorld } from '../support/small-world.ts';
import { until } from '../support/until.ts';

const limitMs = 30_000;

test('a client sees the nodes of the cluster live; at SIGTERM its stream ends and the process exits with 0', {
  timeout: 90_000,
}, async () => {
  await using world = await SmallWorld.start({ nodes: { a0: 'a', a1: 'a', b0: 'b' } });
  await using controller = NlcProcess.controller(
    world.kubeconfigFile,
    '--node-monitor-grace-period=4s',
    '--node-monitor-period=1s',
  );
  await until(() => controller.said('serving /metrics') && controller.said('leading'), limitMs);
  const mirror = new DashboardMirror();
  const response = await fetch(`http://${controller.address()}/dashboard/events`);
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) mirror.feed(decoder.decode(chunk, { stream: true }));
  })();
  await until(() => [...mirror.nodes.values()].filter(({ state }) => state === 'ready').length === 3, limitMs);
  assert.deepEqual(mirror.state?.server.kind, 'controller');
  assert.equal(mirror.state.cluster.leading, true);
  world.fleet.cutOff(['a0']);
  await until(() => ['unreachable', 'tainted', 'emptying'].includes(mirror.nodes.get('a0')?.state ?? ''), limitMs);
  assert.ok(mirror.timeline.some(({ kind, node }) => kind === 'node-silent' && node === 'a0'));
  await until(() => mirror.samples.length > 0, limitMs);
  assert.ok((mirror.samples.at(-1)?.requests ?? 0) > 0, 'requests to the API server are counted');
  const ended = await controller.terminate();
  assert.deepEqual([ended.code, mirror.snapshots], [0, 1]);
  await reading;
});

test('--dashboard=false serves nothing below /dashboard', { timeout: 60_000 }, async () => {
  await using world = await SmallWorld.start({ nodes: { a0: 'a' } });
  await using controller = NlcProcess.controller(world.kubeconfigFile, '--dashboard=false');
  await until(() => controller.said('serving /metrics'), limitMs);
  for (const path of ['/dashboard', '/dashboard/events', '/dashboard/assets/main.ts']) {
    assert.equal((await fetch(`http://${controller.address()}${path}`)).status, 404, path);
  }
});
