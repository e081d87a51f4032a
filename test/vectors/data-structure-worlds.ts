// The queues, without a controller around them.
import { RateLimitedQueue } from '../../src/machinery/queueing/rate-limited-queue.ts';
import { TokenBucket } from '../../src/machinery/queueing/token-bucket.ts';
import { forget, type WorkOutcome, WorkQueue } from '../../src/machinery/queueing/work-queue.ts';
import { WorkLoop } from '../../src/machinery/supervision/work-loop.ts';
import { rethrow } from '../support/rethrow.ts';
import { equals, equalsAsSet, isMap, isSame, show } from './comparing.ts';
import type { Given, Step } from './format.ts';
import { VectorClock } from './vector-clock.ts';
import { type Check, NotSupported, type Operation, type World } from './world.ts';

/** Grants every try: a token each nanosecond, and a microsecond passes before each try. */
const alwaysPerSecond = 1_000_000_000;
const microsecondMs = 0.001;
const triesMax = 10_000;

interface TryResult {
  readonly ok: boolean;
  readonly waitMs?: number;
}

interface Ticking {
  readonly ms: number;
  /** After a failure of this value a read of the clock does not advance it. */
  readonly pauseAfter: string | undefined;
}

/** `RateLimitedQueue` and `TokenBucket`, used as the NoExecute tainter uses them. */
export class RateQueueWorld implements World {
  readonly givens: readonly (keyof Given)[] = ['t0', 'limiter'];
  readonly operations: Readonly<Record<string, Operation>>;
  readonly checks: Readonly<Record<string, Check>>;
  readonly #queue: RateLimitedQueue;
  readonly #processed: string[] = [];
  readonly #processedAtS: number[] = [];
  readonly #addedAtMs: Record<string, number> = {};
  readonly #ticks: boolean;
  #ticking: Ticking = { ms: 0, pauseAfter: undefined };
  #paused = false;
  #nowMs = 0;
  #sliverMs = 0;
  #calls = 0;

