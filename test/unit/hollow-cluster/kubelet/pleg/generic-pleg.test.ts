import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import type { Pod } from '../../../../../src/machinery/api/pod.ts';
import { PlegRun, makePod, RuntimeWorld, targetOf } from '../../../../support/runtime-world.ts';

const signal = new AbortController().signal;
const runs: PlegRun[] = [];

afterEach(() => Promise.all(runs.splice(0).map((run) => run.stop())));

function aRun(...options: ConstructorParameters<typeof PlegRun>): PlegRun {
  const run = new PlegRun(...options);
  runs.push(run);
  return run;
}

async function aPleg(
  options: ConstructorParameters<typeof PlegRun>[1] = {},
): Promise<{ readonly world: RuntimeWorld; readonly pleg: PlegRun }> {
  const world = new RuntimeWorld();
  const pleg = aRun(world, options);
  await world.clock.advance(0);
  return { world, pleg };
}

const uidOf = (pod: Pod): string => pod.metadata.uid ?? '';
const web = makePod('web');
const db = makePod('db');

describe('the generic pleg', () => {
  for (const mode of ['dirty', 'generic'] as const) {
    describe(`in ${mode} mode`, () => {
      it('sends an event for each state of a container within a second [E1]', async () => {
        const { world, pleg } = await aPleg({ mode });
        await world.clock.advance(500);
        await world.sync(web);
        await world.clock.advance(499);
        assert.deepEqual(pleg.types, []);
        await world.clock.advance(1);
        assert.deepEqual(pleg.types, ['ContainerStarted', 'ContainerStarted']);
        assert.equal(pleg.cache.get(uidOf(web)).containers.length, 2);
        world.host.exit(uidOf(web), 'c', 1);
        await world.clock.advance(1_000);
        assert.deepEqual(pleg.types.slice(2), ['ContainerDied']);
        const kill = world.runtime.killPod(targetOf(web), 30_000, signal);
        await world.clock.advance(1_000);
        await kill;
        world.runtime.pruneContainers(uidOf(web), 0);
        await world.clock.advance(1_000);
        assert.deepEqual(pleg.types.slice(3), ['ContainerDied', 'ContainerRemoved', 'ContainerRemoved']);
        assert.deepEqual(pleg.cache.get(uidOf(web)).containers, []);
      });

      it('misses a change that happens at the time of a relist until the next one', async () => {
        const { world, pleg } = await aPleg({ mode });
        await world.clock.advance(3_000);
        await world.sync(web);
        await world.clock.advance(999);
        assert.deepEqual(pleg.types, []);
        await world.clock.advance(1);
        assert.equal(pleg.types.length, 2);
      });

      it('sends no event for a created container, though the cache has it [E2]', async () => {
        const world = new RuntimeWorld({ script: { startMs: 5_000 } });
        const pleg = aRun(world, { mode });
        await world.clock.advance(500);
        const pass = world.sync(web);
        await world.clock.advance(1_000);
        // The sandbox runs; the container has not started.
        const found = pleg.sent.map(({ event }) => event.containerId);
        assert.deepEqual(found, ['web_ns_web-uid_0']);
        assert.equal(pleg.cache.get(uidOf(web)).containers[0]?.state, 'created');
        await world.clock.advance(5_000);
        await pass;
        assert.deepEqual(pleg.types, ['ContainerStarted', 'ContainerStarted']);
      });

      it('sends one event for changes while listing failed, and its relist time does not advance meanwhile [E3]', async () => {
        const { world, pleg } = await aPleg({ mode });
        await world.clock.advance(2_500);
        const relistedAtMs = pleg.pleg.relistedAtMs();
        world.host.faults.set({ listing: 'no answer' });
        await world.sync(web);
        await world.clock.advance(3_000);
        assert.equal(pleg.pleg.relistedAtMs(), relistedAtMs);
        assert.deepEqual(pleg.types, []);
        assert.equal(world.logger.lines.length, 3);
        world.host.faults.clear();
        await world.clock.advance(1_000);
        assert.deepEqual(pleg.types, ['ContainerStarted', 'ContainerStarted']);
        assert.equal(pleg.pleg.relistedAtMs(), (relistedAtMs ?? 0) + 4_000);
      });

      it('sends the events of a pod one relist later if its inspection failed, and those of other pods at once [E4]', async () => {
        const { world, pleg } = await aPleg({ mode });
        await world.clock.advance(500);
        world.host.faults.set({ inspection: { message: 'no response', uid: uidOf(web) } });
        await world.sync(web);
        await world.sync(db);
        await world.clock.advance(500);
        assert.deepEqual(new Set(pleg.sent.map(({ event }) => event.uid)), new Set([uidOf(db)]));
        assert.throws(() => pleg.cache.get(uidOf(web)), /no response/u);
        world.host.faults.clear();
        await world.clock.advance(1_000);
        const seen = pleg.sent.slice(2).map(({ event }) => [event.uid, event.type]);
        assert.deepEqual(seen, [
          [uidOf(web), 'ContainerStarted'],
          [uidOf(web), 'ContainerStarted'],
        ]);
        assert.equal(pleg.cache.get(uidOf(web)).containers.length, 2);
      });

      it('drops and counts events beyond the channel capacity of 1000, and the cache stays correct [E5]', async () => {
        const { world, pleg } = await aPleg({ mode, reading: false });
        await world.clock.advance(500);
        const pods = Array.from({ length: 600 }, (_, index) => makePod(`p${index}`));
        for (const pod of pods) await world.sync(pod);
        await world.clock.advance(1_000);
        assert.deepEqual([pleg.pleg.events.length, pleg.pleg.discarded], [1_000, 200]);
        for (const pod of pods) assert.equal(pleg.cache.get(uidOf(pod)).containers[0]?.state, 'running');
        await world.clock.advance(2_000);
        assert.equal(pleg.pleg.discarded, 200);
      });

      it('wakes a caller that waits for a newer status at the next relist [E6]', async () => {
        const { world, pleg } = await aPleg({ mode });
        await world.sync(web);
        await world.clock.advance(1_200);
        const askedAtMs = world.clock.monotonicMs();
        let answeredAtMs: number | undefined;
        const wait = pleg.cache.newerThan(uidOf(web), askedAtMs, signal).then((status) => {
          answeredAtMs = world.clock.monotonicMs();
          return status;
        });
        await world.clock.advance(799);
        assert.equal(answeredAtMs, undefined);
        await world.clock.advance(1);
        assert.equal(answeredAtMs, askedAtMs + 800);
        assert.equal((await wait).containers.length, 2);
        assert.equal(await pleg.cache.newerThan(uidOf(web), askedAtMs, signal), await wait);
      });

      it('returns at once for an unknown pod [E7]', async () => {
        const { world, pleg } = await aPleg({ mode });
        await world.clock.advance(1_500);
        const status = await pleg.cache.newerThan('unknown', world.clock.monotonicMs() - 501, signal);
        assert.deepEqual(status.containers, []);
      });

      it('keeps the address of a pod whose sandbox is gone [E8]', async () => {
        const { world, pleg } = await aPleg({ mode });
        await world.sync(web);
        await world.clock.advance(1_000);
        assert.deepEqual(pleg.cache.get(uidOf(web)).ips, ['10.128.0.1']);
        await world.runtime.killPod(targetOf(web), 30_000, signal);
        await world.clock.advance(1_000);
        assert.deepEqual(world.inspect(web).ips, []);
        assert.equal(pleg.cache.get(uidOf(web)).containers[0]?.state, 'exited');
        assert.deepEqual(pleg.cache.get(uidOf(web)).ips, ['10.128.0.1']);
      });

      it('sends an event for a removed container [E9]', async () => {
        const { world, pleg } = await aPleg({ mode });
        await world.sync(web);
        await world.clock.advance(1_000);
        world.host.exit(uidOf(web), 'c', 0);
        await world.clock.advance(1_000);
        world.runtime.pruneContainers(uidOf(web), 0);
        await world.clock.advance(1_000);
        assert.deepEqual(pleg.types.slice(2), ['ContainerDied', 'ContainerRemoved']);
      });

      it('is healthy up to three minutes after its last relist, and not after that [E10]', async () => {
        const world = new RuntimeWorld();
        const pleg = aRun(world, { mode });
        const startedAtMs = world.clock.monotonicMs();
        assert.equal(pleg.pleg.problem(startedAtMs), 'pleg has yet to be successful');
        await world.clock.advance(4_000);
        assert.equal(pleg.pleg.problem(world.clock.monotonicMs()), undefined);
        world.host.faults.set({ hangs: 'listing' });
        await world.clock.advance(180_000);
        assert.equal(pleg.pleg.relistedAtMs(), startedAtMs + 4_000);
        assert.equal(pleg.pleg.problem(startedAtMs + 4_000 + 180_000), undefined);
        const actual = pleg.pleg.problem(startedAtMs + 4_000 + 180_100);
        assert.equal(actual, 'pleg was last seen active 3m0.1s ago; threshold is 3m0s');
        assert.equal(
          pleg.pleg.problem(startedAtMs + 4_000 + 185_000),
          'pleg was last seen active 3m5s ago; threshold is 3m0s',
        );
        world.host.faults.clear();
        await world.clock.advance(0);
        assert.equal(pleg.pleg.problem(world.clock.monotonicMs()), undefined);
      });

      it('is not healthy if it hangs in an inspection', async () => {
        const { world, pleg } = await aPleg({ mode });
        await world.clock.advance(500);
        world.host.faults.set({ hangs: 'inspection' });
        await world.sync(web);
        await world.clock.advance(181_000);
        assert.match(pleg.pleg.problem(world.clock.monotonicMs()) ?? '', /last seen active 3m0\.5s ago/u);
        assert.deepEqual(pleg.types, []);
        world.host.faults.clear();
        await world.clock.advance(0);
        assert.deepEqual(pleg.types, ['ContainerStarted', 'ContainerStarted']);
        assert.notEqual(pleg.pleg.problem(world.clock.monotonicMs()), undefined);
        await world.clock.advance(1_000);
        assert.equal(pleg.pleg.problem(world.clock.monotonicMs()), undefined);
      });

      it('inspects a requested pod between two relists, without repeating its events', async () => {
        const { world, pleg } = await aPleg({ mode });
        await world.clock.advance(300);
        await world.sync(web);
        const syncedAtMs = world.clock.monotonicMs();
        assert.equal(pleg.pleg.request(uidOf(web)), true);
        await world.clock.advance(0);
        assert.deepEqual(pleg.types, ['ContainerStarted', 'ContainerStarted']);
        assert.equal(pleg.sent[0]?.atMs, syncedAtMs);
        assert.equal((await pleg.cache.newerThan(uidOf(web), syncedAtMs - 1, signal)).containers.length, 2);
        await world.clock.advance(2_000);
        assert.equal(pleg.sent.length, 2);
      });

      it('accepts at most 200 requests, and drops those that a relist has served', async () => {
        const world = new RuntimeWorld();
        const pleg = aRun(world, { mode, phaseMs: 5_000 });
        const taken = Array.from({ length: 201 }, (_, index) => pleg.pleg.request(`p${index}`));
        assert.deepEqual([taken.lastIndexOf(true), taken.at(-1)], [199, false]);
        await world.clock.advance(6_000);
        assert.deepEqual(pleg.types, []);
        assert.equal(pleg.pleg.request('again'), true);
      });

      it('sends PodSync for a requested reinspection without changes', async () => {
        const { world, pleg } = await aPleg({ mode });
        await world.sync(web);
        await world.clock.advance(1_200);
        pleg.pleg.reinspect(uidOf(web));
        await world.clock.advance(800);
        assert.deepEqual(pleg.types, ['ContainerStarted', 'ContainerStarted', 'PodSync']);
      });

      it('counts a second from the end of a relist, and keeps its phase', async () => {
        const world = new RuntimeWorld();
        const pleg = aRun(world, { mode, phaseMs: 250 });
        const startedAtMs = world.clock.monotonicMs();
        await world.clock.advance(3_600);
        assert.equal(pleg.pleg.relistedAtMs(), startedAtMs + 3_250);
        world.host.faults.set({ hangs: 'listing' });
        await world.clock.advance(10_000);
        world.host.faults.clear();
        await world.clock.advance(1_000);
        // The relist that hung had started on time; the next one ran a second after its end.
        assert.equal(pleg.pleg.relistedAtMs(), startedAtMs + 14_600);
      });
    });
  }

  it('skips the relists of an idle runtime: its relist time advances each second without calls or timers [E11]', async () => {
    const { world, pleg } = await aPleg();
    await world.sync(web);
    await world.clock.advance(2_500);
    const startedAtMs = pleg.pleg.relistedAtMs() ?? 0;
    let lists = 0;
    let inspections = 0;
    const { runtime } = world;
    const [list, inspect] = [runtime.listPods.bind(runtime), runtime.inspectPod.bind(runtime)];
    runtime.listPods = (signal) => {
      lists += 1;
      return list(signal);
    };
    runtime.inspectPod = (uid, signal) => {
      inspections += 1;
      return inspect(uid, signal);
    };
    for (let second = 1; second <= 3_600; second += 1) {
      world.clock.stall(1_000);
      assert.equal(pleg.pleg.relistedAtMs(), startedAtMs + second * 1_000);
      assert.equal(pleg.pleg.problem(world.clock.monotonicMs()), undefined);
    }
    await world.clock.advance(0);
    assert.deepEqual([lists, inspections], [0, 0]);
    world.host.exit(uidOf(web), 'c', 1);
    await world.clock.advance(500);
    assert.deepEqual([lists, inspections, pleg.types.at(-1)], [1, 1, 'ContainerDied']);
    assert.equal(pleg.sent.at(-1)?.atMs, startedAtMs + 3_601_000);
  });
});
