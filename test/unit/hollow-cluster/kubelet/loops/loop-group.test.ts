import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runTogether } from '../../../../../src/hollow-cluster/kubelet/loops/loop-group.ts';
import { untilAborted } from '../../../../../src/machinery/supervision/abort.ts';

describe('loops that run together', () => {
  it('end together when the signal aborts, even if it already has', async () => {
    const life = new AbortController();
    const running = runTogether(life.signal, [untilAborted, untilAborted]);
    life.abort();
    await running;
    await runTogether(life.signal, [untilAborted]);
  });

  it('end together when one fails, with its error as the cause', async () => {
    const cause = new Error('broken');
    let ended = false;
    const running = runTogether(new AbortController().signal, [
      async (signal) => {
        await untilAborted(signal);
        ended = true;
      },
      () => Promise.reject(cause),
    ]);
    await assert.rejects(running, (error: unknown) => error instanceof Error && error.cause === cause);
    assert.ok(ended, 'the others have ended before it rejects');
  });
});
