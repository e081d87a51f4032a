/**
 * Contenders in one world: their clocks differ and jump, they are paused at any await, their requests are slow, their
 * answers lost, they are cut off, killed and stopped, and somebody deletes the lease. Never two that hold leadership at
 * one moment; no write of one arrives once another may have it, unless it was under way for longer than the lease outlasts
 * the deadline; and somebody leads in bounded time once nothing is wrong any more.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { electionDefaults, jitterFactor } from '../../../src/election/election-options.ts';
import { LeaderElector } from '../../../src/election/leader-elector.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import type { Ending } from '../../../src/ports/leadership.ts';
import { LeaseLink, LeaseServer } from '../../support/lease-server.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { KeepingLogger, KeepingMeter, SeededRandom } from '../../support/quiet.ts';

const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = electionDefaults;
const retryMsMax = retryPeriodMs * (1 + jitterFactor);
/** A write that is on its way for less arrives before anybody else can have the lease. */
const writeTransitMsMax = leaseDurationMs - renewDeadlineMs;
const takeoverMsMax = leaseDurationMs + 2 * retryMsMax;
const tickMs = 250;
const writeEveryMs = 400;
const drainMsMax = 5_000;
const delayMsMax = 7_000;
const deletionsApartMs = 60_000;
const never = new AbortController().signal;

/** How one process experiences time: its own origin, its own wall clock, and nothing at all while it is paused. */
class ProcessClock implements Clock {
  readonly #world: ManualClock;
  readonly #originMs: number;
  readonly #random: SeededRandom;
  readonly #waiting = new Set<() => void>();
  #wallOffMs: number;
  #paused = false;
  #killed = false;
  /** Chance of a pause each time something that was waited for comes. */
  pauseChance = 0;

  constructor(world: ManualClock, random: SeededRandom) {
    this.#world = world;
    this.#random = random;
    this.#originMs = random.next() * 1e7;
    this.#wallOffMs = (random.next() - 0.5) * 2e8;
  }

  nowMs(): number {
    return this.#world.nowMs() + this.#wallOffMs;
  }

