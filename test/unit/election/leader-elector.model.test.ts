/** Contenders under delays, pauses, cuts, crashes and a deleted lease: never two that may write, on one common clock. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { jitterFactor } from '../../../src/election/election-options.ts';
import { LeaderElector } from '../../../src/election/leader-elector.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import { LeaseLink, LeaseServer } from '../../support/lease-server.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { KeepingLogger, KeepingMeter, SeededRandom } from '../../support/quiet.ts';

const leaseDurationMs = 15_000;
const retryMsMax = 2_000 * (1 + jitterFactor);
const tickMs = 250;
const deletionsApartMs = 60_000;

/** A clock whose sleepers do not wake while their process is suspended. Its time goes on. */
class SuspendableClock implements Clock {
  readonly #clock: ManualClock;
  readonly #waiting = new Set<() => void>();
  #suspended = false;

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  nowMs(): number {
    return this.#clock.nowMs();
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs();
  }

  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    await this.#clock.sleep(ms, signal);
    await this.resumed();
  }

  suspend(): void {
    this.#suspended = true;
  }

  resume(): void {
    this.#suspended = false;
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  async resumed(): Promise<void> {
    while (this.#suspended) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }
}

class Process {
  readonly clock: SuspendableClock;
  readonly link: LeaseLink;
  readonly elector: LeaderElector;
  readonly #stop = new AbortController();
  outcome: 'running' | 'stopped' | 'lost' = 'running';
  readonly ended: Promise<void>;

  constructor(identity: string, world: World) {
    this.clock = new SuspendableClock(world.clock);
    this.link = new LeaseLink(world.server, world.clock);
    this.link.resumed = () => this.clock.resumed();
    this.elector = new LeaderElector({
      api: this.link,
      clock: this.clock,
      random: world.random,
      logger: new KeepingLogger(),
      meter: new KeepingMeter(),
      identity,
      namespace: 'kube-system',
      name: 'nlc',
    });
    this.ended = this.#run();
  }

  async #run(): Promise<void> {
    this.outcome = await this.elector.run(this.#stop.signal, async (leading) => {
      // Work that takes a while to end, and then ends.
      await this.clock.sleep(Number.POSITIVE_INFINITY, leading);
      await this.clock.sleep(1_500, new AbortController().signal);
    });
  }

  terminate(): void {
    this.#stop.abort();
  }
}

class World {
  readonly clock = new ManualClock();
  readonly server = new LeaseServer(this.clock);
  readonly random: SeededRandom;
  readonly processes: Process[] = [];
  readonly #crashed: Process[] = [];
  #deletedAtMs = Number.NEGATIVE_INFINITY;
  #born = 0;

  constructor(seed: number, contenders: number) {
    this.random = new SeededRandom(seed);
    for (let slot = 0; slot < contenders; slot++) this.processes.push(this.#bear());
  }

  #bear(): Process {
    return new Process(`process-${this.#born++}`, this);
  }

