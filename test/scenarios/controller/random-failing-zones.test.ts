// Random zones whose nodes renew at different intervals and have different grace periods: where one node fails it is tainted
// within a bounded time, and where most nodes fail at the same moment none of them is.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { aZone, RenewingNodes, stepS } from '../../support/renewing-nodes.ts';

/** All intervals have been observed. */
const warmUpS = 140;
/** Passes come every 5 s, evidence is read once a second, and a step is 2 s. */
const slackS = 10;

test('one node fails: its NoExecute taint comes when its peers have sent a heartbeat since, and no later', async () => {
  await fc.assert(
    fc.asyncProperty(aZone, fc.nat(11), fc.nat(30), async (zone, which, afterSteps) => {
      const { everyS, graceS } = zone[which % zone.length] ?? { everyS: NaN, graceS: NaN };
      const nodes = new RenewingNodes({ a: zone }, { b: 5 });
      await using world = nodes.world.start();
      await nodes.renew({ forS: warmUpS + afterSteps * stepS });
      const dead = [`a-${which % zone.length}`];
      const isDone = (): boolean => world.tainted(dead).length > 0;
      const slowestS = Math.max(10, ...zone.map((node) => node.everyS));
      const boundS = Math.max(graceS, Math.min(1.2 * everyS, graceS) + slowestS) + slackS;
      await nodes.renew({ forS: boundS, dead, isDone });
      assert.ok(isDone(), `not tainted within ${boundS} s`);
      assert.deepEqual([world.notReady(), world.decided('acts-held')], [dead, []]);
    }),
    { numRuns: 18 },
  );
});

test('most nodes of a zone fail at the same moment: none is tainted NoExecute, as the zone is stopped', async () => {
  const aRestart = fc.constantFrom(0, 0, 4, 20, 50, 90, 150);
  const aGapMs = fc.constantFrom(0, 1, 30, 300);
  await fc.assert(
    fc.asyncProperty(
      aZone,
      fc.nat(11),
      fc.nat(30),
      aRestart,
      aGapMs,
      async (zone, more, afterSteps, restartsAfterS, gapMs) => {
        const least = Math.max(3, Math.ceil(zone.length * 0.55));
        const count = least + (more % (zone.length - least + 1));
        fc.pre(count < zone.length);
        const nodes = new RenewingNodes({ a: zone }, { b: 5 });
        await using world = nodes.world.start();
        await nodes.renew({ forS: warmUpS + afterSteps * stepS });
        const dead = nodes.names().slice(0, count);
        await nodes.renew({ forS: restartsAfterS, dead });
        assert.deepEqual(world.tainted(dead), []);
        if (restartsAfterS > 0) await world.restartFilling(gapMs);
        await nodes.renew({ forS: 260, dead });
        assert.deepEqual([world.notReady(), world.tainted(dead)], [dead, []]);
      },
    ),
    { numRuns: 18 },
  );
});
