// Random limits, failures, resets, restarts and moves between policies: no node is tainted and no pod is evicted while too
// many nodes are unhealthy, and in the end everything is done once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Taint } from '../../../src/machinery/api/taints.ts';
import type { PolicyLimits } from '../../../src/controller/model/policy.ts';
import { aPolicy } from '../../support/builders.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { settled } from '../../support/manual-clock.ts';
import { aZonedWorld } from '../../support/zoned-world.ts';

const nodes = ['a-0', 'a-1', 'a-2', 'a-3', 'b-0', 'b-1'];
const podOf = (node: string): string => `pod-${node}`;
const zoneKey = 'topology.kubernetes.io/zone';

const aNode = fc.constantFrom(...nodes);
const aStep = fc.oneof(
  fc.record({
    count: fc.constantFrom<number | undefined>(1, 2, 3, undefined),
    cooldownS: fc.constantFrom(1, 30, 90),
    reset: fc.constantFrom<number | undefined>(undefined, undefined, -20, 0, 20),
  }),
  fc.record({ advanceS: fc.integer({ min: 1, max: 70 }) }),
  fc.record({ silent: aNode }),
  fc.record({ unready: aNode }),
  fc.record({ back: aNode }),
  fc.record({ moved: aNode, zone: fc.constantFrom('a', 'b') }),
  fc.record({ restart: fc.constant(true) }),
  fc.record({ wallStepS: fc.constantFrom(-600, 600) }),
);
type Step = typeof aStep extends fc.Arbitrary<infer T> ? T : never;

// A breaker that opened at the moment of the reset, of nodes that are unhealthy since a later time: the clock was set back.
const openedAtReset: Step[] = [
  { unready: 'a-0' },
  { unready: 'a-1' },
  { count: 3, cooldownS: 30, reset: 0 },
  { wallStepS: -600 },
  { count: 1, cooldownS: 90, reset: 0 },
];

type Write = Parameters<ControllerWorld['beforeWrite']>[0];

/** Whether this write adds a NoExecute taint, or deletes a pod. */
function isEviction(world: ControllerWorld, { verb, resource, name, body }: Write): boolean {
  if (verb === 'delete') return true;
  const { taints } = (body as { readonly spec?: { readonly taints: readonly Taint[] | null } } | undefined)?.spec ?? {};
  if (resource !== 'nodes' || taints === undefined) return false;
  const carried = world.node(name).spec?.taints ?? [];
  return (taints ?? []).some(
    ({ key, effect }) => effect === 'NoExecute' && !carried.some((own) => own.key === key && own.effect === effect),
  );
}

/** How many more nodes than the limit are not Ready, from the state of the world alone; with a reset this is not known: 0. */
function excess(world: ControllerWorld): number {
  const limits = world.options.policies[0]?.limits;
  if (limits === undefined || limits.resetAtMs !== undefined) return 0;
  const pool = [...world.nodes.store.keys()].filter((node) => zoneOf(world, node) === 'a');
  return pool.filter((node) => world.ready(node) !== 'True').length - (limits.maxUnhealthy.count ?? 0);
}

function zoneOf(world: ControllerWorld, node: string): string | undefined {
  return world.node(node).metadata.labels?.[zoneKey];
}

function checkWrite(world: ControllerWorld, write: Write): void {
  const node = write.resource === 'nodes' ? write.name : write.name.replace('pod-', '');
  if (zoneOf(world, node) !== 'a' || !isEviction(world, write)) return;
  assert.ok(excess(world) <= 0, `${write.verb} ${write.resource} ${write.name}: ${excess(world)} above the limit`);
}

function limitsOf(world: ControllerWorld, step: Extract<Step, { cooldownS: number }>): PolicyLimits | undefined {
  if (step.count === undefined) return undefined;
  return {
    maxUnhealthy: { percent: undefined, count: step.count },
    cooldownMs: step.cooldownS * 1_000,
    resetAtMs: step.reset === undefined ? undefined : world.clock.nowMs() + step.reset * 1_000,
  };
}

async function apply(world: ControllerWorld, step: Step, failed: Map<string, string>): Promise<void> {
  if ('count' in step) world.changeOptions({ policies: [aPolicy({ limits: limitsOf(world, step) })] });
  else if ('advanceS' in step) await world.advance(step.advanceS);
  else if ('restart' in step) await world.restart();
  else if ('wallStepS' in step) world.clock.jumpWall(step.wallStepS * 1_000);
  else if ('moved' in step)
    world.setLabels(step.moved, { ...world.node(step.moved).metadata.labels, [zoneKey]: step.zone });
  else changeHealth(world, step, failed);
}

function changeHealth(
  world: ControllerWorld,
  step: Extract<Step, { silent: string } | { unready: string } | { back: string }>,
  failed: Map<string, string>,
): void {
  if ('silent' in step) {
    world.goSilent(step.silent);
    failed.set(step.silent, 'Unknown');
  } else if ('unready' in step) {
    world.post(step.unready, 'False');
    world.renewing(step.unready);
    failed.set(step.unready, 'False');
  } else {
    world.recover(step.back);
    failed.delete(step.back);
  }
}

for (const taintBasedEvictions of [true, false]) {
  test(`random limits, ${taintBasedEvictions ? 'taint' : 'eviction'} mode`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(aStep, { maxLength: 25 }), async (steps) => {
        const options = { taintBasedEvictions, podEvictionTimeoutMs: 20_000, nodeEvictionRate: 1 };
        const rates = { unhealthyZoneThreshold: 1, controlPlanePathFailureHoldMs: 0 };
        await using world = aZonedWorld({ a: 8, b: 8, c: 3 }, { ...options, ...rates });
        for (const node of nodes) world.addPod(podOf(node), node);
        const violations: string[] = [];
        world.beforeWrite = async (write) => {
          try {
            checkWrite(world, write);
          } catch (error) {
            violations.push(String(error));
          }
        };
        world.start();
        const failed = new Map<string, string>();
        for (const step of steps) {
          await apply(world, step, failed);
          // A change comes from a socket: never between the last check of a write and its first byte, which are one turn.
          await settled();
        }
        // Long enough for the cooldown; a limit that no failure exceeds closes the breaker without ending the policy.
        const open: PolicyLimits = {
          maxUnhealthy: { percent: undefined, count: 100 },
          cooldownMs: 30_000,
          resetAtMs: undefined,
        };
        world.changeOptions({ policies: [aPolicy({ limits: open })] });
        await world.advance(200);
        assert.deepEqual(violations, []);
        for (const node of nodes) {
          assert.equal(world.ready(node), failed.get(node) ?? 'True', node);
          if (!failed.has(node)) assert.deepEqual(world.taints(node), [], node);
          if (failed.has(node)) assert.ok(world.evicted().includes(podOf(node)), `${podOf(node)} was not evicted`);
        }
        assert.equal(new Set(world.evicted()).size, world.evicted().length, 'a pod was deleted twice');
      }),
      { numRuns: 40, examples: [[openedAtReset]] },
    );
  });
}
