// Random failures of nodes, requests and policies with evictReachable, podDeletionsPerSecond and maxConcurrentEvictions: a pod
// leaves only while its node is tainted, at the rate of its policy, no more nodes than the maximum are emptied at once, and in the end every pod that is due has left.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ApiError } from '../../../src/machinery/api/api-error.ts';
import type { NodePolicy } from '../../../src/controller/model/policy.ts';
import { aPolicy } from '../../support/builders.ts';
import { budgetError } from '../../support/budget.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

const nodes = names(5, 'a-');
const podsOf = (node: string): readonly string[] => names(4, `${node}-pod-`);
const timeoutMs = 60_000;
const rate = 0.5;

const aNode = fc.constantFrom(...nodes);
const someErrors = {
  budget: budgetError(),
  later: budgetError(300_000),
  forbidden: new ApiError({ reason: 'forbidden', message: 'no permission', code: 403 }),
  'not-served': new ApiError({ reason: 'not-found', message: 'no such path', code: 404 }),
  internal: new ApiError({ reason: 'internal', message: 'two budgets', code: 500 }),
  overloaded: new ApiError({ reason: 'too-many-requests', message: 'later', code: 429, retryAfterMs: 20_000 }),
  conflict: new ApiError({ reason: 'conflict', message: 'conflict', code: 409 }),
} as const;
const policyOf = {
  all: { evictReachable: { timeoutMs }, podDeletionsPerSecond: rate, maxConcurrentEvictions: 2 },
  slower: { evictReachable: { timeoutMs }, podDeletionsPerSecond: 0.1, maxConcurrentEvictions: 1 },
  rate: { podDeletionsPerSecond: rate },
  budgets: { evictReachable: { timeoutMs }, podDeletionsPerSecond: rate },
} as const;
const aStep = fc.oneof(
  fc.record({ bad: aNode }),
  fc.record({ bad: aNode }),
  fc.record({ silent: aNode }),
  fc.record({ back: aNode }),
  fc.record({ pause: aNode, on: fc.boolean() }),
  fc.record({ evictions: fc.constantFrom('allowed', 'hang', ...Object.keys(someErrors)) }),
  fc.record({ deletions: fc.constantFrom('allowed', 'hang', 'forbidden', 'overloaded') }),
  fc.record({
    refusedTaint: fc.constantFrom('conflict', 'forbidden', 'timeout', 'unavailable'),
    butDone: fc.boolean(),
  }),
  fc.record({ policy: fc.constantFrom(...Object.keys(policyOf)) }),
  fc.record({ restart: fc.constant(true) }),
  fc.record({ advanceS: fc.integer({ min: 1, max: 40 }) }),
  fc.record({ advanceS: fc.integer({ min: 1, max: 40 }) }),
);
type Step = typeof aStep extends fc.Arbitrary<infer T> ? T : never;

class EvictionsRun {
  readonly world = aZonedWorld(
    { a: nodes.length, b: 8 },
    {
      policies: [aPolicy(policyOf.all)],
      nodeEvictionRate: 1,
      unhealthyZoneThreshold: 1,
      controlPlanePathFailureHoldMs: 0,
    },
  );
  readonly down = new Set<string>();
  #end = new AbortController();
  readonly left: number[] = [];
  readonly gone = new Set<string>();
  #evictions = 'allowed';
  #deletions = 'allowed';
  #restarts = 0;
  /** By node that was not being emptied before a write: the places that were left. */
  readonly #places = new Map<string, number>();
  policy: keyof typeof policyOf = 'all';

