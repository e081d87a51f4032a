// Whatever happens: after each version every client shows what a computation from current state gives.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodePolicies } from '../../../src/policy/schema/decode-policies.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { DashboardWorld } from '../../support/dashboard-world.ts';
import type { DashboardMirror } from '../../support/dashboard-mirror.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

const nodes = [...names(16, 'a-'), ...names(6, 'b-')];
const anyNode = fc.constantFrom(...nodes);

const policies = decodePolicies([
  {
    name: 'edge',
    nodeSelector: { matchLabels: { 'topology.kubernetes.io/zone': 'b' } },
    limits: { maxUnhealthy: { count: 2 }, cooldown: '20s' },
    maintenance: { conditions: ['Maintenance'], maxDuration: '45s' },
  },
]);

type Step = (world: ControllerWorld) => void;

const steps: fc.Arbitrary<Step> = fc.oneof(
  anyNode.map(
    (name): Step =>
      (world) =>
        world.goSilent(name),
  ),
  anyNode.map(
    (name): Step =>
      (world) =>
        world.recover(name),
  ),
  anyNode.map(
    (name): Step =>
      (world) =>
        world.post(name, 'False'),
  ),
  anyNode.map(
    (name): Step =>
      (world) =>
        world.setCondition(name, 'Maintenance', 'True'),
  ),
  anyNode.map(
    (name): Step =>
      (world) =>
        world.setCondition(name, 'Maintenance', undefined),
  ),
  fc.tuple(anyNode, fc.constantFrom('true', undefined, '2026-01-02T03:06:00Z')).map(
    ([name, value]): Step =>
      (world) =>
        world.annotatePause(name, value),
  ),
  fc.tuple(anyNode, fc.integer({ min: 0, max: 5 }), fc.constantFrom(0, 30)).map(
    ([name, pod, seconds]): Step =>
      (world) => {
        const tolerations = [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: seconds }];
        world.addPod(`p${pod}`, name, tolerations);
      },
  ),
  fc.integer({ min: 0, max: 5 }).map(
    (pod): Step =>
      (world) =>
        world.removePod(`p${pod}`),
  ),
  fc.constant<Step>((world) => world.loseContact()),
  fc.constant<Step>((world) => world.restoreContact()),
  fc.boolean().map(
    (paused): Step =>
      (world) =>
        world.changeOptions({ paused }),
  ),
  fc.boolean().map(
    (permitted): Step =>
      (world) =>
        void (world.permitted = permitted),
  ),
);

/** What a mirror shows: states that follow from what is current, without expected times, which may be a little older. */
function assertCurrent(board: DashboardWorld, mirror: DashboardMirror): void {
  const { table } = board.keeper;
  for (const [name, cell] of mirror.nodes) {
    const current = table.compute(name);
    const shown = [cell.state, cell.since, cell.zone, cell.policy, cell.pods, cell.held, cell.next?.what];
    const expected = current && [
      current.state,
      current.since,
      current.zone,
      current.policy,
      current.pods,
      current.held,
      current.next?.what,
    ];
    assert.deepEqual(shown, expected, name);
  }
  assert.deepEqual([...mirror.nodes.keys()].toSorted(), [...board.world.nodes.keys()].toSorted());
}

test('every node is shown as a fresh computation gives, after each step of a random history', async () => {
  const seconds = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 40, max: 60 }));
  const history = fc.array(fc.tuple(steps, seconds), { minLength: 5, maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(history, async (all) => {
      await using world = aZonedWorld({ a: 16, b: 6 }, { policies });
      await using board = new DashboardWorld(world.start());
      const { mirror } = await board.connected();
      for (const [step, seconds] of all) {
        step(world);
        for (let second = 0; second <= seconds; second += 1) {
          await world.advance(1);
          // What happened since the last version is in the next one.
          await board.keeper.tick(new AbortController().signal);
          assertCurrent(board, mirror);
        }
      }
      assert.deepEqual(board.logger.at('error'), []);
    }),
    { numRuns: 40 },
  );
});

test('a signal of maintenance that is set again is shown with its new time in the next version', async () => {
  await using world = aZonedWorld({ a: 16, b: 6 }, { policies });
  await using board = new DashboardWorld(world.start());
  const { mirror } = await board.connected();
  for (const name of names(8, 'a-')) world.post(name, 'False');
  await world.advance(40);
  for (let second = 0; second < 40; second += 1) {
    // More often than all nodes are computed again.
    if (second % 3 === 0) world.setCondition('b-4', 'Maintenance', 'True');
    await world.advance(1);
    await board.keeper.tick(new AbortController().signal);
    assertCurrent(board, mirror);
  }
});
