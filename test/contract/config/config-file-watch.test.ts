// The reloader on a real folder: changes reported by file events, and changes found by polling.
import assert from 'node:assert/strict';
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { SystemClock } from '../../../src/machinery/adapters/system-clock.ts';
import { ConfigReloader } from '../../../src/cli/controller/config-reloader.ts';
import { parseControllerConfig } from '../../../src/cli/controller/config.ts';
import type { Clock } from '../../../src/machinery/ports/clock.ts';
import { untilAborted } from '../../../src/machinery/supervision/abort.ts';
import { ConfigMapFolder } from '../../support/config-map-folder.ts';
import { RecordingLogger, RecordingMeter } from '../../support/fakes.ts';
import { until } from '../../support/small-world.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const soonMs = 20_000;
const rate = (perSecond: number): string =>
  `apiVersion: nodelifecycle/v1alpha1\nkind: ControllerConfiguration\nnodeEvictionRate: ${perSecond}\n`;

/** Polling never happens, or all the time; other intervals are the default. */
function clockOf(polling: 'never' | 'often'): Clock {
  const clock = new SystemClock();
  const sleep = (ms: number, signal: AbortSignal): Promise<void> => {
    if (ms < 1_000) return clock.sleep(ms, signal);
    return polling === 'never' ? untilAborted(signal) : clock.sleep(100, signal);
  };
  return { nowMs: () => clock.nowMs(), monotonicMs: () => clock.monotonicMs(), sleep };
}

async function withReloader(
  path: string,
  polling: 'never' | 'often',
  scenario: (rateIs: (perSecond: number) => Promise<unknown>) => Promise<void>,
): Promise<void> {
  const parse = (readFile: () => string): ReturnType<typeof parseControllerConfig> =>
    parseControllerConfig([`--config=${path}`], readFile);
  const started = parse(() => rate(0.1));
  if ('problems' in started) assert.fail(started.problems.join('\n'));
  let activeRate = 0.1;
  const over = new AbortController();
  const running = new ConfigReloader({
    file: { path, parse, values: started.values },
    adopt: ({ nodeEvictionRate }) => {
      activeRate = nodeEvictionRate;
    },
    clock: clockOf(polling),
    logger: new RecordingLogger(),
    meter: new RecordingMeter(),
  }).run(over.signal);
  try {
    await scenario((perSecond) => until(`a rate of ${perSecond}`, soonMs, async () => activeRate === perSecond));
  } finally {
    over.abort();
    await running;
  }
}

test('file events: a changed symlink, a replaced file and an overwritten file are detected', async () => {
  const mount = new ConfigMapFolder(rate(0.1));
  await withReloader(mount.file, 'never', async (rateIs) => {
    mount.turn(rate(0.2));
    await rateIs(0.2);
    mount.turn(rate(0.3));
    await rateIs(0.3);
  });
  mount.remove();

  const folder = tempFolder();
  const path = join(folder, 'config.yaml');
  writeFileSync(path, rate(0.1));
  await withReloader(path, 'never', async (rateIs) => {
    writeFileSync(join(folder, 'new'), rate(0.4));
    renameSync(join(folder, 'new'), path);
    await rateIs(0.4);
    writeFileSync(path, rate(0.5));
    await rateIs(0.5);
  });
});

test('polling: a file outside the folder, and a folder that was removed and created again, are detected', async () => {
  const folder = tempFolder();
  mkdirSync(join(folder, 'elsewhere'));
  const target = join(folder, 'elsewhere', 'file');
  writeFileSync(target, rate(0.1));
  mkdirSync(join(folder, 'here'));
  const path = join(folder, 'here', 'config.yaml');
  symlinkSync(target, path);
  await withReloader(path, 'often', async (rateIs) => {
    for (const perSecond of [0.2, 0.25, 0.28]) {
      writeFileSync(target, rate(perSecond));
      await rateIs(perSecond);
    }
    renameSync(join(folder, 'here'), join(folder, 'gone'));
    mkdirSync(join(folder, 'here'));
    writeFileSync(path, rate(0.3));
    await rateIs(0.3);
  });
});

test('other files of the folder that change all the time do not cause a read each', async () => {
  const folder = tempFolder();
  const path = join(folder, 'config.yaml');
  writeFileSync(path, rate(0.1));
  let reads = 0;
  class CountedReloader extends ConfigReloader {
    override reload(signal: AbortSignal): Promise<void> {
      reads += 1;
      return super.reload(signal);
    }
  }
  const values = parseControllerConfig([`--config=${path}`], () => rate(0.1));
  if ('problems' in values) assert.fail(values.problems.join('\n'));
  const over = new AbortController();
  const running = new CountedReloader({
    file: { path, parse: () => values, values: values.values },
    adopt: () => undefined,
    clock: clockOf('never'),
    logger: new RecordingLogger(),
    meter: new RecordingMeter(),
  }).run(over.signal);
  try {
    const clock = new SystemClock();
    const sinceMs = clock.monotonicMs();
    while (clock.monotonicMs() - sinceMs < 1_000) {
      writeFileSync(join(folder, 'other.log'), 'x', { flag: 'a' });
      await clock.sleep(1, over.signal);
    }
    assert.ok(reads >= 1 && reads <= 8, `${reads} reads`);
  } finally {
    over.abort();
    await running;
  }
});