  constructor() {
    const { world } = this;
    for (const node of nodes) for (const pod of podsOf(node)) world.addPod(pod, node);
    world.beforeWrite = async ({ verb, resource, name }) => {
      if (resource === 'nodes') this.#notePlaces(name);
      if (resource !== 'pods' || verb === 'patch') return;
      const mode = verb === 'evict' ? this.#evictions : this.#deletions;
      if (mode === 'hang') {
        await world.clock.sleep(30_000, this.#end.signal);
        throw new ApiError({ reason: 'timeout', message: 'no answer' });
      }
      const error = (someErrors as Record<string, ApiError>)[mode];
      if (error !== undefined) throw error;
    };
    world.afterWrite = async ({ verb, resource, name }) => {
      if (resource === 'nodes' && this.isEmptied(name))
        assert.ok((this.#places.get(name) ?? 1) > 0, `${name} is tainted without a place`);
      if (resource !== 'pods' || verb === 'patch') return;
      const node = name.slice(0, 3);
      this.left.push(world.seconds());
      this.gone.add(name);
      assert.ok(
        world.taints(node).some((taint) => taint.endsWith('NoExecute')),
        `${name} left`,
      );
      assert.ok(this.down.has(node), `${name} left although its node is back`);
    };
  }

  isEmptied(node: string): boolean {
    return (
      this.world.taints(node).some((taint) => taint.endsWith(':NoExecute')) &&
      podsOf(node).some((pod) => !this.gone.has(pod))
    );
  }

  #notePlaces(name: string): void {
    this.#places.delete(name);
    if (!nodes.includes(name) || this.isEmptied(name)) return;
    const others = nodes.filter((node) => node !== name && this.isEmptied(node)).length;
    const { maxConcurrentEvictions: max = Infinity }: Partial<NodePolicy> = policyOf[this.policy];
    this.#places.set(name, max - others);
  }

  async apply(step: Step): Promise<void> {
    const { world } = this;
    if ('bad' in step) {
      world.renewing(step.bad);
      world.post(step.bad, 'False');
      this.down.add(step.bad);
    } else if ('silent' in step) {
      world.goSilent(step.silent);
      this.down.add(step.silent);
    } else if ('back' in step) {
      world.recover(step.back);
      this.down.delete(step.back);
    } else if ('pause' in step) world.annotatePause(step.pause, step.on ? 'true' : undefined);
    else if ('evictions' in step) this.#evictions = step.evictions;
    else if ('deletions' in step) this.#deletions = step.deletions;
    else if ('refusedTaint' in step)
      world.failNext(
        'patch',
        'nodes',
        step.refusedTaint,
        1,
        step.butDone && ['timeout', 'unavailable'].includes(step.refusedTaint),
      );
    else if ('policy' in step) {
      this.policy = step.policy as keyof typeof policyOf;
      world.changeOptions({ policies: [aPolicy(policyOf[this.policy])] });
    } else if ('restart' in step) {
      this.#restarts += 1;
      this.#end.abort(); // a process that ends waits for its requests
      this.#end = new AbortController();
      await world.restart();
    } else await world.advance(step.advanceS);
  }

  async end(): Promise<void> {
    const { world } = this;
    if (this.#evictions === 'hang') this.#evictions = 'budget';
    this.#deletions = 'allowed';
    for (const node of nodes) world.annotatePause(node, undefined);
    await world.advance(50 + 60 + (timeoutMs / 1_000 + 60) * nodes.length + (4 * nodes.length) / 0.1);
    this.#end.abort();
    assert.deepEqual(world.decided('evaluation-failed'), []);
    const staying = nodes
      .filter((node) => this.down.has(node))
      .flatMap((node) => podsOf(node).filter((pod) => !this.gone.has(pod)));
    assert.deepEqual(staying, []);
    const times = [...this.left].sort((a, b) => a - b);
    for (const [from, fromS] of times.entries())
      for (const [later, toS] of times.slice(from).entries())
        assert.ok(later + 1 <= rate * (toS - fromS) + 1.001 + this.#restarts, times.join(' '));
  }
}

test('random failures with limits of evictions', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(aStep, { maxLength: 30 }), async (steps) => {
      const run = new EvictionsRun();
      await using _world = run.world.start();
      await run.world.advance(5);
      for (const step of steps) await run.apply(step);
      await run.end();
    }),
    { numRuns: 30 },
  );
});
