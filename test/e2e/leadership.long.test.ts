// Only the leader writes: two processes, one of them suspended while it leads.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { holderWritten } from '../support/proxied-controller.ts';
import { SmallWorld, taintsOf, until } from '../support/small-world.ts';

const leaseMs = 4_000;
const stoppedMs = 8_000;
const crowdSize = 60;
/** Slow enough that the suspension hits the middle of the crowd, with responses pending when it resumes. */
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

test('a leader that is suspended for longer than its lease, during its writes, writes nothing when it resumes', {
  timeout: 90_000,
}, async () => {
  await using world = await SmallWorld.start({ nodes: { a0: 'a', a1: 'a', a2: 'a', b0: 'b', b1: 'b' } });
  await using first = await world.proxied(args);
  await until('leading', soonMs, async () => first.said('leading'));
  await using second = await world.proxied(args);
  await until('standing by', soonMs, async () => second.said('the leader changed'));
  const names = Array.from({ length: crowdSize }, (_, i) => `crowd-${i}`);
  await Promise.all(names.map((name) => world.addPod(name, 'a0', [{ operator: 'Exists' }])));
  await until('all running', soonMs, async () => (await world.pods()).every(({ ready }) => ready === 'True'));

  first.proxy.delayMs = ({ path }) => (path.includes('/pods/') ? markMs : 0);
  world.fleet.cutOff(['a0']);
  const marks = (): number => first.proxy.writes.filter(({ path }) => path.includes('/pods/crowd-')).length;
  await until('in the middle of the crowd', soonMs, async () => marks() >= 5);
  first.process.signal('SIGSTOP');
  await sleep(2 * markMs); // pending requests arrive
  assert.ok(marks() < crowdSize, 'in the middle');
  const writtenBefore = first.proxy.writes.length;
  await until('the second leads', leaseMs + 4_000, async () => second.said('leading'));
  await sleep(stoppedMs - leaseMs);
  assert.equal(first.proxy.writes.length, writtenBefore);

  first.process.signal('SIGCONT');
  const { code } = await first.process.exited;
  assert.equal(code, 1);
  const seen = first.proxy.writes.slice(writtenBefore).map(({ method, path }) => `${method} ${path}`);
  assert.deepEqual(seen, []);
  assert.ok(first.said('leadership lost; exiting'));
  assert.ok(first.endedByItself, first.process.stdout);

  await until('the crowd marked', soonMs, async () =>
    (await world.pods()).every(({ name, ready }) => !name.startsWith('crowd') || ready === 'False'),
  );
  await until('a0 tainted', soonMs, async () => taintsOf(await world.node('a0')).length === 2);
  assert.equal(second.process.hasEnded, false);
  const holders = new Set(second.proxy.writes.map(holderWritten).filter((holder) => holder !== undefined));
  assert.equal(holders.size, 1);
});
