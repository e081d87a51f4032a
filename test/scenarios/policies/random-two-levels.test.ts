// Random silences, recoveries and refused writes with zones of two levels: at both levels no window has more NoExecute taints
// than the rate allows, and in the end every silent node has its taint.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { outerZoneOf } from '../../../src/machinery/api/zone.ts';
import { aPolicy, inZone } from '../../support/builders.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

const rack = 'example.com/rack';
const nodes = names(9, 'a-');
const ratePerSecond = 0.1;
const zones = { failureDomain: [rack], outerFailureDomain: ['topology.kubernetes.io/zone'], settings: {} };
const policies = [aPolicy({ name: 'metal', selector: inZone('a'), zones })];
/** No zone is ever stopped. */
const options = {
  policies,
  nodeEvictionRate: ratePerSecond,
  unhealthyZoneThreshold: 1,
  controlPlanePathFailureHoldMs: 0,
};

const aNode = fc.constantFrom(...nodes);
const aStep = fc.oneof(
  fc.record({ silent: aNode }),
  fc.record({ silent: aNode }),
  fc.record({ back: aNode }),
  fc.record({
    refused: fc.constantFrom('conflict', 'forbidden', 'timeout', 'unavailable'),
    butDone: fc.constant(false),
  }),
  fc.record({ refused: fc.constantFrom('timeout', 'unavailable'), butDone: fc.constant(true) }),
  fc.record({ slowMs: fc.constantFrom(0, 15_000) }),
  fc.record({ advanceS: fc.integer({ min: 1, max: 40 }) }),
);
type Step = typeof aStep extends fc.Arbitrary<infer T> ? T : never;

class LevelsRun {
  readonly world = aZonedWorld({ a: nodes.length, b: 4 }, options);
  readonly silent = new Set<string>();
  /** By zone of either level: seconds at which a node got its NoExecute taint. */
  readonly taints = new Map<string, number[]>();
  #slowMs = 0;
  /** A write is carried out up to so long after its token was taken. */
  #latenessS = 0;

  constructor() {
    for (const [place, name] of nodes.entries())
      this.world.setLabels(name, { ...this.world.node(name).metadata.labels, [rack]: `r${place % 3}` });
    const before = new Set<string>();
    this.world.beforeWrite = async ({ name }) => {
      if (this.#slowMs > 0) await this.world.clock.sleep(this.#slowMs, new AbortController().signal);
      if (nodes.includes(name) && this.#isTainted(name)) before.add(name);
      else before.delete(name);
    };
    this.world.afterWrite = async ({ name }) => {
      if (nodes.includes(name) && this.#isTainted(name) && !before.has(name)) this.#note(name);
    };
  }

  #isTainted(name: string): boolean {
    return this.world.taints(name).some((taint) => taint.endsWith(':NoExecute'));
  }

  #note(name: string): void {
    const zone = `metal:a:r${nodes.indexOf(name) % 3}`;
    for (const level of [zone, outerZoneOf(zone) ?? ''])
      this.taints.set(level, [...(this.taints.get(level) ?? []), this.world.seconds()]);
  }

  async apply(step: Step): Promise<void> {
    const { world } = this;
    if ('silent' in step) {
      world.goSilent(step.silent);
      this.silent.add(step.silent);
    } else if ('back' in step) {
      world.recover(step.back);
      this.silent.delete(step.back);
    } else if ('refused' in step) world.failNext('patch', 'nodes', step.refused, 1, step.butDone);
    else if ('slowMs' in step) this.#slow(step.slowMs);
    else await world.advance(step.advanceS);
  }

  #slow(ms: number): void {
    this.#slowMs = ms;
    this.#latenessS = Math.max(this.#latenessS, ms / 1_000);
  }

  async end(): Promise<void> {
    this.#slowMs = 0;
    // A grace period, a write that hangs, a backoff, and one token after the other for the whole hall.
    await this.world.advance(50 + 30 + 30 + nodes.length / ratePerSecond);
    const tainted = nodes.filter((name) => this.#isTainted(name));
    assert.deepEqual(
      tainted,
      nodes.filter((name) => this.silent.has(name)),
    );
    for (const [zone, times] of this.taints) checkWindows(zone, times, this.#latenessS);
  }
}

function checkWindows(zone: string, times: readonly number[], latenessS: number): void {
  for (const [from, fromS] of times.entries())
    for (const [later, toS] of times.slice(from).entries())
      assert.ok(later + 1 <= ratePerSecond * (toS - fromS + latenessS) + 1.001, `${zone}: ${times.join(' ')}`);
}

test('random failures in zones of two levels', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(aStep, { maxLength: 25 }), async (steps) => {
      const run = new LevelsRun();
      await using _world = run.world.start();
      await run.world.advance(5);
      for (const step of steps) await run.apply(step);
      await run.end();
    }),
    { numRuns: 60 },
  );
});
