import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import type { PluginCredential } from '../../../../src/machinery/kubeconfig/exec-credential.ts';
import {
  ExecPlugin,
  pluginBackoffMsMax,
  pluginBackoffMsMin,
  pluginLeewayMs,
  pluginPauseMs,
} from '../../../../src/machinery/kubeconfig/exec-plugin.ts';
import { ManualClock, settled } from '../../../support/manual-clock.ts';
import { RecordingLogger } from '../../../support/fakes.ts';

const minuteMs = 60_000;

describe('a credential plugin', () => {
  let clock: ManualClock;
  let logger: RecordingLogger;
  let plugin: ExecPlugin;
  /** The result of each run, in order; further runs never end. */
  let runs: ((credential: PluginCredential | Error) => void)[];

  beforeEach(() => {
    clock = new ManualClock();
    logger = new RecordingLogger();
    runs = [];
    const obtain = (): Promise<PluginCredential> =>
      new Promise((resolve, reject) => {
        runs.push((answer) => (answer instanceof Error ? reject(answer) : resolve(answer)));
      });
    plugin = new ExecPlugin({ command: 'aws', obtain, clock, logger });
  });

  const credential = (token: string, goodForMs = Infinity): PluginCredential => {
    const expiresAtMs = goodForMs === Infinity ? undefined : clock.nowMs() + goodForMs;
    return { token, certPem: undefined, keyPem: undefined, expiresAtMs };
  };
  const answer = async (given: PluginCredential | Error): Promise<void> => {
    runs.at(-1)?.(given);
    await settled();
  };
  const tokenNow = async (): Promise<string> =>
    plugin.current().then(
      ({ token = '' }) => token,
      (error: unknown) => String(error),
    );
  /** A request waits for this result of a run. */
  const waitsFor = async (token: string, goodForMs?: number): Promise<void> => {
    const waiting = tokenNow();
    await answer(credential(token, goodForMs));
    assert.equal(await waiting, token);
  };
  const first = (goodForMs?: number): Promise<void> => waitsFor('first', goodForMs);
  const failing = async (message: string): Promise<void> => {
    const waiting = tokenNow();
    await answer(new Error(message));
    assert.equal(await waiting, `Error: ${message}`);
  };

  test('runs once for all waiting requests, and not again while its credential is valid', async () => {
    const waiting = [tokenNow(), tokenNow(), tokenNow()];
    await answer(credential('first', minuteMs));
    assert.deepEqual(await Promise.all(waiting), ['first', 'first', 'first']);
    await clock.advance(minuteMs - pluginLeewayMs - 1);
    assert.equal(await tokenNow(), 'first');
    assert.equal(runs.length, 1);
  });

  test('runs in the background shortly before its credential expires, and no request waits', async () => {
    await first(minuteMs);
    await clock.advance(minuteMs - pluginLeewayMs);
    assert.deepEqual(await Promise.all([tokenNow(), tokenNow()]), ['first', 'first']);
    assert.equal(runs.length, 2);
    await clock.advance(pluginLeewayMs - 1);
    assert.equal(await tokenNow(), 'first');
    assert.equal(runs.length, 2, 'one process at a time');
    await answer(credential('second', minuteMs));
    assert.equal(await tokenNow(), 'second');
  });

  test('after its credential has expired all requests wait for the current run', async () => {
    await first(minuteMs);
    await clock.advance(minuteMs - 1);
    assert.equal(await tokenNow(), 'first');
    await clock.advance(1);
    const waiting = [tokenNow(), tokenNow()];
    await answer(credential('second', minuteMs));
    assert.deepEqual(await Promise.all(waiting), ['second', 'second']);
    assert.equal(runs.length, 2);
  });

  test('a failure in the background is logged with only the command, and the valid credential stays in use', async () => {
    await first(minuteMs);
    await clock.advance(minuteMs - pluginLeewayMs);
    await tokenNow();
    await answer(new Error('no network'));
    assert.equal(await tokenNow(), 'first');
    assert.deepEqual(
      logger.lines.map(({ level, message, fields }) => [level, message, fields['command'], fields['retryAfterMs']]),
      [['warn', 'credential plugin failed', 'aws', pluginBackoffMsMin]],
    );
  });

  test('a failing plugin is retried after 1 s, 2 s, 4 s ... 60 s; requests in between fail at once', async () => {
    await first(minuteMs);
    await clock.advance(minuteMs);
    for (const [at, waitS] of [1, 2, 4, 8, 16, 32, 60, 60].entries()) {
      await failing(`failure ${at}`);
      await clock.advance(waitS * 1_000 - 1);
      assert.equal(await tokenNow(), `Error: failure ${at}`);
      assert.equal(runs.length, 2 + at, 'no process before the backoff ends');
      await clock.advance(1);
    }
    await waitsFor('second', minuteMs);
  });

  test('a success resets the backoff to 1 s', async () => {
    for (const message of ['one', 'two']) {
      await failing(message);
      await clock.advance(minuteMs);
    }
    await first(minuteMs);
    await clock.advance(minuteMs);
    await failing('three');
    await clock.advance(pluginBackoffMsMin);
    void tokenNow();
    assert.equal(runs.length, 5);
  });

  test('the first failure is returned to the waiting requests and not logged', async () => {
    await failing('no such command');
    assert.deepEqual(logger.lines, []);
  });

  test('credentials that have already expired are used, and the plugin runs at most once in 10 s', async () => {
    await first(-minuteMs);
    await clock.advance(pluginPauseMs - 1);
    assert.equal(await tokenNow(), 'first');
    assert.equal(runs.length, 1);
    await clock.advance(1);
    await waitsFor('second', -minuteMs);
  });

  test('a rejected credential is replaced at once, and all requests wait for the new one', async () => {
    await first();
    assert.equal(plugin.refused('first'), true);
    assert.equal(plugin.refused('first'), true);
    const waiting = [tokenNow(), tokenNow()];
    assert.equal(plugin.refused('first'), true);
    await answer(credential('second'));
    assert.deepEqual(await Promise.all(waiting), ['second', 'second']);
    assert.equal(plugin.refused('first'), true, 'a new credential is in use');
    assert.equal(await tokenNow(), 'second');
    assert.equal(runs.length, 2);
  });

  test('a server that rejects every credential does not cause a process per request: runs are 1 s, 2 s ... 60 s apart', async () => {
    await first();
    let token = 'first';
    const startedMs: number[] = [];
    for (let second = 0; second < 600; second += 1) {
      plugin.refused(token);
      const waiting = tokenNow();
      if (runs.length > startedMs.length + 1) {
        startedMs.push(clock.monotonicMs());
        token = `number ${runs.length}`;
        await answer(credential(token));
      }
      assert.equal(await waiting, token);
      await clock.advance(1_000);
    }
    const gapsS = startedMs.map((atMs, at) => (atMs - (startedMs[at - 1] ?? atMs)) / 1_000);
    assert.deepEqual(gapsS.slice(1, 10), [1, 2, 4, 8, 16, 32, 60, 60, 60]);
    assert.equal(startedMs.length, 15);
  });

  test('a rejected credential stays in use until the plugin may run again: the rejection may be a mistake', async () => {
    await first();
    plugin.refused('first');
    await waitsFor('second');
    assert.equal(plugin.refused('second'), false, 'no other credential yet');
    assert.equal(await tokenNow(), 'second');
    assert.equal(runs.length, 2);
  });

  test('a credential that is rejected after it was accepted for a while is replaced at once, each time', async () => {
    await first();
    for (const [held, next] of [
      ['first', 'second'],
      ['second', 'third'],
      ['third', 'fourth'],
    ] as const) {
      await clock.advance(pluginBackoffMsMax + 1);
      assert.equal(plugin.refused(held), true);
      await waitsFor(next);
    }
  });

  test('a credential that expires while the wall clock steps expires by the wall clock', async () => {
    await first(minuteMs);
    clock.jumpWall(minuteMs);
    await clock.advance(pluginPauseMs);
    await waitsFor('second', minuteMs);
  });
});
