// How a controller ends, as the API server sees it: under load, with an API that is slow, or that no longer answers.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { holderWritten, ProxiedController } from '../support/proxied-controller.ts';
import type { RecordedRequest } from '../support/recording-proxy.ts';
import { SmallWorld, until } from '../support/small-world.ts';

const soonMs = 20_000;
const crowdSize = 60;
const writeMs = 400;
const exitMsMax = 6_000;
/** Writes under way 5 s, events half a second, and what a loaded machine needs. */
const deadExitMsMax = 12_000;
const args = [
  '--node-monitor-grace-period=3s',
  '--node-monitor-period=1s',
  '--node-eviction-rate=10',
  '--kube-api-qps=50',
  '--kube-api-burst=50',
  // Fewer than those who want to write: some wait when the end comes.
  '--concurrent-writes=4',
  '--leader-elect-lease-duration=15s',
];

type Story = (controller: ProxiedController, world: SmallWorld) => Promise<void>;

async function leading(story: Story): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'nlc-shutdown-'));
  const world = await SmallWorld.start({ nodes: { a0: 'a', a1: 'a', a2: 'a', b0: 'b' } });
  const { url, caPem, adminToken } = world.server;
  const controller = await ProxiedController.start({ url, ca: caPem, token: adminToken, folder, name: 'nlc', args });
  try {
    await until('leading', soonMs, async () => controller.said('leading'));
    await story(controller, world);
  } finally {
    await controller.stop();
    await world.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** In the middle of evicting a crowd from a node that went dark, every write about a pod slow. */
async function underLoad(story: Story): Promise<void> {
  await leading(async (controller, world) => {
    const leaving = { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' } as const;
    const names = Array.from({ length: crowdSize }, (_, i) => `crowd-${i}`);
    await Promise.all(names.map((name) => world.addPod(name, 'a0', [{ ...leaving, tolerationSeconds: 0 }])));
    controller.proxy.delayMs = ({ path }) => (path.includes('/pods/') ? writeMs : 0);
    world.fleet.cutOff(['a0']);
    await until('evicting', soonMs, async () => deletes(controller).length >= 5);
    await story(controller, world);
  });
}

const deletes = ({ proxy }: ProxiedController): readonly RecordedRequest[] =>
  proxy.writes.filter(({ method }) => method === 'DELETE');

async function exitWithin(controller: ProxiedController, msMax: number): Promise<number | null> {
  const sinceMs = performance.now();
  const { code } = await controller.process.exited;
  assert.ok(performance.now() - sinceMs < msMax, `took ${performance.now() - sinceMs} ms`);
  return code;
}

function healthUrl({ process }: ProxiedController, path: string): string {
  const { port } = process.logs().find(({ msg }) => msg === 'serving /livez and /readyz') ?? {};
  return `http://127.0.0.1:${String(port)}${path}`;
}

/** Status of `/readyz` over time, until nobody answers any more. */
async function watchReadiness(controller: ProxiedController): Promise<readonly number[]> {
  const seen: number[] = [];
  for (;;) {
    const answer = await fetch(healthUrl(controller, '/readyz')).catch(() => undefined);
    if (answer === undefined) return seen;
    seen.push(answer.status);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test(
  'SIGTERM in the middle of evictions: not ready, answers awaited, events told, the lease given back last',
  {
    timeout: 90_000,
  },
  () =>
    underLoad(async (controller) => {
      const readiness = watchReadiness(controller);
      const stoppedAtMs = performance.now();
      controller.process.signal('SIGTERM');
      assert.equal(await exitWithin(controller, exitMsMax), 0);
      assert.ok(controller.endedByItself, controller.process.stdout);

      const { requests, writes } = controller.proxy;
      const release = writes.at(-1) ?? assert.fail('nothing was written');
      assert.equal(holderWritten(release), '', `the last write is the release, not ${release.method} ${release.path}`);
      assert.ok(deletes(controller).length < crowdSize, 'stopped in the middle');
      const others = writes.slice(0, -1);
      for (const { method, path, status, endedAtMs = Infinity } of others) {
        // An event may be given up when its time is over; nothing else may.
        if (path.includes('/events')) continue;
        assert.ok(status !== undefined && endedAtMs <= release.atMs, `${method} ${path} was still under way`);
      }
      const watches = requests.filter(({ path }) => path.includes('watch='));
      assert.ok(watches.length >= 3 && watches.every(({ endedAtMs = Infinity }) => endedAtMs <= release.atMs));
      const told = others.filter(({ method, path, body }) => {
        return method === 'POST' && path.includes('/events') && body.includes('stopped leading');
      });
      assert.equal(told.length, 1);
      const started = writes.filter(({ path, atMs }) => path.includes('/pods/') && atMs > stoppedAtMs + writeMs / 2);
      assert.deepEqual(started, [], 'nothing new was begun');
      const statuses = await readiness;
      assert.ok(statuses.includes(503), `never unready: ${statuses.join(' ')}`);
      assert.deepEqual(controller.noiseSince('stopping'), []);
    }),
);

test('SIGTERM while writes get no answer: it ends in time, and lets its lease run out', { timeout: 90_000 }, () =>
  underLoad(async (controller, world) => {
    controller.proxy.delayMs = ({ path }) => (path.includes('/pods/') ? 60_000 : 0);
    const before = deletes(controller).length;
    await until('writes under way', soonMs, async () => deletes(controller).length > before);
    controller.process.signal('SIGTERM');
    assert.equal(await exitWithin(controller, deadExitMsMax), 0);
    assert.ok(controller.endedByItself, controller.process.stdout);
    const holders = controller.proxy.writes.map(holderWritten).filter((holder) => holder !== undefined);
    assert.ok(!holders.includes(''), 'not given back: what is under way may still arrive');
    const lease = await world.api.get(
      'leases',
      { namespace: 'kube-system', name: 'node-lifecycle-controller' },
      { signal: AbortSignal.timeout(5_000) },
    );
    assert.ok(JSON.stringify(lease).includes(holders[0] ?? assert.fail('it never led')));
  }),
);

test('a second signal ends it at once, whatever is under way', { timeout: 60_000 }, () =>
  leading(async (controller) => {
    for (const check of ['/livez/leaderElection', '/readyz/shutdown'])
      assert.equal((await fetch(healthUrl(controller, check))).status, 200, check);
    controller.proxy.delayMs = () => 60_000;
    controller.process.signal('SIGTERM');
    await until('stopping', soonMs, async () => controller.said('stopping'));
    controller.process.signal('SIGTERM');
    assert.equal(await exitWithin(controller, 1_000), 1);
  }),
);
