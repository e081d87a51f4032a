// Shutdown of a controller, as seen by the API server: under load, with a slow API, or with one that does not respond.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { holderWritten, type ProxiedController } from '../support/proxied-controller.ts';
import type { RecordedRequest } from '../support/recording-proxy.ts';
import { SmallWorld, until } from '../support/small-world.ts';

const soonMs = 20_000;
const crowdSize = 60;
const writeMs = 400;
const exitMsMax = 6_000;
/** Writes in flight 5 s, events half a second, and a margin for a loaded machine. */
const deadExitMsMax = 12_000;
const args = [
  '--node-monitor-grace-period=3s',
  '--node-monitor-period=1s',
  '--node-eviction-rate=10',
  '--kube-api-qps=50',
  '--kube-api-burst=50',
  // Fewer than the pending writes: some wait at shutdown.
  '--concurrent-writes=4',
  '--leader-elect-lease-duration=15s',
];

type Story = (controller: ProxiedController, world: SmallWorld) => Promise<void>;

async function leading(story: Story): Promise<void> {
  await using world = await SmallWorld.start({ nodes: { a0: 'a', a1: 'a', a2: 'a', b0: 'b' } });
  await using controller = await world.proxied(args);
  await until('leading', soonMs, async () => controller.said('leading'));
  await story(controller, world);
}

/** While a crowd is evicted from a silent node, every write of a pod slow. */
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

/** Status of `/readyz` over time, until the connection is refused. */
async function watchReadiness(controller: ProxiedController): Promise<readonly number[]> {
  const seen: number[] = [];
  for (;;) {
    const answer = await fetch(`http://${controller.process.address('health')}/readyz`).catch(() => undefined);
    if (answer === undefined) return seen;
    seen.push(answer.status);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test(
  'SIGTERM during evictions: not ready, responses awaited, events written, the lease released last',
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
        // An event may be dropped at its time limit; other writes may not.
        if (path.includes('/events')) continue;
        assert.ok(status !== undefined && endedAtMs <= release.atMs, `${method} ${path} was still in flight`);
      }
      const watches = requests.filter(({ path }) => path.includes('watch='));
      assert.ok(watches.length >= 3 && watches.every(({ endedAtMs = Infinity }) => endedAtMs <= release.atMs));
      const events = others.filter(({ method, path, body }) => {
        return method === 'POST' && path.includes('/events') && body.includes('stopped leading');
      });
      assert.equal(events.length, 1);
      const started = writes.filter(({ path, atMs }) => path.includes('/pods/') && atMs > stoppedAtMs + writeMs / 2);
      assert.deepEqual(started, [], 'no new write was started');
      const statuses = await readiness;
      assert.ok(statuses.includes(503), `never unready: ${statuses.join(' ')}`);
      assert.deepEqual(controller.noiseSince('stopping'), []);
    }),
);

test('SIGTERM while writes get no response: it exits in time, and lets its lease expire', { timeout: 90_000 }, () =>
  underLoad(async (controller, world) => {
    controller.proxy.delayMs = ({ path }) => (path.includes('/pods/') ? 60_000 : 0);
    const before = deletes(controller).length;
    await until('writes in flight', soonMs, async () => deletes(controller).length > before);
    controller.process.signal('SIGTERM');
    assert.equal(await exitWithin(controller, deadExitMsMax), 0);
    assert.ok(controller.endedByItself, controller.process.stdout);
    const holders = controller.proxy.writes.map(holderWritten).filter((holder) => holder !== undefined);
    assert.ok(!holders.includes(''), 'not released: writes in flight may still arrive');
    const lease = await world.api.get(
      'leases',
      { namespace: 'kube-system', name: 'node-lifecycle-controller' },
      { signal: AbortSignal.timeout(5_000) },
    );
    assert.ok(JSON.stringify(lease).includes(holders[0] ?? assert.fail('it never led')));
  }),
);

test(
  'deletions rejected with Retry-After: 60 do not block other writes, and SIGTERM ends in time',
  {
    timeout: 90_000,
  },
  () =>
    underLoad(async (controller, world) => {
      controller.proxy.delayMs = () => 0;
      controller.proxy.rejectForSeconds = ({ method }) => (method === 'DELETE' ? 60 : undefined);
      const rejected = (): number => deletes(controller).filter(({ status }) => status === 429).length;
      // More than there are write slots.
      await until('deletions are rejected', soonMs, async () => rejected() >= 8);
      world.fleet.cutOff(['b0']);
      const marked = ({ method, path, body, status = 0 }: RecordedRequest): boolean =>
        method === 'PATCH' && path.includes('/nodes/b0/status') && body.includes('Unknown') && status < 300;
      await until('b0 is Unknown', soonMs, async () => controller.proxy.writes.some(marked));
      controller.process.signal('SIGTERM');
      assert.equal(await exitWithin(controller, exitMsMax), 0);
      assert.ok(controller.endedByItself, controller.process.stdout);
      const holders = controller.proxy.writes.map(holderWritten).filter((holder) => holder !== undefined);
      assert.equal(holders.at(-1), '', 'the lease was released');
    }),
);

test('a second signal ends it at once, whatever is in flight', { timeout: 60_000 }, () =>
  leading(async (controller) => {
    for (const check of ['/livez/leaderElection', '/readyz/shutdown'])
      assert.equal((await fetch(`http://${controller.process.address('health')}${check}`)).status, 200, check);
    controller.proxy.delayMs = () => 60_000;
    controller.process.signal('SIGTERM');
    await until('stopping', soonMs, async () => controller.said('stopping'));
    controller.process.signal('SIGTERM');
    assert.equal(await exitWithin(controller, 1_000), 1);
  }),
);