  monotonicMs(): number {
    return this.#world.monotonicMs() + this.#originMs;
  }

  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    await this.#world.sleep(ms, signal);
    await this.resumed();
  }

  jumpWall(byMs: number): void {
    this.#wallOffMs += byMs;
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    if (this.#killed) return;
    this.#paused = false;
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  /** Never goes on by itself. */
  kill(): void {
    this.pause();
    this.#killed = true;
  }

  /** For the end of the test only: it must not leave promises behind. */
  bury(): void {
    this.#killed = false;
    this.pauseChance = 0;
    this.resume();
  }

  /** Every await of the process ends here. */
  async resumed(): Promise<void> {
    if (!this.#paused && this.#random.next() < this.pauseChance) void this.#pauseFor(this.#random.next() * 20_000);
    while (this.#paused) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  async #pauseFor(ms: number): Promise<void> {
    this.pause();
    await this.#world.sleep(ms, never);
    this.resume();
  }
}

class Process {
  readonly clock: ProcessClock;
  readonly link: LeaseLink;
  readonly elector: LeaderElector;
  readonly identity: string;
  readonly #world: World;
  readonly #stop = new AbortController();
  readonly #writesUnderWay = new Set<Promise<void>>();
  outcome: 'running' | 'stopped' | 'lost' = 'running';
  readonly ended: Promise<void>;

  constructor(identity: string, world: World) {
    this.#world = world;
    this.identity = identity;
    this.clock = new ProcessClock(world.clock, world.random);
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
    this.outcome = await this.elector.run(this.#stop.signal, (leading) => this.#lead(leading));
  }

  /** Writes all the time, asking right before; at the end waits for its answers, as long as that is reasonable. */
  async #lead(leading: AbortSignal): Promise<Ending> {
    while (!leading.aborted) {
      if (this.elector.holds()) this.#send();
      await this.clock.sleep(writeEveryMs, leading);
    }
    const patience = this.clock.sleep(drainMsMax, never).then((): Ending => 'cut-off');
    return Promise.race([Promise.all(this.#writesUnderWay).then((): Ending => 'drained'), patience]);
  }

  #send(): void {
    const write = this.#write().finally(() => this.#writesUnderWay.delete(write));
    this.#writesUnderWay.add(write);
  }

  /** It always arrives, at the worst of times: writes have a connection of their own, and the lease's may be cut. */
  async #write(): Promise<void> {
    const { clock, random } = this.#world;
    const { usual, rare } = this.#world.transitMs;
    const transitMs = random.next() * (random.next() < 0.9 ? usual : rare);
    await clock.sleep(transitMs, never);
    this.#world.arrive(this.identity, transitMs);
    await clock.sleep(this.link.answerMs, never);
    if (this.link.cut || this.link.answersLost) return new Promise(() => {});
    await this.clock.resumed();
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
  written = 0;
  /** How long writes are under way, at most. */
  transitMs = { usual: writeTransitMsMax, rare: 2 * drainMsMax };
  readonly violations: string[] = [];

  constructor(seed: number, contenders: number) {
    this.random = new SeededRandom(seed);
    for (let slot = 0; slot < contenders; slot++) this.processes.push(this.#bear());
  }

  #bear(): Process {
    return new Process(`process-${this.#born++}`, this);
  }

  get #all(): readonly Process[] {
    return [...this.processes, ...this.#crashed];
  }

  /** Even one that crashed is asked: what it would have answered to its last write is what counts. */
  get leaders(): number {
    return this.#all.filter((process) => process.elector.holds()).length;
  }

  get leader(): Process | undefined {
    return this.processes.find((process) => process.elector.holds());
  }

  process(slot: number): Process {
    return this.processes[slot % this.processes.length] ?? assert.fail();
  }

  /** A write reaches the server: nobody else may have the lease, nor may its sender have given it back. */
  arrive(writer: string, transitMs: number): void {
    this.written++;
    const { holder, writes } = this.server;
    if (holder === '' && writes.at(-2)?.lease.spec?.holderIdentity === writer)
      this.violations.push(`${writer} gave the lease back with a write on its way`);
    if (holder === undefined || transitMs > writeTransitMsMax) return;
    if (holder !== writer) this.violations.push(`written by ${writer} after ${transitMs} ms, held by ${holder}`);
  }

  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= tickMs) {
      await this.clock.advance(Math.min(tickMs, left));
      assert.deepEqual(this.violations, []);
      assert.ok(this.leaders <= 1, `${this.leaders} leaders at ${this.clock.monotonicMs()} ms`);
    }
  }

  /** A process that ended, or is killed now, is replaced by a fresh one under a new name. */
  replace(slot: number): void {
    // A process that never saw the lease creates one at once; that one gap is documented, and left out here.
    const sinceDeletionMs = this.clock.monotonicMs() - this.#deletedAtMs;
    if (this.server.lease === undefined && sinceDeletionMs < renewDeadlineMs) return;
    const process = this.process(slot);
    process.clock.kill();
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

  /** Nothing is wrong any more, and what was under way has arrived. */
  async heal(): Promise<void> {
    for (const { clock, link } of this.processes) {
      clock.pauseChance = 0;
      clock.resume();
      Object.assign(link, { cut: false, answersLost: false, requestMs: 0, answerMs: 0 });
    }
    await this.passSupervised(2 * delayMsMax);
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
    for (const process of this.#all) {
      process.clock.bury();
      process.terminate();
    }
    await this.pass(60_000);
    await Promise.all(this.#all.map((process) => process.ended));
  }
}

type SlotStep = 'pause' | 'resume' | 'cut' | 'mend' | 'lose-answers' | 'kill' | 'terminate';
type Step =
  | { readonly do: SlotStep; readonly slot: number }
  | { readonly do: 'slow'; readonly slot: number; readonly requestMs: number; readonly answerMs: number }
  | { readonly do: 'jump'; readonly slot: number; readonly byMs: number }
  | { readonly do: 'nervous'; readonly slot: number; readonly chance: number }
  | { readonly do: 'delete' };

const slot = fc.nat({ max: 2 });
const delayMs = fc.oneof(
  { arbitrary: fc.nat({ max: 300 }), weight: 3 },
  { arbitrary: fc.nat({ max: delayMsMax }), weight: 1 },
);
const slotStep = (...names: SlotStep[]): fc.Arbitrary<Step> =>
  fc.record({ do: fc.constantFrom(...names), slot }) as fc.Arbitrary<Step>;
const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: slotStep('pause', 'cut', 'lose-answers'), weight: 4 },
  { arbitrary: slotStep('resume', 'mend'), weight: 4 },
  { arbitrary: slotStep('kill', 'terminate'), weight: 1 },
  {
    arbitrary: fc.record({ do: fc.constant('slow' as const), slot, requestMs: delayMs, answerMs: delayMs }),
    weight: 2,
  },
  {
    arbitrary: fc.record({ do: fc.constant('jump' as const), slot, byMs: fc.integer({ min: -1e7, max: 1e7 }) }),
    weight: 1,
  },
  {
    arbitrary: fc.record({ do: fc.constant('nervous' as const), slot, chance: fc.constantFrom(0, 0.05, 0.3) }),
    weight: 2,
  },
  { arbitrary: fc.constant<Step>({ do: 'delete' }), weight: 1 },
);
const story = fc.array(fc.record({ step, thenMs: fc.nat({ max: 20_000 }) }), { minLength: 1, maxLength: 14 });

function take(world: World, step: Step): void {
  if (step.do === 'delete') return world.deleteLease();
  const process = world.process(step.slot);
  const { link, clock } = process;
  switch (step.do) {
    case 'pause':
      return clock.pause();
    case 'resume':
      return clock.resume();
    case 'cut':
      link.cut = true;
      return;
    case 'lose-answers':
      link.answersLost = true;
      return;
    case 'mend':
      Object.assign(link, { cut: false, answersLost: false });
      return;
    case 'kill':
      return world.replace(step.slot);
    case 'terminate':
      return process.terminate();
    case 'jump':
      return clock.jumpWall(step.byMs);
    case 'nervous':
      clock.pauseChance = step.chance;
      return;
    case 'slow':
      Object.assign(link, { requestMs: step.requestMs, answerMs: step.answerMs });
  }
}

test('never two leaders, no write of one while another may lead; after the faults, one, in bounded time', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.integer({ min: 2, max: 3 }), story, async (seed, contenders, steps) => {
      const world = new World(seed, contenders);
      await world.pass(tickMs);
      for (const { step, thenMs } of steps) {
        take(world, step);
        await world.pass(thenMs);
      }
      await world.heal();
      await world.passSupervised(takeoverMsMax + tickMs);
      assert.equal(world.leaders, 1, 'nobody leads though nothing is wrong any more');
      assert.ok(world.written > 0);
      await world.end();
      assert.equal(world.leaders, 0);
    }),
    { numRuns: 100 },
  );
});