  /** Even one that crashed is asked: what it would have answered to its last write is what counts. */
  get leaders(): number {
    return [...this.processes, ...this.#crashed].filter((process) => process.elector.holds()).length;
  }

  process(slot: number): Process {
    const process = this.processes[slot % this.processes.length];
    assert.ok(process !== undefined);
    return process;
  }

  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= tickMs) {
      await this.clock.advance(Math.min(tickMs, left));
      assert.ok(this.leaders <= 1, `${this.leaders} leaders at ${this.clock.monotonicMs()} ms`);
    }
  }

  /** A process that ended, or is killed now, is replaced by a fresh one under a new name. */
  replace(slot: number): void {
    // A process that never saw the lease creates one at once; that one gap is documented, and left out here.
    if (this.server.lease === undefined && this.leaders > 0) return;
    const process = this.process(slot);
    process.clock.suspend();
    this.#crashed.push(process);
    this.processes[slot % this.processes.length] = this.#bear();
  }

  deleteLease(): void {
    const nowMs = this.clock.monotonicMs();
    const allHaveSeenIt = this.processes.every((process) => process.elector.holder() !== undefined);
    if (!allHaveSeenIt || nowMs - this.#deletedAtMs < deletionsApartMs) return;
    this.#deletedAtMs = nowMs;
    this.server.delete();
  }

  heal(): void {
    for (const process of this.processes) {
      process.clock.resume();
      Object.assign(process.link, { cut: false, requestMs: 0, answerMs: 0 });
    }
  }

  /** Lets time pass under a supervisor that starts a process anew when it has ended. */
  async passSupervised(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= tickMs) {
      await this.pass(tickMs);
      this.processes.forEach((process, slot) => {
        if (process.outcome !== 'running') this.replace(slot);
      });
    }
  }

  async end(): Promise<void> {
    for (const process of [...this.processes, ...this.#crashed]) {
      process.clock.resume();
      process.terminate();
    }
    await this.pass(60_000);
    await Promise.all([...this.processes, ...this.#crashed].map((process) => process.ended));
  }
}

type Step =
  | { readonly do: 'suspend' | 'resume' | 'cut' | 'mend' | 'kill' | 'terminate'; readonly slot: number }
  | { readonly do: 'slow'; readonly slot: number; readonly requestMs: number; readonly answerMs: number }
  | { readonly do: 'delete' };

const slot = fc.nat({ max: 2 });
const delayMs = fc.oneof(
  { arbitrary: fc.nat({ max: 300 }), weight: 3 },
  { arbitrary: fc.nat({ max: 7_000 }), weight: 1 },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: fc.record({ do: fc.constantFrom('suspend', 'cut'), slot }) as fc.Arbitrary<Step>, weight: 4 },
  { arbitrary: fc.record({ do: fc.constantFrom('resume', 'mend'), slot }) as fc.Arbitrary<Step>, weight: 4 },
  { arbitrary: fc.record({ do: fc.constantFrom('kill', 'terminate'), slot }) as fc.Arbitrary<Step>, weight: 1 },
  {
    arbitrary: fc.record({
      do: fc.constant('slow'),
      slot,
      requestMs: delayMs,
      answerMs: delayMs,
    }) as fc.Arbitrary<Step>,
    weight: 2,
  },
  { arbitrary: fc.constant<Step>({ do: 'delete' }), weight: 1 },
);
const story = fc.array(fc.record({ step, thenMs: fc.nat({ max: 20_000 }) }), { minLength: 1, maxLength: 14 });

function take(world: World, step: Step): void {
  if (step.do === 'delete') return world.deleteLease();
  const { link, clock } = world.process(step.slot);
  switch (step.do) {
    case 'suspend':
      return clock.suspend();
    case 'resume':
      return clock.resume();
    case 'cut':
    case 'mend':
      link.cut = step.do === 'cut';
      return;
    case 'kill':
      return world.replace(step.slot);
    case 'terminate':
      return world.process(step.slot).terminate();
    case 'slow':
      Object.assign(link, { requestMs: step.requestMs, answerMs: step.answerMs });
  }
}

test('never two leaders; after the faults, one, in bounded time', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.integer({ min: 2, max: 3 }), story, async (seed, contenders, steps) => {
      const world = new World(seed, contenders);
      await world.pass(tickMs);
      for (const { step, thenMs } of steps) {
        take(world, step);
        await world.pass(thenMs);
      }
      world.heal();
      // One duration of waiting for whoever fell silent last, once more for a leader that loses itself while mending.
      await world.passSupervised(2 * (leaseDurationMs + 2 * retryMsMax));
      assert.equal(world.leaders, 1, 'nobody leads though nothing is wrong any more');
      await world.end();
      assert.equal(world.leaders, 0);
    }),
    { numRuns: 60 },
  );
});

test('a leader that dies is followed within one lease duration and two jittered retries', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat(),
      fc.nat({ max: 30_000 }),
      fc.constantFrom<'suspend' | 'cut'>('suspend', 'cut'),
      async (seed, ledMs, fault) => {
        const world = new World(seed, 2);
        await world.pass(5_000 + ledMs);
        const first = world.processes.findIndex((process) => process.elector.holds());
        take(world, { do: fault, slot: first });
        await world.pass(leaseDurationMs + 2 * retryMsMax);
        assert.equal(world.process(first).elector.holds(), false);
        assert.equal(world.process(first + 1).elector.holds(), true);
        await world.end();
      },
    ),
    { numRuns: 30 },
  );
});
