import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { RuntimeState } from '../../../../src/kubelet/machine/runtime-state.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { KeepingLogger } from '../../../support/quiet.ts';
import { ScriptedRuntime } from '../node-status/node-world.ts';

const secondMs = 1_000;

describe('what the kubelet knows of its runtime', () => {
  let clock: ManualClock;
  let runtime: ScriptedRuntime;
  let state: RuntimeState;
  let life: AbortController;
  let running: Promise<void>;

  beforeEach(() => {
    clock = new ManualClock();
    runtime = new ScriptedRuntime();
    life = new AbortController();
    state = new RuntimeState({ runtime, clock, logger: new KeepingLogger(), checkPeriodMs: 5 * secondMs });
  });

  afterEach(async () => {
    life.abort();
    await running;
    assert.equal(clock.sleeping, 0);
  });

  function begin(): void {
    running = state.run(life.signal);
  }

  it('is nothing at first, and that all is well after the first answer', async () => {
    assert.deepEqual(state.runtimeErrors(), ['container runtime status check may not have completed yet']);
    assert.deepEqual(state.networkErrors(), ['network state unknown']);
    begin();
    await clock.advance(0);
    assert.deepEqual([...state.runtimeErrors(), ...state.networkErrors()], []);
    await state.whenUp(life.signal);
  });

  it('stays true for as long as nothing changes, without asking again', async () => {
    begin();
    await clock.advance(3_600 * secondMs);
    assert.equal(runtime.asked, 1);
    assert.deepEqual(state.runtimeErrors(), []);
  });

  it('is asked again at the next tick after a change, and each tick while it is not well', async () => {
    begin();
    await clock.advance(7 * secondMs);
    runtime.says({ runtime: { ok: false, reason: 'R', message: 'm' }, network: { ok: true } });
    await clock.advance(2.9 * secondMs);
    assert.equal(runtime.asked, 1);
    await clock.advance(0.2 * secondMs);
    assert.deepEqual(state.runtimeErrors(), ['container runtime not ready: RuntimeReady=false reason:R message:m']);
    await clock.advance(20 * secondMs);
    assert.equal(runtime.asked, 6);
  });

  it('ends half a minute after the last tick that went well, and not after the last look', async () => {
    begin();
    await clock.advance(12 * secondMs);
    runtime.says('silent');
    await clock.advance(27.9 * secondMs);
    assert.deepEqual(state.runtimeErrors(), []);
    await clock.advance(0.2 * secondMs);
    assert.deepEqual(state.runtimeErrors(), ['container runtime is down']);
  });

  it('is the same answer for all who ask at once', async () => {
    runtime.says('hanging');
    begin();
    const asked = [state.check(life.signal), state.check(life.signal)];
    runtime.recovers();
    await Promise.all(asked);
    assert.equal(runtime.asked, 1);
  });

  it('is not waited for beyond the end', async () => {
    runtime.says('hanging');
    begin();
    const up = state.whenUp(life.signal);
    await clock.advance(secondMs);
    life.abort();
    await up;
  });
});