test('a leader that dies is followed within one lease duration and two jittered retries', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat(),
      fc.nat({ max: 30_000 }),
      fc.constantFrom<SlotStep>('pause', 'cut', 'lose-answers'),
      async (seed, ledMs, fault) => {
        const world = new World(seed, 2);
        await world.pass(5_000 + ledMs);
        const first = world.processes.findIndex((process) => process.elector.holds());
        take(world, { do: fault, slot: first });
        await world.pass(takeoverMsMax + (fault === 'lose-answers' ? renewDeadlineMs : 0));
        assert.equal(world.process(first).elector.holds(), false);
        assert.equal(world.process(first + 1).elector.holds(), true);
        await world.end();
      },
    ),
    { numRuns: 30 },
  );
});

test('a leader that is told to stop is followed within one jittered retry of its last answer', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.nat({ max: 10_000 }), fc.nat({ max: 1_000 }), async (seed, ledMs, answerMs) => {
      const world = new World(seed, 2);
      world.transitMs = { usual: 0, rare: 0 };
      await world.pass(5_000 + ledMs);
      const first = world.leader ?? assert.fail('nobody leads');
      first.link.answerMs = answerMs;
      first.terminate();
      await world.pass(retryMsMax + 4 * answerMs + tickMs);
      assert.equal(first.outcome, 'stopped');
      assert.ok(world.leader !== undefined && world.leader !== first);
      await world.end();
    }),
    { numRuns: 30 },
  );
});
