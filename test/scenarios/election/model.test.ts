/**
 * Randomized model of several contenders: their clocks differ and jump, they are paused at any await, their machines are
 * suspended (the monotonic clock stops), their requests are slow, responses are lost, they are partitioned, killed and
 * stopped, and the lease is deleted manually. Invariants: never two leaders at one time; no write arrives once another
 * process may lead, unless it was in flight for longer than the lease duration exceeds the deadline; and a process leads
 * within bounded time after the last fault.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { electionDefaults, jitterFactor } from '../../../src/machinery/election/election-options.ts';
import { LeaderElector } from '../../../src/machinery/election/leader-elector.ts';
import type { Clock } from '../../../src/machinery/ports/clock.ts';
import type { Ending } from '../../../src/machinery/ports/leadership.ts';
import { LeaseLink, LeaseServer } from '../../support/lease-server.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { RecordingLogger, RecordingMeter, SeededRandom } from '../../support/fakes.ts';

const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = electionDefaults;
const retryMsMax = retryPeriodMs * (1 + jitterFactor);
/** A write in flight for less than this arrives before another process can hold the lease. */
const writeTransitMsMax = leaseDurationMs - renewDeadlineMs;
const takeoverMsMax = leaseDurationMs + 2 * retryMsMax;
const tickMs = 250;
const writeEveryMs = 400;
const drainMsMax = 5_000;
const delayMsMax = 7_000;
const deletionsApartMs = 60_000;
const never = new AbortController().signal;

/** The clocks of one process: its own origin, its own wall clock, and no progress while it is paused. */
class ProcessClock implements Clock {
  readonly #world: ManualClock;
  readonly #originMs: number;
  readonly #random: SeededRandom;
  readonly #waiting = new Set<() => void>();
  #wallOffMs: number;
  #paused = false;
  #killed = false;
  /** World time at which the machine was suspended. */
  #suspendedAtMs: number | undefined;
  /** Total suspended time: the monotonic clock did not advance during it. */
  #stoodStillMs = 0;
  /** Probability of a pause at each awaited event. */
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
    return (this.#suspendedAtMs ?? this.#world.monotonicMs()) + this.#originMs - this.#stoodStillMs;
  }

  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    const untilMs = this.monotonicMs() + ms;
    do {
      await this.#world.sleep(untilMs - this.monotonicMs(), signal);
      await this.resumed();
    } while (!signal.aborted && this.monotonicMs() < untilMs);
  }

  /** A backward step during a suspend hides as much of it, so only forward steps occur then. */
  jumpWall(byMs: number): void {
    this.#wallOffMs += this.#suspendedAtMs === undefined ? byMs : Math.abs(byMs);
  }

  pause(): void {
    this.#paused = true;
  }

  /** As {@link pause}, and the monotonic clock stops. */
  suspend(): void {
    this.#suspendedAtMs ??= this.#world.monotonicMs();
    this.pause();
  }

  resume(): void {
    if (this.#killed) return;
    this.#paused = false;
    const nowMs = this.#world.monotonicMs();
    this.#stoodStillMs += nowMs - (this.#suspendedAtMs ?? nowMs);
    this.#suspendedAtMs = undefined;
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  /** Never resumes by itself. */
  kill(): void {
    this.pause();
    this.#killed = true;
  }

  /** Only for the end of the test: it must not leave promises behind. */
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
      logger: new RecordingLogger(),
      meter: new RecordingMeter(),
      identity,
      namespace: 'kube-system',
      name: 'nlc',
    });
    this.ended = this.#run();
  }

  async #run(): Promise<void> {
    this.outcome = await this.elector.run(this.#stop.signal, (leading) => this.#lead(leading));
  }

  /** Writes continuously, checking `holds` before each write; at the end waits for responses for a limited time. */
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

  /** Every write arrives, with any delay: writes have their own connection, and the lease's may be cut. */
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
  /** Maximum time of a write in flight. */
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

  /** Also checked for a crashed process: what it would have decided for its last write counts. */
  get leaders(): number {
    return this.#all.filter((process) => process.elector.holds()).length;
  }

  get leader(): Process | undefined {
    return this.processes.find((process) => process.elector.holds());
  }

  process(slot: number): Process {
    return this.processes[slot % this.processes.length] ?? assert.fail();
  }

  /** A write reaches the server: no other process may hold the lease, and the sender must not have released it. */
  arrive(writer: string, transitMs: number): void {
    this.written++;
    const { holder, writes } = this.server;
    if (holder === '' && writes.at(-2)?.lease.spec?.holderIdentity === writer)
      this.violations.push(`${writer} released the lease with a write in flight`);
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

  /** A process that ended, or is killed now, is replaced by a new one with a new identity. */
  replace(slot: number): void {
    // A process that never observed the lease creates one at once, while the leader may lead until the renew deadline and its
    // write may be in flight for the rest of the lease duration; this documented gap is excluded here.
    const sinceDeletionMs = this.clock.monotonicMs() - this.#deletedAtMs;
    if (this.server.lease === undefined && sinceDeletionMs < leaseDurationMs) return;
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

  /** All faults have ended, and all requests in flight have arrived. */
  async heal(): Promise<void> {
    for (const { clock, link } of this.processes) {
      clock.pauseChance = 0;
      clock.resume();
      Object.assign(link, { cut: false, answersLost: false, requestMs: 0, answerMs: 0 });
    }
    await this.passSupervised(2 * delayMsMax);
  }

  /** Advances time under a supervisor that restarts a process that ended. */
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

type SlotStep = 'pause' | 'suspend' | 'resume' | 'cut' | 'mend' | 'lose-answers' | 'kill' | 'terminate';
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
  { arbitrary: slotStep('pause', 'suspend', 'cut', 'lose-answers'), weight: 4 },
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
    case 'suspend':
      return clock.suspend();
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
      clock.jumpWall(step.byMs);
      // A backward step that is not read before a suspend hides as much of it: no client can detect that.
      process.elector.holds();
      return;
    case 'nervous':
      clock.pauseChance = step.chance;
      return;
    case 'slow':
      Object.assign(link, { requestMs: step.requestMs, answerMs: step.answerMs });
  }
}

test('never two leaders, no write while another process may lead; one leader in bounded time after the faults', async () => {
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
      assert.equal(world.leaders, 1, 'no leader although all faults have ended');
      assert.ok(world.written > 0);
      await world.end();
      assert.equal(world.leaders, 0);
    }),
    { numRuns: 70 },
  );
});

test('a killed leader is replaced within one lease duration and two jittered retries', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat(),
      fc.nat({ max: 30_000 }),
      fc.constantFrom<SlotStep>('pause', 'suspend', 'cut', 'lose-answers'),
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

test('a stopped leader is replaced within one jittered retry after its last response', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.nat({ max: 10_000 }), fc.nat({ max: 1_000 }), async (seed, ledMs, answerMs) => {
      const world = new World(seed, 2);
      world.transitMs = { usual: 0, rare: 0 };
      await world.pass(5_000 + ledMs);
      const first = world.leader ?? assert.fail('no candidate leads');
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
