// Who leads, writes; who does not, does not: two processes, one of them stopped in its tracks while it leads.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { holderWritten, ProxiedController } from '../support/proxied-controller.ts';
import { SmallWorld, taintsOf, until } from '../support/small-world.ts';

const leaseMs = 4_000;
const stoppedMs = 8_000;
const crowdSize = 60;
/** Slow enough that the stop hits the middle of the crowd, with answers on their way that it finds when it wakes. */
const markMs = 300;
const soonMs = 20_000;
const args = [
  '--node-monitor-grace-period=3s',
  '--node-monitor-period=1s',
  '--node-eviction-rate=10',
  '--leader-elect-lease-duration=4s',
  '--leader-elect-renew-deadline=3s',
  '--leader-elect-retry-period=500ms',
  '--kube-api-qps=50',
  '--kube-api-burst=50',
];

async function tell(story: (world: SmallWorld, start: (name: string) => Promise<ProxiedController>) => Promise<void>) {
  const folder = mkdtempSync(join(tmpdir(), 'nlc-leadership-'));
  const world = await SmallWorld.start({ nodes: { a0: 'a', a1: 'a', a2: 'a', b0: 'b', b1: 'b' } });
  const controllers: ProxiedController[] = [];
  const { url, caPem, adminToken } = world.server;
  try {
    await story(world, async (name) => {
      const controller = await ProxiedController.start({ url, ca: caPem, token: adminToken, folder, name, args });
      controllers.push(controller);
      return controller;
    });
  } finally {
    await Promise.all(controllers.map((controller) => controller.stop()));
    await world.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

test(
  'a leader that is stopped for longer than its lease, in the middle of its writes, writes nothing when it wakes',
  {
    timeout: 90_000,
  },
  () =>
    tell(async (world, start) => {
      const first = await start('first');
      await until('leading', soonMs, async () => first.said('leading'));
      const second = await start('second');
      await until('standing by', soonMs, async () => second.said('the leader changed'));
      const names = Array.from({ length: crowdSize }, (_, i) => `crowd-${i}`);
      await Promise.all(names.map((name) => world.addPod(name, 'a0', [{ operator: 'Exists' }])));
      await until('all running', soonMs, async () => (await world.pods()).every(({ ready }) => ready === 'True'));

      first.proxy.delayMs = ({ path }) => (path.includes('/pods/') ? markMs : 0);
      world.fleet.cutOff(['a0']);
      const marks = (): number => first.proxy.writes.filter(({ path }) => path.includes('/pods/crowd-')).length;
      await until('in the middle of the crowd', soonMs, async () => marks() >= 5);
      first.process.signal('SIGSTOP');
      await sleep(2 * markMs); // what was on the wire arrives
      assert.ok(marks() < crowdSize, 'in the middle');
      const writtenBefore = first.proxy.writes.length;
      await until('the second leads', leaseMs + 4_000, async () => second.said('leading'));
      await sleep(stoppedMs - leaseMs);
      assert.equal(first.proxy.writes.length, writtenBefore);

      first.process.signal('SIGCONT');
      const { code } = await first.process.exited;
      assert.equal(code, 1);
      assert.deepEqual(
        first.proxy.writes.slice(writtenBefore).map(({ method, path }) => `${method} ${path}`),
        [],
      );
      assert.ok(first.said('leadership was lost: ending, so that whoever starts next begins with a clear view'));
      assert.ok(first.endedByItself, first.process.stdout);

      await until('the crowd marked', soonMs, async () =>
        (await world.pods()).every(({ name, ready }) => !name.startsWith('crowd') || ready === 'False'),
      );
      await until('a0 tainted', soonMs, async () => taintsOf(await world.node('a0')).length === 2);
      assert.equal(second.process.hasEnded, false);
      const holders = new Set(second.proxy.writes.map(holderWritten).filter((holder) => holder !== undefined));
      assert.equal(holders.size, 1);
    }),
);
