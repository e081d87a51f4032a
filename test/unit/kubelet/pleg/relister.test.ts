import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../../src/api/pod.ts';
import { Looking, makePod, RuntimeWorld, targetOf } from '../../../support/runtime-world.ts';

const signal = new AbortController().signal;

async function aLook(
  options: ConstructorParameters<typeof Looking>[1] = {},
): Promise<{ readonly world: RuntimeWorld; readonly look: Looking }> {
  const world = new RuntimeWorld();
  const look = new Looking(world, options);
  await world.clock.advance(0);
  return { world, look };
}

const uidOf = (pod: Pod): string => pod.metadata.uid ?? '';
const web = makePod('web');
const db = makePod('db');

describe('the relister', () => {
  for (const mode of ['dirty', 'generic'] as const) {
    describe(`in ${mode} mode`, () => {
      it('tells of each step of a container within a second [E1]', async () => {
        const { world, look } = await aLook({ mode });
        await world.clock.advance(500);
        await world.sync(web);
        await world.clock.advance(499);
        assert.deepEqual(look.types, []);
        await world.clock.advance(1);
        assert.deepEqual(look.types, ['ContainerStarted', 'ContainerStarted']);
        assert.equal(look.cache.get(uidOf(web)).containers.length, 2);
        world.host.exit(uidOf(web), 'c', 1);
        await world.clock.advance(1_000);
        assert.deepEqual(look.types.slice(2), ['ContainerDied']);
        const kill = world.runtime.killPod(targetOf(web), 30_000, signal);
        await world.clock.advance(1_000);
        await kill;
        world.runtime.pruneContainers(uidOf(web), 0);
        await world.clock.advance(1_000);
        assert.deepEqual(look.types.slice(3), ['ContainerDied', 'ContainerRemoved', 'ContainerRemoved']);
        assert.deepEqual(look.cache.get(uidOf(web)).containers, []);
        await look.stop();
      });

      it('has looked already when something happens at the very moment of a relist', async () => {
        const { world, look } = await aLook({ mode });
        await world.clock.advance(3_000);
        await world.sync(web);
        await world.clock.advance(999);
        assert.deepEqual(look.types, []);
        await world.clock.advance(1);
        assert.equal(look.types.length, 2);
        await look.stop();
      });

      it('says nothing of a container that is created, though the cache has it [E2]', async () => {
        const world = new RuntimeWorld({ script: { startMs: 5_000 } });
        const look = new Looking(world, { mode });
        await world.clock.advance(500);
        const pass = world.sync(web);
        await world.clock.advance(1_000);
        // The sandbox runs; the container has not started.
        assert.deepEqual(
          look.told.map(({ event }) => event.containerId),
          ['web_ns_web-uid_0'],
        );
        assert.equal(look.cache.get(uidOf(web)).containers[0]?.state, 'created');
        await world.clock.advance(5_000);
        await pass;
        assert.deepEqual(look.types, ['ContainerStarted', 'ContainerStarted']);
        await look.stop();
      });

      it('tells once of what happened while listing failed, and its time stands still meanwhile [E3]', async () => {
        const { world, look } = await aLook({ mode });
        await world.clock.advance(2_500);
        const relistedAtMs = look.relister.relistedAtMs();
        world.host.faults.set({ listing: 'no answer' });
        await world.sync(web);
        await world.clock.advance(3_000);
        assert.equal(look.relister.relistedAtMs(), relistedAtMs);
        assert.deepEqual(look.types, []);
        assert.equal(world.logger.lines.length, 3);
        world.host.faults.clear();
        await world.clock.advance(1_000);
        assert.deepEqual(look.types, ['ContainerStarted', 'ContainerStarted']);
        assert.equal(look.relister.relistedAtMs(), (relistedAtMs ?? 0) + 4_000);
        await look.stop();
      });

      it('tells a round later of a pod that could not be inspected, and of others at once [E4]', async () => {
        const { world, look } = await aLook({ mode });
        await world.clock.advance(500);
        world.host.faults.set({ inspection: { message: 'no answer', uid: uidOf(web) } });
        await world.sync(web);
        await world.sync(db);
        await world.clock.advance(500);
        assert.deepEqual(new Set(look.told.map(({ event }) => event.uid)), new Set([uidOf(db)]));
        assert.throws(() => look.cache.get(uidOf(web)), /no answer/u);
        world.host.faults.clear();
        await world.clock.advance(1_000);
        assert.deepEqual(
          look.told.slice(2).map(({ event }) => [event.uid, event.type]),
          [
            [uidOf(web), 'ContainerStarted'],
            [uidOf(web), 'ContainerStarted'],
          ],
        );
        assert.equal(look.cache.get(uidOf(web)).containers.length, 2);
        await look.stop();
      });

      it('drops what nobody reads beyond a thousand, counts it, and the cache is right all the same [E5]', async () => {
        const { world, look } = await aLook({ mode, reading: false });
        await world.clock.advance(500);
        const pods = Array.from({ length: 600 }, (_, index) => makePod(`p${index}`));
        for (const pod of pods) await world.sync(pod);
        await world.clock.advance(1_000);
        assert.equal(look.relister.events.length, 1_000);
        assert.equal(look.relister.discarded, 200);
        for (const pod of pods) assert.equal(look.cache.get(uidOf(pod)).containers[0]?.state, 'running');
        await world.clock.advance(2_000);
        assert.equal(look.relister.discarded, 200);
        await look.stop();
      });

      it('answers who wants something newer at its next relist [E6]', async () => {
        const { world, look } = await aLook({ mode });
        await world.sync(web);
        await world.clock.advance(1_200);
        const askedAtMs = world.clock.monotonicMs();
        let answeredAtMs: number | undefined;
        const wait = look.cache.newerThan(uidOf(web), askedAtMs, signal).then((status) => {
          answeredAtMs = world.clock.monotonicMs();
          return status;
        });
        await world.clock.advance(799);
        assert.equal(answeredAtMs, undefined);
        await world.clock.advance(1);
        assert.equal(answeredAtMs, askedAtMs + 800);
        assert.equal((await wait).containers.length, 2);
        assert.equal(await look.cache.newerThan(uidOf(web), askedAtMs, signal), await wait);
        await look.stop();
      });

      it('answers at once for a pod nobody knows [E7]', async () => {
        const { world, look } = await aLook({ mode });
        await world.clock.advance(1_500);
        const status = await look.cache.newerThan('nobody', world.clock.monotonicMs() - 501, signal);
        assert.deepEqual(status.containers, []);
        await look.stop();
      });

      it('keeps the address of a pod whose sandbox is gone [E8]', async () => {
        const { world, look } = await aLook({ mode });
        await world.sync(web);
        await world.clock.advance(1_000);
        assert.deepEqual(look.cache.get(uidOf(web)).ips, ['10.128.0.1']);
        await world.runtime.killPod(targetOf(web), 30_000, signal);
        await world.clock.advance(1_000);
        assert.deepEqual(world.inspect(web).ips, []);
        assert.equal(look.cache.get(uidOf(web)).containers[0]?.state, 'exited');
        assert.deepEqual(look.cache.get(uidOf(web)).ips, ['10.128.0.1']);
        await look.stop();
      });

      it('tells that a container was removed [E9]', async () => {
        const { world, look } = await aLook({ mode });
        await world.sync(web);
        await world.clock.advance(1_000);
        world.host.exit(uidOf(web), 'c', 0);
        await world.clock.advance(1_000);
        world.runtime.pruneContainers(uidOf(web), 0);
        await world.clock.advance(1_000);
        assert.deepEqual(look.types.slice(2), ['ContainerDied', 'ContainerRemoved']);
        await look.stop();
      });

      it('is healthy while its last relist is three minutes old, and not when it is older [E10]', async () => {
        const world = new RuntimeWorld();
        const look = new Looking(world, { mode });
        const startedAtMs = world.clock.monotonicMs();
        assert.equal(look.relister.problem(startedAtMs), 'pleg has yet to be successful');
        await world.clock.advance(4_000);
        assert.equal(look.relister.problem(world.clock.monotonicMs()), undefined);
        world.host.faults.set({ hangs: 'listing' });
        await world.clock.advance(180_000);
        assert.equal(look.relister.relistedAtMs(), startedAtMs + 4_000);
        assert.equal(look.relister.problem(startedAtMs + 4_000 + 180_000), undefined);
        assert.equal(
          look.relister.problem(startedAtMs + 4_000 + 180_100),
          'pleg was last seen active 3m0.1s ago; threshold is 3m0s',
        );
        assert.equal(
          look.relister.problem(startedAtMs + 4_000 + 185_000),
          'pleg was last seen active 3m5s ago; threshold is 3m0s',
        );
        world.host.faults.clear();
        await world.clock.advance(0);
        assert.equal(look.relister.problem(world.clock.monotonicMs()), undefined);
        await look.stop();
      });

      it('is not healthy either when it hangs in an inspection', async () => {
        const { world, look } = await aLook({ mode });
        await world.clock.advance(500);
        world.host.faults.set({ hangs: 'inspection' });
        await world.sync(web);
        await world.clock.advance(181_000);
        assert.match(look.relister.problem(world.clock.monotonicMs()) ?? '', /last seen active 3m0\.5s ago/u);
        assert.deepEqual(look.types, []);
        world.host.faults.clear();
        await world.clock.advance(0);
        assert.deepEqual(look.types, ['ContainerStarted', 'ContainerStarted']);
        assert.notEqual(look.relister.problem(world.clock.monotonicMs()), undefined);
        await world.clock.advance(1_000);
        assert.equal(look.relister.problem(world.clock.monotonicMs()), undefined);
        await look.stop();
      });

      it('looks at a pod between two relists when it is asked to, and does not tell twice', async () => {
        const { world, look } = await aLook({ mode });
        await world.clock.advance(300);
        await world.sync(web);
        const syncedAtMs = world.clock.monotonicMs();
        assert.equal(look.relister.request(uidOf(web)), true);
        await world.clock.advance(0);
        assert.deepEqual(look.types, ['ContainerStarted', 'ContainerStarted']);
        assert.equal(look.told[0]?.atMs, syncedAtMs);
        assert.equal((await look.cache.newerThan(uidOf(web), syncedAtMs - 1, signal)).containers.length, 2);
        await world.clock.advance(2_000);
        assert.equal(look.told.length, 2);
        await look.stop();
      });

      it('takes no more than two hundred requests, and drops those that a relist has served', async () => {
        const world = new RuntimeWorld();
        const look = new Looking(world, { mode, phaseMs: 5_000 });
        const taken = Array.from({ length: 201 }, (_, index) => look.relister.request(`p${index}`));
        assert.deepEqual([taken.lastIndexOf(true), taken.at(-1)], [199, false]);
        await world.clock.advance(6_000);
        assert.deepEqual(look.types, []);
        assert.equal(look.relister.request('again'), true);
        await look.stop();
      });

      it('tells of a pod that was asked for though nothing happened to it', async () => {
        const { world, look } = await aLook({ mode });
        await world.sync(web);
        await world.clock.advance(1_200);
        look.relister.reinspect(uidOf(web));
        await world.clock.advance(800);
        assert.deepEqual(look.types, ['ContainerStarted', 'ContainerStarted', 'PodSync']);
        await look.stop();
      });

      it('counts a second from the end of a relist, and keeps its phase', async () => {
        const world = new RuntimeWorld();
        const look = new Looking(world, { mode, phaseMs: 250 });
        const startedAtMs = world.clock.monotonicMs();
        await world.clock.advance(3_600);
        assert.equal(look.relister.relistedAtMs(), startedAtMs + 3_250);
        world.host.faults.set({ hangs: 'listing' });
        await world.clock.advance(10_000);
        world.host.faults.clear();
        await world.clock.advance(1_000);
        // The relist that hung had begun at its time; the next came a second after it ended.
        assert.equal(look.relister.relistedAtMs(), startedAtMs + 14_600);
        await look.stop();
      });
    });
  }

  it('of an idle runtime it only thinks: its time goes on each second, and it neither looks nor wakes [E11]', async () => {
    const { world, look } = await aLook();
    await world.sync(web);
    await world.clock.advance(2_500);
    const startedAtMs = look.relister.relistedAtMs() ?? 0;
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
      assert.equal(look.relister.relistedAtMs(), startedAtMs + second * 1_000);
      assert.equal(look.relister.problem(world.clock.monotonicMs()), undefined);
    }
    await world.clock.advance(0);
    assert.deepEqual([lists, inspections], [0, 0]);
    world.host.exit(uidOf(web), 'c', 1);
    await world.clock.advance(500);
    assert.deepEqual([lists, inspections, look.types.at(-1)], [1, 1, 'ContainerDied']);
    assert.equal(look.told.at(-1)?.atMs, startedAtMs + 3_601_000);
    await look.stop();
  });
});
