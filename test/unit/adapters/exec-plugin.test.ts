import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { ExecPlugin, pluginMsMax } from '../../../src/adapters/exec-plugin.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { until } from '../../support/until.ts';

describe('a credential plugin that hangs', () => {
  let folder: string;
  let clock: ManualClock;
  let plugin: ExecPlugin;

  const file = (name: string): string => join(folder, name);
  const contents = (name: string): string => (existsSync(file(name)) ? readFileSync(file(name), 'utf8') : '');

  /** Runs until it is ended, unless there is an answer by then; what it starts itself hangs too, with its output open. */
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'nlc-exec-plugin-'));
    const hang = `echo $$ >"$0.pid"; [ -e "$0.answer" ] && exec cat "$0.answer"; sleep 1000 & echo $! >"$0.child"; wait`;
    clock = new ManualClock();
    const settings = { apiVersion: 'client.authentication.k8s.io/v1', command: 'sh', env: {}, cluster: undefined };
    plugin = new ExecPlugin({ ...settings, args: ['-c', hang, file('plugin')] }, clock);
  });
  afterEach(() => {
    if (contents('plugin.child') !== '') process.kill(Number(contents('plugin.child')));
    rmSync(folder, { recursive: true });
  });

  const isRunning = (pid: number): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  test('is ended after a minute, for all who wait, and asked again by the next', { timeout: 30_000 }, async () => {
    let ended = 0;
    const waiting = [plugin.current(), plugin.current()].map((call) => call.finally(() => (ended += 1)));
    const outcomes = Promise.allSettled(waiting);
    await until(() => contents('plugin.child') !== '');
    const pid = Number(contents('plugin.pid'));
    await clock.advance(pluginMsMax - 1);
    assert.deepEqual([ended, isRunning(pid)], [0, true]);
    await clock.advance(1);
    for (const outcome of await outcomes) {
      assert.equal(outcome.status, 'rejected');
      assert.match(String(outcome.reason), /the plugin was ended after 60000 ms/);
    }
    await until(() => !isRunning(pid));
    assert.equal(clock.sleeping, 0, 'no timer is left');

    writeFileSync(file('plugin.answer'), JSON.stringify({ status: { token: 'late' } }));
    assert.equal((await plugin.current()).token, 'late');
    assert.equal(clock.sleeping, 0, 'no timer is left');
  });
});
