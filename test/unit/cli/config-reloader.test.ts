// Looks at a file that changes in all the ways in which files do. What watches its folder is for the process's own test.
import assert from 'node:assert/strict';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type ConfigFileSource, ConfigReloader } from '../../../src/cli/config-reloader.ts';
import { type ControllerConfig, parseControllerConfig } from '../../../src/cli/controller-config.ts';
import type { SettingChange } from '../../../src/controller/decisions.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import { ConfigMapFolder } from '../../support/config-map-folder.ts';
import { KeepingLogger, KeepingMeter } from '../../support/quiet.ts';

const folder = mkdtempSync(join(tmpdir(), 'nlc-config-reloader-'));
after(() => rmSync(folder, { recursive: true }));
const head = 'apiVersion: nodelifecycle/v1alpha1\nkind: ControllerConfiguration\n';
const rate = (perSecond: number): string => `${head}nodeEvictionRate: ${perSecond}\n`;

class Desk {
  readonly logger = new KeepingLogger();
  readonly meter = new KeepingMeter();
  readonly adopted: { readonly config: ControllerConfig; readonly applied: readonly SettingChange[] }[] = [];
  /** What happens to the file while the reloader waits for it to settle, wait by wait. */
  readonly meanwhile: (() => void)[] = [];
  readonly #reloader: ConfigReloader;

  parse: ConfigFileSource['parse'];

  constructor(path: string) {
    this.parse = (readFile) => parseControllerConfig([`--config=${path}`], readFile);
    const started = this.parse(() => rate(0.1));
    if ('problems' in started) assert.fail(started.problems.join('\n'));
    const sleep = async (): Promise<void> => this.meanwhile.shift()?.();
    const clock: Clock = { nowMs: () => 5_000, monotonicMs: () => 0, sleep };
    this.#reloader = new ConfigReloader({
      file: { path, parse: (readFile) => this.parse(readFile), values: started.values },
      adopt: (config, applied) => this.adopted.push({ config, applied }),
      clock,
      logger: this.logger,
      meter: this.meter,
    });
  }

  standing(): ReturnType<ConfigReloader['standing']> {
    return this.#reloader.standing();
  }

  look(): Promise<void> {
    return this.#reloader.look(new AbortController().signal);
  }

  rates(): readonly number[] {
    return this.adopted.map(({ config }) => config.controller.nodeEvictionRate);
  }

  metric(name: string): number | undefined {
    return this.meter.series.get(`node_lifecycle_config_${name}`);
  }

  said(level: string): readonly string[] {
    return this.logger.lines.filter((line) => line.level === level).map(({ message }) => message);
  }
}

const fileOf = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

test('the first look finds what the process was started with, and says nothing', async () => {
  const desk = new Desk(fileOf('same', rate(0.1)));
  assert.equal(desk.metric('last_reload_successful'), 1, 'who reads before the first look finds no refusal');
  assert.equal(desk.metric('settings_awaiting_restart'), 0);
  await desk.look();
  assert.deepEqual(desk.adopted, []);
  assert.deepEqual([desk.said('info'), desk.said('warn'), desk.said('error')], [[], [], []]);
  assert.equal(desk.metric('last_reload_successful'), 1);
  assert.equal(desk.metric('reloads_total{result="success"}'), 0);
});

test('what changed between the start and the first look is taken up', async () => {
  const desk = new Desk(fileOf('early', rate(0.2)));
  await desk.look();
  assert.deepEqual(desk.rates(), [0.2]);
});

test('a file that an editor puts in the place of the old one, and a folder whose link is turned', async () => {
  const path = fileOf('edited', rate(0.1));
  const desk = new Desk(path);
  await desk.look();
  writeFileSync(`${path}.swp`, rate(0.3));
  renameSync(`${path}.swp`, path);
  await desk.look();
  assert.deepEqual(desk.rates(), [0.3]);

  const mount = new ConfigMapFolder(rate(0.1));
  const mounted = new Desk(mount.file);
  await mounted.look();
  mount.turn(rate(0.4));
  await mounted.look();
  assert.deepEqual(mounted.rates(), [0.4]);
  mount.remove();
});

test('the same text again is no reload; a comment is one that changes nothing', async () => {
  const path = fileOf('comment', rate(0.1));
  const desk = new Desk(path);
  await desk.look();
  writeFileSync(path, rate(0.1));
  await desk.look();
  assert.equal(desk.metric('reloads_total{result="success"}'), 0);
  writeFileSync(path, `# at night\n${rate(0.1)}`);
  await desk.look();
  assert.equal(desk.metric('reloads_total{result="success"}'), 1);
  assert.deepEqual(desk.adopted, []);
});

