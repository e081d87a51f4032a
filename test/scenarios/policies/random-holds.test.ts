// Random modes, pauses and failures: nothing that is held is written, and in the end everything is done once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Taint } from '../../../src/machinery/api/taints.ts';
import { pauseAnnotation } from '../../../src/machinery/api/node.ts';
import type { PolicyMode } from '../../../src/controller/model/policy.ts';
import { aPolicy } from '../../support/builders.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { aZonedWorld } from '../../support/zoned-world.ts';

const nodes = ['a-0', 'a-1', 'b-0', 'b-1'];
const podOf = (node: string): string => `pod-${node}`;

const aNode = fc.constantFrom(...nodes);
const aStep = fc.oneof(
  fc.record({ mode: fc.constantFrom<PolicyMode | undefined>('Enforce', 'Observe', 'Paused', undefined) }),
  fc.record({ paused: fc.boolean() }),
  fc.record({ annotated: aNode, value: fc.constantFrom('true', 'typo', 'false', undefined) }),
  fc.record({ advanceS: fc.integer({ min: 1, max: 70 }) }),
  fc.record({ silent: aNode }),
  fc.record({ back: aNode }),
);
type Step = typeof aStep extends fc.Arbitrary<infer T> ? T : never;

type Write = Parameters<ControllerWorld['beforeWrite']>[0];

/** The strictest mode for this node, from the state of the world alone. */
function modeOf(world: ControllerWorld, node: string): PolicyMode {
  const [policy] = world.options.policies;
  if (node.startsWith('a') && policy?.mode === 'Observe') return 'Observe';
  const annotation = world.node(node).metadata.annotations?.[pauseAnnotation] ?? 'false';
  const isPaused =
    world.options.paused || annotation !== 'false' || (node.startsWith('a') && policy?.mode === 'Paused');
  return isPaused ? 'Paused' : 'Enforce';
}

/** Whether this write only removes taints of a node. */
function isRecovery(world: ControllerWorld, { resource, name, body }: Write): boolean {
  const { taints } = (body as { readonly spec?: { readonly taints: readonly Taint[] | null } } | undefined)?.spec ?? {};
  if (resource !== 'nodes' || taints === undefined) return false;
  const carried = world.node(name).spec?.taints ?? [];
  return (taints ?? []).every(({ key, effect }) => carried.some((own) => own.key === key && own.effect === effect));
}

function checkWrite(world: ControllerWorld, write: Write): void {
  const node = write.resource === 'nodes' ? write.name : write.name.replace('pod-', '');
  const mode = modeOf(world, node);
  const isAllowed = mode === 'Enforce' || (mode === 'Paused' && isRecovery(world, write));
  assert.ok(isAllowed, `${write.verb} ${write.resource} ${write.name} while ${node} has mode ${mode}`);
}

async function apply(world: ControllerWorld, step: Step, silent: Set<string>): Promise<void> {
  if ('mode' in step) world.changeOptions({ policies: step.mode === undefined ? [] : [aPolicy({ mode: step.mode })] });
  else if ('paused' in step) world.changeOptions({ paused: step.paused });
  else if ('annotated' in step) world.annotatePause(step.annotated, step.value);
  else if ('advanceS' in step) await world.advance(step.advanceS);
  else if ('silent' in step) {
    world.goSilent(step.silent);
    silent.add(step.silent);
  } else {
    world.recover(step.back);
    silent.delete(step.back);
  }
}

for (const taintBasedEvictions of [true, false]) {
  test(`random holds, ${taintBasedEvictions ? 'taint' : 'eviction'} mode`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(aStep, { maxLength: 25 }), async (steps) => {
        const options = { taintBasedEvictions, podEvictionTimeoutMs: 20_000, nodeEvictionRate: 1 };
        await using world = aZonedWorld({ a: 5, b: 5, c: 3 }, { ...options, controlPlanePathFailureHoldMs: 0 });
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
        const silent = new Set<string>();
        for (const step of steps) await apply(world, step, silent);
        world.changeOptions({ policies: [], paused: false });
        for (const node of nodes) world.annotatePause(node, undefined);
        await world.advance(150);
        assert.deepEqual(violations, []);
        for (const node of nodes) {
          assert.equal(world.ready(node), silent.has(node) ? 'Unknown' : 'True', node);
          if (!silent.has(node)) assert.deepEqual(world.taints(node), [], node);
          if (silent.has(node)) assert.ok(world.evicted().includes(podOf(node)), `${podOf(node)} was not evicted`);
        }
        assert.equal(new Set(world.evicted()).size, world.evicted().length, 'a pod was deleted twice');
      }),
      { numRuns: 40 },
    );
  });
}
