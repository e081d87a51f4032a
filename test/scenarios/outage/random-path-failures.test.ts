// Random zones whose nodes renew at different intervals and have different grace periods: where the path to all of them fails,
// none is tainted and no pod is marked until the hold ends, which counts from the first silence. Nodes with short grace periods
// beside slow ones, which do not wait until those are overdue, are left out.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { aZone, RenewingNodes, stepS } from '../../support/renewing-nodes.ts';

/** All intervals have been observed. */
const warmUpS = 140;
const holdS = 300;

test('the path to all nodes of two zones of three fails: nothing is done about them for the hold, and then it is', async () => {
  await fc.assert(
    fc.asyncProperty(aZone, aZone, fc.nat(30), async (a, b, afterSteps) => {
      const nodes = new RenewingNodes({ a, b }, { c: 1 });
      const dead = nodes.names();
      await using world = nodes.world.start();
      for (const node of dead) world.addPod(`${node}-pod`, node);
      await nodes.renew({ forS: warmUpS + afterSteps * stepS });
      const slowestS = Math.max(...[...a, ...b].map(({ everyS }) => everyS));
      const shortestS = Math.min(...[...a, ...b].map(({ graceS }) => graceS));
      await nodes.renew({ forS: holdS + shortestS - slowestS - 5, dead });
      const patient = dead.filter((node) => !nodes.isHasty(node));
      const marked = patient.filter((node) => world.podReady(`${node}-pod`) === 'False');
      assert.deepEqual([world.tainted(patient), marked], [[], []]);
      await nodes.renew({ forS: 120, dead });
      assert.deepEqual([world.notReady(), world.decided('acts-held').length], [dead, 1]);
      assert.ok(world.tainted(dead).length > 0);
    }),
    { numRuns: 10 },
  );
});
