// `nlc top` on a scripted terminal, and without one.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { startHttp } from '../../../src/machinery/page-server/observability-server.ts';
import { dispatch } from '../../../src/cli/commands/dispatch.ts';
import type { Terminal } from '../../../src/cli/io/command-io.ts';
import { explainRoutes } from '../../../src/cli/pages/explain-pages.ts';
import { listRoutes } from '../../../src/cli/pages/list-pages.ts';
import { ControllerWorld } from '../../support/controller-world.ts';
import { snapshotOf } from '../../support/explained.ts';
import { RecordingLogger } from '../../support/fakes.ts';
import { until } from '../../support/until.ts';
import { names } from '../../support/zoned-world.ts';

const main = join(import.meta.dirname, '..', '..', '..', 'src', 'cli', 'main.ts');

class FakeTerminal implements Terminal {
  shown = '';
  rows = 30;
  raw = false;
  #keys: ((keys: string) => void) | undefined;
  #resized: (() => void) | undefined;
  #exit: (() => void) | undefined;

  size() {
    return { columns: 100, rows: this.rows };
  }

  readKeys(listener: (keys: string) => void): () => void {
    this.#keys = listener;
    this.raw = true;
    return () => void (this.raw = false);
  }

  onResize(listener: () => void): () => void {
    this.#resized = listener;
    return () => void (this.#resized = undefined);
  }

  onExit(listener: () => void): () => void {
    this.#exit = listener;
    return () => void (this.#exit = undefined);
  }

  press(keys: string): void {
    this.#keys?.(keys);
  }

  resize(rows: number): void {
    this.rows = rows;
    this.#resized?.();
  }

  get isWatchingExit(): boolean {
    return this.#exit !== undefined;
  }

  /** The lines of the last frame. */
  get frame(): readonly string[] {
    const frame = this.shown.slice(this.shown.lastIndexOf('\x1b[H') + 3);
    // oxlint-disable-next-line no-control-regex -- escape sequences are removed
    return frame.replaceAll(/\x1b\[[0-9;?]*[A-Za-z]/g, '').split('\r\n');
  }
}

interface Stage {
  readonly world: ControllerWorld;
  /** Closes the pages. */
  readonly close: () => Promise<void>;
  readonly server: string;
}

/** Three of five nodes of zone a are silent. */
async function staged(t: TestContext): Promise<Stage> {
  const world = new ControllerWorld();
  for (const name of names(5, 'a-')) world.addNode(name, { zone: 'a' });
  world.addNode('b-0', { zone: 'b' });
  world.addPod('web', 'a-1');
  world.renewing('a-3', 'a-4', 'b-0');
  await world.running(60);
  const snapshot = snapshotOf(world);
  const http = await startHttp({
    address: { host: '127.0.0.1', port: 0 },
    routes: [...explainRoutes(snapshot), ...listRoutes(snapshot)],
    logger: new RecordingLogger(),
  });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= http.close());
  t.after(async () => {
    await close();
    await world.stop();
  });
  return { world, close, server: `--server=http://127.0.0.1:${http.address.port}` };
}

interface Running {
  readonly terminal: FakeTerminal;
  readonly stop: AbortController;
  readonly code: Promise<number>;
}

function start(flags: readonly string[], env: Readonly<Record<string, string>> = {}): Running {
  const terminal = new FakeTerminal();
  const stop = new AbortController();
  const code = dispatch(['top', '--interval=500ms', ...flags], {
    stdout: (text) => void (terminal.shown += text),
    stderr: (text) => assert.fail(text),
    openTerminal: () => terminal,
    env,
    signal: stop.signal,
  });
  return { terminal, stop, code };
}

const enter = '\x1b[?1049h\x1b[?25l';
const leave = '\x1b[?25h\x1b[?1049l';

test('on a terminal: the alternate screen, refreshed in place, keys and resize, and back at the end', async (t) => {
  const { world, server } = await staged(t);
  const { terminal, code } = start([server]);
  await until(() => terminal.shown.includes('\x1b[H'));
  assert.ok(terminal.shown.startsWith(enter));
  assert.equal(terminal.frame.length, 30);
  assert.ok(terminal.raw && terminal.isWatchingExit);
  assert.match(terminal.frame.join('\n'), /^a-0 +r\/a +unreachable /m);
  world.removeNode('a-0');
  await until(() => !terminal.frame.join('\n').includes('a-0'));
  terminal.press('/a-1\r');
  assert.match(terminal.frame.join('\n'), /^a-1 /m);
  assert.doesNotMatch(terminal.frame.join('\n'), /^a-2 /m);
  terminal.resize(12);
  assert.equal(terminal.frame.length, 12);
  terminal.press('q');
  assert.equal(await code, 0);
  assert.ok(terminal.shown.endsWith(leave));
  assert.ok(!terminal.raw && !terminal.isWatchingExit);
});

test('SIGINT and SIGTERM restore the terminal', async (t) => {
  const { server } = await staged(t);
  const { terminal, stop, code } = start([server]);
  await until(() => terminal.shown.includes('\x1b[H'));
  stop.abort();
  assert.equal(await code, 0);
  assert.ok(terminal.shown.endsWith(leave) && !terminal.raw);
});

test('NO_COLOR: no graphic rendition', async (t) => {
  const { server } = await staged(t);
  const { terminal, code } = start([server], { NO_COLOR: '1' });
  await until(() => terminal.shown.includes('\x1b[H'));
  terminal.press('q');
  await code;
  // oxlint-disable-next-line no-control-regex -- it is what must not occur
  assert.doesNotMatch(terminal.shown, /\x1b\[[0-9;]*m/);
});

test('a controller that stops responding is named over the last pages', async (t) => {
  const { close, server } = await staged(t);
  const { terminal, code } = start([server]);
  await until(() => terminal.shown.includes('\x1b[H'));
  await close();
  await until(() => /no response from http/.test(terminal.frame[1] ?? ''));
  assert.match(terminal.frame.join('\n'), /^a-1 /m);
  terminal.press('\x03');
  assert.equal(await code, 0);
});

test('without a terminal: one table, or one for each interval with --watch; a failure is the exit code', async (t) => {
  const { close, server } = await staged(t);
  const run = (...flags: readonly string[]) => {
    const said = { out: '', err: '' };
    const stop = new AbortController();
    const code = dispatch(['top', server, '--interval=500ms', ...flags], {
      stdout: (text) => void (said.out += text),
      stderr: (text) => void (said.err += text),
      env: {},
      signal: stop.signal,
    });
    return { said, stop, code };
  };
  const once = run('--sort=name', '--filter=a-');
  assert.equal(await once.code, 0);
  // oxlint-disable-next-line no-control-regex -- it is what must not occur
  assert.doesNotMatch(once.said.out, /\x1b/);
  assert.match(once.said.out, /^a-0 .*\na-1 .*\na-2 /m);
  const watching = run('--watch');
  await until(() => (watching.said.out.match(/^NODE /gm) ?? []).length >= 2);
  watching.stop.abort();
  assert.equal(await watching.code, 0);
  await close();
  const failed = run();
  assert.equal(await failed.code, 1);
  assert.match(failed.said.err, /^nlc top: no response from http/);
});

test('on a real terminal the keys are read unbuffered and without echo, and the screen is restored', async (t) => {
  if (!spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux'))
    return t.skip('no script');
  const { server } = await staged(t);
  const program = `stty rows 20 cols 90; exec ${process.execPath} ${main} top ${server}`;
  const child = spawn('script', ['--quiet', '--return', '--command', program, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (shown += text));
  const exited = once(child, 'close');
  await until(() => shown.includes('q quit'), 20_000);
  child.stdin.write('/a-1\r');
  await until(() => shown.includes('filter: a-1'));
  child.stdin.write('q');
  assert.deepEqual(await exited, [0, null], shown);
  assert.ok(shown.startsWith(enter) && shown.trimEnd().endsWith(leave), JSON.stringify(shown.slice(-50)));
});
