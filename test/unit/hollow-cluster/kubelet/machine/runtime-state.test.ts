import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { RuntimeState } from '../../../../../src/hollow-cluster/kubelet/machine/runtime-state.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';
import { RecordingLogger } from '../../../../support/fakes.ts';
import { ScriptedRuntime } from '../../../../support/node-world.ts';

const secondMs = 1_000;

describe('the runtime state of a kubelet', () => {
  let clock: ManualClock;
  let runtime: ScriptedRuntime;
  let state: RuntimeState;
  let life: AbortController;
  let running: Promise<void>;

  beforeEach(() => {
    clock = new ManualClock();
    runtime = new ScriptedRuntime();
    life = new AbortController();
    state = new RuntimeState({ runtime, clock, logger: new RecordingLogger(), checkPeriodMs: 5 * secondMs });
  });

  afterEach(async () => {
    life.abort();
    await running;
    assert.equal(clock.sleeping, 0);
  });

  function begin(): void {
    running = state.run(life.signal);
  }

  it('is unknown at first, and healthy after the first successful check', async () => {
    assert.deepEqual(state.runtimeErrors(), ['container runtime status check may not have completed yet']);
    assert.deepEqual(state.networkErrors(), ['network state unknown']);
    begin();
    await clock.advance(0);
    assert.deepEqual([...state.runtimeErrors(), ...state.networkErrors()], []);
    await state.whenUp(life.signal);
  });

  it('stays healthy without further checks while nothing changes', async () => {
    begin();
    await clock.advance(3_600 * secondMs);
    assert.equal(runtime.asked, 1);
    assert.deepEqual(state.runtimeErrors(), []);
  });

  it('is checked again at the next tick after a change, and at each tick while it is not healthy', async () => {
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

  it('reports the runtime down 30 s after the last successful tick, not after the last check', async () => {
    begin();
    await clock.advance(12 * secondMs);
    runtime.says('silent');
    await clock.advance(27.9 * secondMs);
    assert.deepEqual(state.runtimeErrors(), []);
    await clock.advance(0.2 * secondMs);
    assert.deepEqual(state.runtimeErrors(), ['container runtime is down']);
  });

  it('shares one check among concurrent callers', async () => {
    runtime.says('hanging');
    begin();
    const asked = [state.check(life.signal), state.check(life.signal)];
    runtime.recovers();
    await Promise.all(asked);
    assert.equal(runtime.asked, 1);
  });

  it('does not wait for a check after the end', async () => {
    runtime.says('hanging');
    begin();
    const up = state.whenUp(life.signal);
    await clock.advance(secondMs);
    life.abort();
    await up;
  });
});
