// The reloader on a real folder: what it is told of, and what it finds by looking where nothing tells.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { SystemClock } from '../../../src/adapters/system-clock.ts';
import { ConfigReloader } from '../../../src/cli/config-reloader.ts';
import { parseControllerConfig } from '../../../src/cli/controller-config.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import { untilAborted } from '../../../src/supervision/until-aborted.ts';
import { ConfigMapFolder } from '../../support/config-map-folder.ts';
import { KeepingLogger, KeepingMeter } from '../../support/quiet.ts';
import { until } from '../../support/small-world.ts';

const soonMs = 20_000;
const rate = (perSecond: number): string =>
  `apiVersion: nodelifecycle/v1alpha1\nkind: ControllerConfiguration\nnodeEvictionRate: ${perSecond}\n`;

/** Looks now and then take place never, or all the time: everything but the moment in which a file settles. */
function clockOf(looks: 'never' | 'often'): Clock {
  const clock = new SystemClock();
  const sleep = (ms: number, signal: AbortSignal): Promise<void> => {
    if (ms < 1_000) return clock.sleep(ms, signal);
    return looks === 'never' ? untilAborted(signal) : clock.sleep(100, signal);
  };
  return { nowMs: () => clock.nowMs(), monotonicMs: () => clock.monotonicMs(), sleep };
}

async function tell(
  path: string,
  looks: 'never' | 'often',
  story: (rateIs: (perSecond: number) => Promise<unknown>) => Promise<void>,
): Promise<void> {
  const parse = (readFile: () => string): ReturnType<typeof parseControllerConfig> =>
    parseControllerConfig([`--config=${path}`], readFile);
  const started = parse(() => rate(0.1));
  if ('problems' in started) assert.fail(started.problems.join('\n'));
  let inForce = 0.1;
  const over = new AbortController();
  const running = new ConfigReloader({
    file: { path, parse, values: started.values },
    adopt: ({ controller }) => {
      inForce = controller.nodeEvictionRate;
    },
    clock: clockOf(looks),
    logger: new KeepingLogger(),
    meter: new KeepingMeter(),
  }).run(over.signal);
  try {
    await story((perSecond) => until(`a rate of ${perSecond}`, soonMs, async () => inForce === perSecond));
  } finally {
    over.abort();
    await running;
  }
}

test('it is told of a turned link, of a file in the place of another, and of one that is written over', async () => {
  const mount = new ConfigMapFolder(rate(0.1));
  await tell(mount.file, 'never', async (rateIs) => {
    mount.turn(rate(0.2));
    await rateIs(0.2);
    mount.turn(rate(0.3));
    await rateIs(0.3);
  });
  mount.remove();

  const folder = mkdtempSync(join(tmpdir(), 'nlc-config-watch-'));
  const path = join(folder, 'config.yaml');
  writeFileSync(path, rate(0.1));
  await tell(path, 'never', async (rateIs) => {
    writeFileSync(join(folder, 'new'), rate(0.4));
    renameSync(join(folder, 'new'), path);
    await rateIs(0.4);
    writeFileSync(path, rate(0.5));
    await rateIs(0.5);
  });
  rmSync(folder, { recursive: true });
});

test('what it is not told of it finds: a file elsewhere, and a folder that went away and came back', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'nlc-config-watch-'));
  mkdirSync(join(folder, 'elsewhere'));
  const target = join(folder, 'elsewhere', 'file');
  writeFileSync(target, rate(0.1));
  mkdirSync(join(folder, 'here'));
  const path = join(folder, 'here', 'config.yaml');
  symlinkSync(target, path);
  await tell(path, 'often', async (rateIs) => {
    for (const perSecond of [0.2, 0.25, 0.28]) {
      writeFileSync(target, rate(perSecond));
      await rateIs(perSecond);
    }
    renameSync(join(folder, 'here'), join(folder, 'gone'));
    mkdirSync(join(folder, 'here'));
    writeFileSync(path, rate(0.3));
    await rateIs(0.3);
  });
  rmSync(folder, { recursive: true });
});
