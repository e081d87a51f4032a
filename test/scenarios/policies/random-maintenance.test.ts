// Random maintenance, failures, policies and restarts: nothing is done for the health of a node during its maintenance,
// every hold ends by itself, and in the end everything is done once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Taint } from '../../../src/machinery/api/taints.ts';
import { parseTimestamp } from '../../../src/machinery/api/timestamps.ts';
import { aPolicy } from '../../support/builders.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { aZonedWorld } from '../../support/zoned-world.ts';

const nodes = ['a-0', 'a-1', 'b-0', 'b-1'];
const podOf = (node: string): string => `pod-${node}`;
/** What Drained means depends on whether the node is alive. */
const signals = ['MaintenanceInProgress', 'Rebooting'];
const foreignKey = 'example.com/drain';

const aNode = fc.constantFrom(...nodes);
const aStep = fc.oneof(
  fc.record({ maxS: fc.constantFrom(undefined, 30, 200) }),
  fc.record({
    signalled: aNode,
    type: fc.constantFrom(...signals),
    status: fc.constantFrom('True', 'False', undefined),
    dated: fc.boolean(),
  }),
  fc.record({ drained: aNode }),
  fc.record({ advanceS: fc.integer({ min: 1, max: 90 }) }),
  fc.record({ silent: aNode }),
  fc.record({ silent: aNode }),
  fc.record({ back: aNode }),
  fc.record({ restart: fc.constant(true) }),
);
type Step = typeof aStep extends fc.Arbitrary<infer T> ? T : never;
type Write = Parameters<ControllerWorld['beforeWrite']>[0];

/** Certainly in maintenance, from the state of the world alone: by a signal with a time. */
function isInMaintenance(world: ControllerWorld, node: string): boolean {
  const maxMs = node.startsWith('a') ? world.options.policies[0]?.maintenance?.maxDurationMs : undefined;
  if (maxMs === undefined) return false;
  return (world.node(node).status?.conditions ?? []).some(({ type, status, lastTransitionTime }) => {
    const sinceMs = parseTimestamp(lastTransitionTime) ?? -Infinity;
    return signals.includes(type) && status === 'True' && world.clock.nowMs() < sinceMs + maxMs;
  });
}

function taintsOf(world: ControllerWorld, node: string): readonly Taint[] {
  return world.node(node).spec?.taints ?? [];
}

/** Undefined: allowed. */
function violation(world: ControllerWorld, { verb, resource, name, body }: Write): string | undefined {
  const node = resource === 'nodes' ? name : name.replace('pod-', '');
  if (!isInMaintenance(world, node)) return undefined;
  const { taints } =
    (body as { readonly spec?: { readonly taints?: readonly Taint[] | null } } | undefined)?.spec ?? {};
  const added = (taints ?? []).filter(
    ({ key, effect }) => !taintsOf(world, node).some((own) => own.key === key && own.effect === effect),
  );
  const isTainted = added.some(({ effect }) => effect === 'NoExecute');
  const isEvicted = verb === 'delete' && !taintsOf(world, node).some(({ key }) => key === foreignKey);
  return isTainted || isEvicted ? `${verb} ${resource} ${name} during maintenance` : undefined;
}

async function apply(world: ControllerWorld, step: Step, silent: Set<string>): Promise<void> {
  if ('maxS' in step) {
    const maintenance = { conditions: signals, taints: [], maxDurationMs: (step.maxS ?? 0) * 1_000 };
    world.changeOptions({ policies: step.maxS === undefined ? [] : [aPolicy({ maintenance })] });
  } else if ('signalled' in step)
    world.setCondition(step.signalled, step.type, step.status, step.dated ? undefined : null);
  else if ('drained' in step)
    world.setTaints(step.drained, [...taintsOf(world, step.drained), { key: foreignKey, effect: 'NoExecute' }]);
  else if ('advanceS' in step) await world.advance(step.advanceS);
  else if ('silent' in step) {
    world.goSilent(step.silent);
    silent.add(step.silent);
  } else if ('back' in step) {
    world.recover(step.back);
    silent.delete(step.back);
  } else await world.restart();
}

function checkEnd(world: ControllerWorld, silent: ReadonlySet<string>): void {
  for (const node of nodes) {
    const health = taintsOf(world, node).filter(({ key }) => key !== foreignKey);
    assert.equal(world.ready(node), silent.has(node) ? 'Unknown' : 'True', node);
    if (silent.has(node)) assert.ok(world.evicted().includes(podOf(node)), `${podOf(node)} was not evicted`);
    else assert.deepEqual(health, [], node);
  }
  assert.equal(new Set(world.evicted()).size, world.evicted().length, 'a pod was deleted twice');
  assert.equal(world.lifecycle.stages.policies.maintenance.size, 0);
}

for (const taintBasedEvictions of [true, false]) {
  test(`random maintenance, ${taintBasedEvictions ? 'taint' : 'eviction'} mode`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(aStep, { maxLength: 25 }), async (steps) => {
        const options = { taintBasedEvictions, podEvictionTimeoutMs: 20_000, nodeEvictionRate: 1 };
        await using world = aZonedWorld({ a: 5, b: 5, c: 3 }, { ...options, controlPlanePathFailureHoldMs: 0 });
        for (const node of nodes) world.addPod(podOf(node), node);
        const violations: string[] = [];
        world.beforeWrite = async (write) => {
          violations.push(...[violation(world, write) ?? []].flat());
        };
        world.start();
        const silent = new Set<string>();
        for (const step of steps) await apply(world, step, silent);
        // The longest maximum, and the time that an eviction takes: nothing else ends a maintenance.
        await world.advance(200 + 150);
        assert.deepEqual(violations, []);
        checkEnd(world, silent);
      }),
      { numRuns: 40 },
    );
  });
}
