// `--watch-canary` against the embedded API server: the lease is written, comes back, and disturbs nobody.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Lease } from '../../src/api/lease.ts';
import { NlcProcess } from '../support/nlc-process.ts';
import { SmallWorld, taintsOf, until } from '../support/small-world.ts';

test('the canary lease is written by the leader, and comes back at once', async () => {
  const world = await SmallWorld.start({ nodes: { a0: 'a', a1: 'a' } });
  const controller = new NlcProcess([
    'controller',
    `--kubeconfig=${world.kubeconfigFile}`,
    '--watch-canary',
    '--metrics-bind-address=127.0.0.1:0',
    '--health-probe-bind-address=0',
    '--log-format=json',
  ]);
  try {
    const page = await until('two canaries that came back', 30_000, async () => {
      const text = await metrics(controller);
      return Number(/^watch_canary_latency_seconds_count (\d+)$/m.exec(text)?.[1] ?? 0) >= 2 ? text : undefined;
    });
    assert.match(page, /^watch_canary_latency_seconds_bucket\{le="2.5"\} [2-9]/m);
    assert.match(page, /^node_lifecycle_blind\{reason="stream-behind"\} 0$/m);
    const name = { namespace: 'kube-node-lease', name: 'node-lifecycle-controller-canary' };
    const lease: Lease = await world.api.get('leases', name, { signal: AbortSignal.timeout(5_000) });
    assert.ok(lease.spec?.holderIdentity);
    assert.deepEqual((await world.nodes()).flatMap(taintsOf), []);
  } finally {
    await controller.kill();
    await world.stop();
  }
});

async function metrics(controller: NlcProcess): Promise<string> {
  const port = controller.logs().find(({ msg }) => msg === 'serving /metrics')?.['port'];
  if (typeof port !== 'number') return '';
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  return response.text();
}
