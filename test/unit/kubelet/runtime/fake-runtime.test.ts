import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { FakeRuntime } from '../../../../src/kubelet/runtime/fake-runtime.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const containers = [{ name: 'a', image: 'pause' }];

function aRuntime(delays: { readonly startDelayMs: number; readonly stopDelayMs: number }) {
  const clock = new ManualClock();
  return { clock, runtime: new FakeRuntime({ clock, ...delays }) };
}

const stateOf = (runtime: FakeRuntime): string | undefined => runtime.containers('u')?.[0]?.state;

describe('the fake runtime', () => {
  it('takes a container from created to running to exited, each at its time', async () => {
    const { clock, runtime } = aRuntime({ startDelayMs: 1_000, stopDelayMs: 500 });
    runtime.startPod('u', containers);
    assert.equal(stateOf(runtime), 'created');
    assert.equal(runtime.nextChangeAtMs(clock.monotonicMs()), clock.monotonicMs() + 1_000);
    await clock.advance(1_000);
    assert.deepEqual(runtime.containers('u'), [
      { name: 'a', image: 'pause', state: 'running', startedAtMs: clock.nowMs() },
    ]);
    assert.equal(runtime.nextChangeAtMs(clock.monotonicMs()), undefined);
    runtime.stopPod('u', 30_000);
    assert.equal(runtime.nextChangeAtMs(clock.monotonicMs()), clock.monotonicMs() + 500);
    await clock.advance(500);
    const [record] = runtime.containers('u') ?? [];
    assert.deepEqual(record?.state === 'exited' && [record.exitCode, record.finishedAtMs], [0, clock.nowMs()]);
  });

  it('kills what has not stopped when its grace period ends, and leaves it two seconds at least', async () => {
    const { clock, runtime } = aRuntime({ startDelayMs: 0, stopDelayMs: 60_000 });
    runtime.startPod('u', containers);
    runtime.stopPod('u', 0);
    await clock.advance(1_999);
    assert.equal(stateOf(runtime), 'running');
    await clock.advance(1);
    const [record] = runtime.containers('u') ?? [];
    assert.equal(record?.state === 'exited' && record.exitCode, 137);
  });

  it('throws away a container that had not run yet', () => {
    const { runtime } = aRuntime({ startDelayMs: 1_000, stopDelayMs: 1_000 });
    runtime.startPod('u', containers);
    runtime.stopPod('u', 30_000);
    const [record] = runtime.containers('u') ?? [];
    assert.deepEqual(record?.state === 'exited' && [record.exitCode, record.startedAtMs], [137, undefined]);
  });

  it('never starts a pod twice, and forgets one when told', async () => {
    const { clock, runtime } = aRuntime({ startDelayMs: 1_000, stopDelayMs: 0 });
    runtime.startPod('u', containers);
    await clock.advance(600);
    runtime.startPod('u', containers);
    await clock.advance(400);
    assert.equal(stateOf(runtime), 'running');
    runtime.removePod('u');
    assert.equal(runtime.containers('u'), undefined);
  });

  it('tells the same times of a container though the wall clock jumps', async () => {
    const { clock, runtime } = aRuntime({ startDelayMs: 0, stopDelayMs: 0 });
    runtime.startPod('u', containers);
    const before = runtime.containers('u');
    clock.jumpWall(3_600_000);
    await clock.advance(250.4);
    assert.deepEqual(runtime.containers('u'), before);
  });

  it('stops a pod earlier when told again, never later, and always within the shortest grace', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ afterMs: fc.nat(5_000), graceMs: fc.nat(40_000) }), { minLength: 1, maxLength: 5 }),
        fc.nat(60_000),
        async (stops, stopDelayMs) => {
          const { clock, runtime } = aRuntime({ startDelayMs: 0, stopDelayMs });
          runtime.startPod('u', containers);
          let deadlineMs = Number.POSITIVE_INFINITY;
          for (const { afterMs, graceMs } of stops) {
            await clock.advance(afterMs);
            runtime.stopPod('u', graceMs);
            deadlineMs = Math.min(deadlineMs, clock.monotonicMs() + Math.max(graceMs, 2_000));
            assert.ok((runtime.nextChangeAtMs(clock.monotonicMs()) ?? 0) <= deadlineMs);
          }
          await clock.advance(Math.max(0, deadlineMs - clock.monotonicMs()));
          assert.equal(stateOf(runtime), 'exited');
        },
      ),
      { numRuns: 40 },
    );
  });
});
