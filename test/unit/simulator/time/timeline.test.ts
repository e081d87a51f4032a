import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { simulationRuntime } from '../../../../src/cli/simulate/simulation-runtime.ts';
import { SeededRandom } from '../../../../src/hollow-cluster/kubelet/faults/seeded-random.ts';
import { Timeline } from '../../../../src/simulator/time/timeline.ts';

function aTimeline(): Timeline {
  return new Timeline({ random: new SeededRandom(1), settle: simulationRuntime.settle });
}

describe('virtual time', () => {
  it('runs occurrences in the order of their times, and none that is cancelled', async () => {
    const anyTimes = fc.array(fc.record({ atMs: fc.nat(20), isCancelled: fc.boolean() }), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(anyTimes, async (planned) => {
        const timeline = aTimeline();
        const seen: number[] = [];
        const occurrences = planned.map(({ atMs }) => timeline.at(atMs, () => seen.push(timeline.nowMs)));
        for (const [index, { isCancelled }] of planned.entries()) {
          const occurrence = occurrences[index];
          if (occurrence !== undefined) occurrence.cancelled = isCancelled;
        }
        await timeline.runUntil(30);
        const kept = planned.filter(({ isCancelled }) => !isCancelled).map(({ atMs }) => atMs);
        assert.deepEqual(
          seen,
          kept.toSorted((a, b) => a - b),
        );
        assert.equal(timeline.nowMs, 30);
      }),
    );
  });

  it('settles every promise before the next occurrence', async () => {
    const timeline = aTimeline();
    const seen: string[] = [];
    timeline.at(1, () => {
      void (async () => {
        for (let step = 0; step < 5; step += 1) await Promise.resolve();
        seen.push('promises of the first');
      })();
    });
    timeline.at(2, () => seen.push('second'));
    await timeline.runUntil(2);
    assert.deepEqual(seen, ['promises of the first', 'second']);
  });

  it('rejects with what an occurrence throws', async () => {
    const timeline = aTimeline();
    timeline.at(1, () => {
      throw new Error('broken');
    });
    await assert.rejects(timeline.runUntil(2), /broken/);
  });

  it('rejects when time does not advance', async () => {
    const timeline = aTimeline();
    const again = (): void => void timeline.after(0, again);
    again();
    await assert.rejects(timeline.runUntil(1), /time does not advance beyond 0 ms/);
  });
});
