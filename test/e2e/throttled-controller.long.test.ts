// The lease is renewed on connections and at a rate limit of its own: a healthy controller keeps leading, however long
// writes and events are delayed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Lease } from '../../src/machinery/api/lease.ts';
import { NlcProcess } from '../support/nlc-process.ts';
import { SmallWorld, until } from '../support/small-world.ts';

const retryMs = 500;
const watchedMs = 8_000;

test('a heavily throttled main client and a burst of events do not delay the lease renewal', async () => {
  const names = Array.from({ length: 24 }, (_, index) => `n${index}`);
  await using world = await SmallWorld.start({ nodes: Object.fromEntries(names.map((name) => [name, 'a'])) });
  await using controller = NlcProcess.controller(
    world.kubeconfigFile,
    '--node-monitor-grace-period=3s',
    '--node-monitor-period=1s',
    '--kube-api-qps=0.2',
    '--kube-api-burst=1',
    '--leader-elect-lease-duration=4s',
    '--leader-elect-renew-deadline=3s',
    `--leader-elect-retry-period=${retryMs}ms`,
  );
  await until('a leader', 20_000, async () => (await renewedAtMs(world)) !== undefined);
  world.fleet.cutOff(names.slice(0, 10));
  const delayed = 'request delayed by client-side rate limiting';
  await until('requests that wait', 20_000, async () => controller.said(delayed));
  const gaps = await gapsBetweenRenewals(world, performance.now() + watchedMs);
  assert.ok(gaps.length >= watchedMs / retryMs / 2, `${gaps.length} renewals in ${watchedMs} ms`);
  assert.ok(Math.max(...gaps) < 4 * retryMs, `the longest time between two renewals was ${Math.max(...gaps)} ms`);
  assert.equal(controller.hasEnded, false);
});

async function gapsBetweenRenewals(world: SmallWorld, endAtMs: number): Promise<readonly number[]> {
  const gaps: number[] = [];
  let last = await renewedAtMs(world);
  while (performance.now() < endAtMs) {
    const next = await renewedAtMs(world);
    if (next !== undefined && last !== undefined && next > last) gaps.push(next - last);
    last = next ?? last;
    await new Promise((resolve) => setTimeout(resolve, retryMs / 10));
  }
  return gaps;
}

/** renewTime of the controller's lease; undefined before the first renewal. */
async function renewedAtMs(world: SmallWorld): Promise<number | undefined> {
  const name = { namespace: 'kube-system', name: 'node-lifecycle-controller' };
  try {
    const lease: Lease = await world.api.get('leases', name, { signal: AbortSignal.timeout(5_000) });
    return Date.parse(lease.spec?.renewTime ?? '') || undefined;
  } catch {
    return undefined;
  }
}
