import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RestingLoop } from '../../../../../src/hollow-cluster/kubelet/loops/resting-loop.ts';
import { runTogether } from '../../../../../src/hollow-cluster/kubelet/loops/loop-group.ts';
import { ManualClock, settled } from '../../../../support/manual-clock.ts';

class Counter extends RestingLoop {
  readonly log: string[] = [];
  readonly #rests: (number | 'done')[];
  onTurn: () => Promise<void> | void = () => {};

  constructor(clock: ManualClock, rests: readonly (number | 'done')[]) {
    super(clock);
    this.#rests = [...rests];
  }

  call(): void {
    this.ring();
  }

  protected override begin(): void {
    this.log.push('begin');
  }

  protected override end(): void {
    this.log.push('end');
  }

  protected override async turn(): Promise<number | 'done'> {
    this.log.push('turn');
    await this.onTurn();
    return this.#rests.shift() ?? Number.POSITIVE_INFINITY;
  }
}

describe('a resting loop', () => {
  it('runs a turn when its wait is over, and then rests without a timer until ring() is called', async () => {
    const clock = new ManualClock();
    const life = new AbortController();
    const loop = new Counter(clock, [0, 1_000]);
    const running = loop.run(life.signal);
    await clock.advance(999);
    assert.deepEqual(loop.log, ['begin', 'turn', 'turn']);
    await clock.advance(1);
    assert.equal(loop.log.length, 4);
    assert.equal(clock.sleeping, 0);
    await clock.advance(100_000);
    loop.call();
    loop.call();
    assert.equal(loop.log.length, 4, 'the caller of ring() continues first');
    await clock.advance(0);
    assert.equal(loop.log.length, 5, 'two rings cause one turn');
    life.abort();
    await running;
    assert.equal(loop.log.at(-1), 'end');
  });

  it('is woken from a sleep, and runs another turn after a ring during a turn', async () => {
    const clock = new ManualClock();
    const life = new AbortController();
    const loop = new Counter(clock, [60_000]);
    const running = loop.run(life.signal);
    await clock.advance(1_000);
    loop.onTurn = () => {
      loop.onTurn = () => {};
      loop.call();
    };
    loop.call();
    await clock.advance(0);
    assert.deepEqual(loop.log, ['begin', 'turn', 'turn', 'turn']);
    assert.equal(clock.sleeping, 0);
    life.abort();
    await running;
  });

  it('ends while asleep or resting when the signal aborts, and by itself when it is done', async () => {
    const clock = new ManualClock();
    const life = new AbortController();
    const loops = [new Counter(clock, [60_000]), new Counter(clock, []), new Counter(clock, ['done'])];
    const running = runTogether(life.signal, loops);
    await settled();
    const seen = loops.map(({ log }) => log.at(-1));
    assert.deepEqual(seen, ['turn', 'turn', 'end']);
    life.abort();
    await running;
    assert.ok(loops.every(({ log }) => log.at(-1) === 'end'));
    assert.equal(clock.sleeping, 0);
  });

  it('stops the others when it fails, can be followed by another loop, and runs once at a time', async () => {
    const clock = new ManualClock();
    const { signal } = new AbortController();
    const [failing, resting] = [new Counter(clock, [1_000]), new Counter(clock, [])];
    const running = assert.rejects(runTogether(signal, [async () => failing, resting]), (error: Error) => {
      return error.cause instanceof RangeError;
    });
    await clock.advance(500);
    await assert.rejects(resting.run(signal), /must not be started while it runs/);
    failing.onTurn = () => Promise.reject(new RangeError('broken'));
    await clock.advance(500);
    await running;
    assert.equal(resting.log.at(-1), 'end');
  });
});