  constructor(given: Given, steps: readonly Step[]) {
    const { limiter = 'always' } = given;
    const [qps, burst] = limiter === 'always' ? [alwaysPerSecond, 1] : [limiter.qps, limiter.burst];
    this.#queue = new RateLimitedQueue(new TokenBucket(qps, burst, 0));
    // A clock that advances with every read does so from the start: the vector stamps its items with it.
    const clock = steps.find(({ op }) => op === 'try')?.['clock'];
    this.#ticks = clock !== undefined;
    if (this.#ticks) this.#ticking = parseTicking(clock as string);
    this.operations = this.#operations();
    this.checks = this.#checks();
  }

  #operations(): Readonly<Record<string, Operation>> {
    return {
      add: ({ value }) => {
        const nowMs = this.#read();
        if (this.#queue.add(value as string, nowMs)) this.#addedAtMs[value as string] = this.#nowMs;
      },
      remove: ({ value }) => {
        this.#queue.remove(value as string);
      },
      clear: () => {
        this.#queue.clear();
      },
      advance: ({ seconds }) => {
        this.#nowMs += (seconds as number) * 1_000;
      },
      swapLimiter: ({ qps }) => {
        this.#queue.swapRate(qps as number, this.#now());
      },
      assertQPS: ({ equals: expected }) => {
        const found = this.#queue.ratePerSecond;
        const same = typeof expected === 'number' ? isSame(found, expected) : isNever(expected) && found === 0;
        if (!same) throw new Error(`assertQPS: expected ${show(expected)}, found ${found}`);
      },
      try: (step) => {
        this.#try(step);
      },
    };
  }

  /** Processes each due item that gets a token; a failed one is delayed as it requests. */
  #try({ results, removeDuring }: Step): void {
    const answers = new Map(Object.entries((results ?? {}) as Readonly<Record<string, readonly TryResult[]>>));
    const removals = new Set([(removeDuring ?? []) as string | readonly string[]].flat());
    for (let left = triesMax; left > 0; left -= 1) {
      const value = this.#queue.peekDue(this.#read());
      if (value === undefined || !this.#queue.tryTakeToken(this.#now())) return;
      this.#work(value, answers, removals);
    }
    throw new Error('try does not terminate');
  }

  #work(value: string, answers: Map<string, readonly TryResult[]>, removals: ReadonlySet<string>): void {
    this.#calls += 1;
    const [answer = { ok: true }, ...later] = answers.get(value) ?? [];
    answers.set(value, later);
    if (removals.has(value)) this.#queue.remove(value);
    if (answer.ok) {
      this.#queue.remove(value);
      this.#processed.push(value);
      this.#processedAtS.push(this.#nowMs / 1_000);
      return;
    }
    if (this.#ticking.pauseAfter === value) this.#paused = true;
    this.#queue.postpone(value, this.#read() + (answer.waitMs ?? 0));
  }

  #read(): number {
    if (this.#paused) this.#paused = false;
    else this.#nowMs += this.#ticking.ms;
    return this.#now();
  }

  /** Each read is slightly later than the one before, as on a real clock, unless the vector controls the clock. */
  #now(): number {
    if (!this.#ticks) this.#sliverMs += microsecondMs;
    return this.#nowMs + this.#sliverMs;
  }

  #checks(): Readonly<Record<string, Check>> {
    return {
      queue: equals(() => this.#queue.keysInOrder()),
      set: equalsAsSet(() => this.#queue.keysInOrder()),
      processed: equals(() => this.#processed),
      processedAtS: (expected: unknown) => {
        const found = this.#processedAtS;
        return isSame(found, expected) ? undefined : show(found);
      },
      calls: equals(() => this.#calls),
      addedAtMs: equals(() => this.#addedAtMs),
      qps: (expected: unknown) => {
        const found = this.#queue.ratePerSecond;
        const same = typeof expected === 'number' ? isSame(found, expected) : isNever(expected) && found === 0;
        return same ? undefined : show(found);
      },
    };
  }
}

function isNever(expected: unknown): boolean {
  return typeof expected === 'string' && expected.startsWith('never');
}

function parseTicking(text: string): Ticking {
  const found = /^\+(\d+) ?ms per read(?:; the read right after (\w+)'s failure does not advance)?$/u.exec(text);
  if (found === null) throw new NotSupported(`clock mode ${show(text)}`);
  return { ms: Number(found[1]), pauseAfter: found[2] };
}

const retryLimits = { delayMsMin: 100, delayMsMax: 30_000 } as const;
const runsAtOnceMax = 100;

/** `WorkQueue` with its loop, in place of kube-controller-manager's TimedWorkers. */
export class TimedWorkWorld implements World {
  readonly givens: readonly (keyof Given)[] = ['t0'];
  readonly operations: Readonly<Record<string, Operation>>;
  readonly checks: Readonly<Record<string, Check>>;
  readonly #time: VectorClock;
  readonly #queue = new WorkQueue(retryLimits);
  readonly #loop: WorkLoop;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  /** Keys whose next run is blocked, and the functions that unblock them. */
  readonly #toBlock = new Set<string>();
  readonly #blocked = new Map<string, () => void>();
  #runs = 0;

  constructor(given: Given) {
    this.#time = new VectorClock(given.t0);
    this.#loop = new WorkLoop({
      queue: this.#queue,
      clock: this.#time.clock,
      workersMax: runsAtOnceMax,
      handle: (key) => this.#run(key),
      onFault: rethrow,
    });
    this.#running = this.#loop.run(this.#stop.signal);
    this.operations = this.#operations();
    this.checks = this.#checks();
  }

  async stop(): Promise<void> {
    for (const letGo of this.#blocked.values()) letGo();
    this.#stop.abort();
    await this.#running;
  }

  #operations(): Readonly<Record<string, Operation>> {
    return {
      addWork: (step) => {
        this.#add(step);
      },
      startWork: async (step) => {
        this.#add(step);
        await this.#time.advance(0);
      },
      cancelWork: ({ key, expect }) => {
        const found: unknown = this.#queue.remove(key as string);
        if (expect !== undefined && found !== expect)
          throw new Error(`cancelWork ${String(key)}: expected ${show(expect)}, found ${show(found)}`);
      },
      unblock: async ({ key }) => {
        const letGo = this.#blocked.get(key as string);
        if (letGo === undefined) throw new Error(`no run of ${String(key)} is blocked`);
        this.#blocked.delete(key as string);
        letGo();
        await this.#time.advance(0);
      },
      advance: ({ seconds }) => this.#time.advance(seconds as number),
    };
  }

  #add({ key, delayS, block }: Step): void {
    const delayMs = ((delayS as number | undefined) ?? 0) * 1_000;
    if (block === true) this.#toBlock.add(key as string);
    this.#loop.add(key as string, delayMs);
  }

  async #run(key: string): Promise<WorkOutcome> {
    this.#runs += 1;
    if (this.#toBlock.delete(key)) {
      await new Promise<void>((resolve) => {
        this.#blocked.set(key, resolve);
      });
    }
    return forget;
  }

  #checks(): Readonly<Record<string, Check>> {
    return {
      runs: equals(() => this.#runs),
      scheduled: (expected: unknown) => this.#scheduled(expected),
    };
  }

  /** A due time is tested by moving the clock: the key is processed then, and not before. */
  #scheduled(expected: unknown): string | undefined {
    if (!isMap(expected)) return 'a map is required';
    const nowMs = this.#time.clock.monotonicMs();
    const found: Record<string, { inS: number }> = {};
    for (let dueMs = this.#queue.nextDueMs(); dueMs !== undefined; dueMs = this.#queue.nextDueMs()) {
      const key = this.#queue.take(dueMs);
      if (key === undefined) break;
      found[key] = { inS: (dueMs - nowMs) / 1_000 };
    }
    return isSame(found, expected) ? undefined : show(found);
  }
}
