// Random failures, recoveries, policies, hands and restarts: no node is kept without a reason, beyond the budget, or beyond
// its time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { flappingAnnotation } from '../../../src/machinery/api/node.ts';
import { flappingTaintKey, type Taint } from '../../../src/machinery/api/taints.ts';
import type { FlappingRule, NodePolicy } from '../../../src/controller/model/policy.ts';
import { aPolicy } from '../../support/builders.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { aZonedWorld } from '../../support/zoned-world.ts';

const nodes = ['a-0', 'a-1', 'a-2', 'b-0'];
const second = 1_000;
const maxS = 240;
const budget = 2;
const rule: FlappingRule = {
  recoveries: 2,
  withinMs: 600 * second,
  initialMs: 60 * second,
  maxMs: maxS * second,
  budget: { percent: undefined, count: budget },
};

const aNode = fc.constantFrom(...nodes);
const aStep = fc.oneof(
  fc.record({ flaps: aNode }),
  fc.record({ flaps: aNode }),
  fc.record({ flaps: aNode }),
  fc.record({ down: aNode }),
  fc.record({ up: aNode }),
  fc.record({ advanceS: fc.integer({ min: 1, max: 120 }) }),
  fc.record({
    unannotated: aNode,
    value: fc.constantFrom(undefined, 'x', '{"level":1,"until":"2099-01-01T00:00:00Z"}'),
  }),
  fc.record({ untainted: aNode }),
  fc.record({ paused: aNode, value: fc.constantFrom('true', undefined) }),
  fc.record({ ruled: fc.boolean() }),
  fc.record({ refused: fc.constantFrom('conflict', 'timeout', 'unavailable'), butDone: fc.boolean() }),
  fc.record({ restart: fc.constant(true) }),
);
type Step = typeof aStep extends fc.Arbitrary<infer T> ? T : never;

function policiesOf(ruled: boolean): readonly NodePolicy[] {
  return [aPolicy({ flapping: ruled ? rule : undefined })];
}

function taintsOf(world: ControllerWorld, node: string): readonly Taint[] {
  return world.node(node).spec?.taints ?? [];
}

function isTainted(world: ControllerWorld, node: string): boolean {
  return taintsOf(world, node).some(({ key }) => key === flappingTaintKey);
}

function textOf(world: ControllerWorld, node: string): string | undefined {
  return world.node(node).metadata.annotations?.[flappingAnnotation];
}

class FlappingRun {
  readonly world = aZonedWorld({ a: 6, b: 6 }, { policies: policiesOf(true), nodeEvictionRate: 5 });
  readonly violations: string[] = [];
  /** Times that each node became Ready after it had a health taint. */
  readonly #recoveries = new Map<string, number>();
  readonly #handled = new Set<string>();

  constructor() {
    this.world.beforeWrite = async ({ resource, name, body }) => {
      if (resource === 'nodes') this.#check(name, body);
    };
    this.world.afterWrite = async ({ resource, name, body }) => {
      if (resource !== 'nodes') return;
      // Each write of taints has all of them: those that also write the annotation are about this one.
      const { metadata } = body as { readonly metadata?: { readonly annotations?: object } };
      if (flappingAnnotation in (metadata?.annotations ?? {})) this.#checkAfter(name);
    };
  }

  #check(name: string, body: unknown): void {
    const { spec, metadata } = body as {
      readonly spec?: { readonly taints?: readonly Taint[] | null };
      readonly metadata?: { readonly annotations?: Readonly<Record<string, string | null>> };
    };
    const text = metadata?.annotations?.[flappingAnnotation];
    if (typeof text !== 'string') return;
    if (spec?.taints?.some(({ key }) => key === flappingTaintKey) !== true) this.violations.push(`${name}: no taint`);
    if (this.world.ready(name) !== 'True') this.violations.push(`${name}: kept, and not Ready`);
    if (!name.startsWith('a')) this.violations.push(`${name}: has no rule`);
    if ((this.#recoveries.get(name) ?? 0) < 2) this.violations.push(`${name}: recovered once at most`);
  }

  #checkAfter(name: string): void {
    if (isTainted(this.world, name) !== (textOf(this.world, name) !== undefined))
      this.violations.push(`${name}: the taint and the annotation differ`);
    const kept = nodes.filter((node) => isTainted(this.world, node) && !this.#handled.has(node));
    if (kept.length > budget) this.violations.push(`${kept.join()}: more than the budget`);
  }

  async apply(step: Step): Promise<void> {
    const { world } = this;
    if ('flaps' in step) await this.#flap(step.flaps);
    else if ('down' in step) world.post(step.down, 'False');
    else if ('up' in step) this.#recover(step.up);
    else if ('advanceS' in step) await world.advance(step.advanceS);
    else if ('unannotated' in step) this.#annotate(step.unannotated, step.value);
    else if ('untainted' in step)
      world.setTaints(
        step.untainted,
        taintsOf(world, step.untainted).filter(({ key }) => key !== flappingTaintKey),
      );
    else if ('paused' in step) world.annotatePause(step.paused, step.value);
    else if ('ruled' in step) world.changeOptions({ policies: policiesOf(step.ruled) });
    else if ('refused' in step) world.failNext('patch', 'nodes', step.refused, 1, step.butDone);
    else await world.restart();
  }

  #annotate(node: string, value: string | undefined): void {
    if (value !== undefined) this.#handled.add(node);
    this.world.annotate(node, flappingAnnotation, value);
  }

  async #flap(node: string): Promise<void> {
    this.world.post(node, 'False');
    await this.world.advance(5);
    this.#recover(node);
    await this.world.advance(5);
  }

  #recover(node: string): void {
    if (this.world.ready(node) !== 'True' && taintsOf(this.world, node).length > 0)
      this.#recoveries.set(node, (this.#recoveries.get(node) ?? 0) + 1);
    this.world.post(node, 'True');
  }

  async end(): Promise<void> {
    for (const node of nodes) this.world.annotatePause(node, undefined);
    for (const node of nodes) this.#recover(node);
    await this.world.advance(maxS + 70);
    assert.deepEqual(this.violations, []);
    for (const node of nodes)
      assert.deepEqual([taintsOf(this.world, node), textOf(this.world, node)], [[], undefined], node);
    const before = this.world.writes.length;
    await this.world.advance(120);
    assert.equal(this.world.writes.length, before, 'a pass over an unchanged cluster writes nothing');
    assert.equal(this.world.lifecycle.stages.flapping.budget.size, 0);
  }
}

test('random flapping', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(aStep, { maxLength: 25 }), async (steps) => {
      const run = new FlappingRun();
      await using _world = run.world.start();
      for (const step of steps) await run.apply(step);
      await run.end();
    }),
    { numRuns: 40 },
  );
});
