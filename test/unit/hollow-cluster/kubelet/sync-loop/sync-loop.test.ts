import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import {
  ChannelInput,
  type LoopInput,
  TickInput,
} from '../../../../../src/hollow-cluster/kubelet/sync-loop/loop-input.ts';
import { SyncLoop } from '../../../../../src/hollow-cluster/kubelet/sync-loop/sync-loop.ts';
import { Channel } from '../../../../../src/hollow-cluster/kubelet/queues/channel.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';
import { RecordingLogger, SeededRandom } from '../../../../support/fakes.ts';

const secondMs = 1_000;

describe('the sync loop of a kubelet', () => {
  let clock: ManualClock;
  let logger: RecordingLogger;
  let errors: string[];
  let life: AbortController;

  beforeEach(() => {
    clock = new ManualClock();
    logger = new RecordingLogger();
    errors = [];
    life = new AbortController();
  });

  function build(inputs: readonly LoopInput[], wellAtMs?: () => number): SyncLoop {
    return new SyncLoop({
      inputs,
      runtimeErrors: () => errors,
      ...(wellAtMs === undefined ? {} : { healthyAtMs: wellAtMs }),
      syncFrequencyMs: 60 * secondMs,
      clock,
      random: new SeededRandom(7),
      logger,
    });
  }

  async function stop(running: Promise<void>): Promise<void> {
    life.abort();
    await running;
    assert.equal(clock.sleeping, 0);
  }

  /** Duration of each pause in seconds, from the log. */
  const pauses = (): readonly number[] =>
    logger.lines.map(({ fields }) => Number(fields['pauseMs']) / secondMs).filter((pause) => !Number.isNaN(pause));

  it('handles nothing while the runtime is not ready, and pauses with back-off [D3]', async () => {
    const channel = new Channel<number>(50);
    const read: number[] = [];
    const input = new ChannelInput('config', channel, async (item) => void read.push(item));
    const running = build([input]).run(life.signal);
    await clock.advance(secondMs);
    errors = ['PLEG is not healthy'];
    channel.offer(1);
    await clock.advance(19 * secondMs);
    assert.deepEqual(read, []);
    assert.deepEqual(pauses(), [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5, 5, 5]);
    errors = [];
    await clock.advance(5 * secondMs);
    assert.deepEqual(read, [1]);
    errors = ['again'];
    channel.offer(2);
    await clock.advance(0);
    assert.equal(pauses().at(-1), 0.1);
    await stop(running);
  });

  it('picks a random ready input, so that none starves [D6]', async () => {
    const served = new Map<string, number>();
    const names = ['config', 'pleg', 'sync', 'housekeeping', 'other'];
    let turns = 0;
    const inputs = names.map((name) => ({
      name,
      isDone: false,
      readyAtMs: () => clock.monotonicMs(),
      onReady: () => () => {},
      async serve() {
        served.set(name, (served.get(name) ?? 0) + 1);
        turns += 1;
        if (turns === 10_000) life.abort();
      },
    }));
    await build(inputs).run(life.signal);
    for (const name of names) {
      const times = served.get(name) ?? 0;
      assert.ok(times >= 1_700 && times <= 2_300, `${name}: ${times}`);
    }
  });

  it('ends when the config channel is closed, after reading what was in it [D7]', async () => {
    const channel = new Channel<number>(50);
    const read: number[] = [];
    const running = build([new ChannelInput('config', channel, async (item) => void read.push(item))]).run(life.signal);
    channel.offer(1);
    channel.close();
    await running;
    assert.deepEqual(read, [1]);
  });

  it('reports that it is stuck when the runtime was not ready for 5 minutes [D10]', async () => {
    const input = {
      name: 'busy',
      isDone: false,
      readyAtMs: () => undefined,
      onReady: () => () => {},
      serve: async () => {},
    };
    const loop = build([input]);
    assert.equal(loop.problem(clock.monotonicMs() + 3_600 * secondMs), undefined, 'it has not started');
    const running = loop.run(life.signal);
    await clock.advance(120 * secondMs);
    assert.equal(loop.problem(clock.monotonicMs()), undefined);
    errors = ['container runtime is down'];
    await clock.advance(299 * secondMs);
    assert.equal(loop.problem(clock.monotonicMs()), undefined);
    await clock.advance(61 * secondMs);
    assert.equal(loop.problem(clock.monotonicMs()), 'sync Loop took longer than expected');
    errors = [];
    await clock.advance(10 * secondMs);
    assert.equal(loop.problem(clock.monotonicMs()), undefined);
    await stop(running);
  });

  it('counts as alive as long as the runtime was healthy, even if the loop never woke', async () => {
    const input = {
      name: 'idle',
      isDone: false,
      readyAtMs: () => undefined,
      onReady: () => () => {},
      serve: async () => {},
    };
    const startMs = clock.monotonicMs();
    let wellAtMs = startMs;
    const loop = build([input], () => wellAtMs);
    const running = loop.run(life.signal);
    await clock.advance(0);
    assert.equal(clock.sleeping, 0, 'it has no timer');
    await clock.advance(600 * secondMs);
    [errors, wellAtMs] = [['container runtime is down'], startMs + 590 * secondMs];
    assert.equal(loop.problem(startMs + 890 * secondMs), undefined);
    assert.equal(loop.problem(startMs + 891 * secondMs), 'sync Loop took longer than expected');
    await stop(running);
  });

  it('reports that it is stuck when one item takes too long', async () => {
    const channel = new Channel<number>(50);
    const loop = build([new ChannelInput('slow', channel, (_item, signal) => clock.sleep(600 * secondMs, signal))]);
    const running = loop.run(life.signal);
    channel.offer(1);
    await clock.advance(300 * secondMs);
    assert.equal(loop.problem(clock.monotonicMs()), undefined);
    await clock.advance(secondMs);
    assert.equal(loop.problem(clock.monotonicMs()), 'sync Loop took longer than expected');
    await stop(running);
  });

  it('sleeps through ticks without work', async () => {
    let dueAtMs: number | undefined;
    const ticks: number[] = [];
    const startMs = clock.monotonicMs();
    const tick = new TickInput({
      name: 'sync',
      clock,
      periodMs: secondMs,
      dueAtMs: () => dueAtMs,
      handle: async () => {
        ticks.push(clock.monotonicMs() - startMs);
        dueAtMs = undefined;
      },
    });
    const running = build([tick]).run(life.signal);
    await clock.advance(30_400);
    assert.deepEqual(ticks, []);
    dueAtMs = clock.monotonicMs() + 1_000;
    tick.noteDue();
    await clock.advance(10 * secondMs);
    assert.deepEqual(ticks, [32 * secondMs], 'on the grid, strictly after the due time');
    await stop(running);
  });

  it('keeps one of the ticks that pass while it is busy, and no more', async () => {
    let took = 0;
    const ticks: number[] = [];
    const startMs = clock.monotonicMs();
    const tick = new TickInput({
      name: 'housekeeping',
      clock,
      periodMs: 2 * secondMs,
      dueAtMs: () => 0,
      handle: async (signal) => {
        ticks.push(clock.monotonicMs() - startMs);
        took = took === 0 ? 7 * secondMs : 1;
        await clock.sleep(took, signal);
      },
    });
    const running = build([tick]).run(life.signal);
    await clock.advance(14_500);
    assert.deepEqual(ticks, [2_000, 9_000, 10_000, 12_000, 14_000]);
    await stop(running);
  });
});
