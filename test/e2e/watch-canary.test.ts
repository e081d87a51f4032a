// `--watch-canary` against the embedded API server: the lease is written, arrives on the watch, and affects nothing else.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Lease } from '../../src/machinery/api/lease.ts';
import { NlcProcess } from '../support/nlc-process.ts';
import { SmallWorld, taintsOf, until } from '../support/small-world.ts';

test('the canary lease is written by the leader, and arrives on the watch at once', async () => {
  await using world = await SmallWorld.start({ nodes: { a0: 'a', a1: 'a' } });
  await using controller = NlcProcess.controller(world.kubeconfigFile, '--watch-canary');
  const page = await until('two canary round trips', 30_000, async () => {
    const text = controller.said('serving /metrics') ? await controller.page('/metrics') : '';
    return Number(/^watch_canary_latency_seconds_count (\d+)$/m.exec(text)?.[1] ?? 0) >= 2 ? text : undefined;
  });
  assert.match(page, /^watch_canary_latency_seconds_bucket\{le="2.5"\} [2-9]/m);
  assert.match(page, /^node_lifecycle_stale\{reason="stream-behind"\} 0$/m);
  const name = { namespace: 'kube-node-lease', name: 'node-lifecycle-controller-canary' };
  const lease: Lease = await world.api.get('leases', name, { signal: AbortSignal.timeout(5_000) });
  assert.ok(lease.spec?.holderIdentity);
  assert.deepEqual((await world.nodes()).flatMap(taintsOf), []);
});