test('half a file, which is valid by itself and would set the rest back to defaults, is waited out', async () => {
  const path = fileOf('half', `${rate(0.1)}nodeMonitorGracePeriod: 2m\n`);
  const desk = new Desk(path);
  await desk.look();
  assert.equal(desk.adopted.length, 1);
  writeFileSync(path, rate(0.5));
  desk.meanwhile.push(() => writeFileSync(path, `${rate(0.5)}nodeMonitorGracePeriod: 2m\n`));
  await desk.look();
  assert.deepEqual(desk.adopted.at(-1)?.applied, [{ setting: 'nodeEvictionRate', from: '0.1', to: '0.5' }]);
});

test('a file that is refused changes nothing, is told once with all that is wrong, and may come to be right again', async () => {
  const path = fileOf('refused', rate(0.1));
  const desk = new Desk(path);
  await desk.look();
  writeFileSync(path, `${rate(-1)}nodeMonitorPeriod: 5\nv: 4\n`);
  await desk.look();
  await desk.look();
  assert.deepEqual(desk.adopted, []);
  const told = desk.logger.lines.filter(({ level }) => level === 'error');
  assert.equal(told.length, 1);
  assert.deepEqual(told[0]?.fields['problems'], [
    `${path}: nodeMonitorPeriod: got 5; accepted: a duration with units, such as 1m30s or 500ms, above 0`,
    `${path}: nodeEvictionRate: got -1; accepted: a number, from 0`,
  ]);
  assert.equal(desk.metric('last_reload_successful'), 0);
  assert.equal(desk.metric('reloads_total{result="failure"}'), 1);
  assert.equal(desk.standing().problems.length, 2);
  writeFileSync(path, rate(0.1));
  await desk.look();
  assert.equal(desk.metric('last_reload_successful'), 1);
  assert.deepEqual(desk.said('info'), ['the config file is valid again']);
  assert.deepEqual(desk.standing(), { path, problems: [], waiting: [] });
  assert.deepEqual(desk.adopted, []);
});

test('a file that is gone is a problem like any other, and its return the end of it', async () => {
  const path = fileOf('gone', rate(0.1));
  const desk = new Desk(path);
  await desk.look();
  rmSync(path);
  await desk.look();
  assert.equal(desk.metric('last_reload_successful'), 0);
  assert.match(String(desk.logger.lines.at(-1)?.fields['problems']), /accepted: a file that can be read \(ENOENT/);
  writeFileSync(path, rate(0.2));
  await desk.look();
  assert.deepEqual(desk.rates(), [0.2]);
});

test('a fault of the reader is a problem like any other', async () => {
  const path = fileOf('fault', rate(0.1));
  const desk = new Desk(path);
  await desk.look();
  desk.parse = () => {
    throw new TypeError('a fault of ours');
  };
  writeFileSync(path, rate(0.2));
  await desk.look();
  assert.deepEqual(desk.standing().problems, [`--config: ${path} cannot be read: a fault of ours`]);
  assert.deepEqual(desk.adopted, []);
});

test('what needs a restart is told and counted, and is forgotten when the file takes it back', async () => {
  const path = fileOf('restart', rate(0.1));
  const desk = new Desk(path);
  await desk.look();
  writeFileSync(path, `${rate(0.2)}leaderElect: false\nconcurrentWrites: 4\n`);
  await desk.look();
  assert.deepEqual(desk.rates(), [0.2]);
  assert.equal(desk.adopted[0]?.config.leaderElection.enabled, true);
  assert.equal(desk.metric('settings_awaiting_restart'), 2);
  assert.deepEqual(
    desk.standing().waiting.map(({ setting }) => setting),
    ['concurrentWrites', 'leaderElect'],
  );
  assert.ok(desk.said('warn').includes('these settings of the config file need a restart'));
  writeFileSync(path, rate(0.2));
  await desk.look();
  assert.equal(desk.metric('settings_awaiting_restart'), 0);
  assert.equal(desk.adopted.length, 1);
});

test('what is allowed but odd is said at a reload as at the start', async () => {
  const path = fileOf('odd', rate(0.1));
  const desk = new Desk(path);
  await desk.look();
  writeFileSync(path, `${rate(0.1)}nodeMonitorGracePeriod: 20s\n`);
  await desk.look();
  assert.match(desk.said('warn').join('\n'), /^--node-monitor-grace-period is 20s\. Kubelets give a sign of life/);
});
