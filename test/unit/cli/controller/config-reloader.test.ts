// Reloads of a file that is replaced, written in parts, removed or invalid. The directory watch is tested with processes.
import assert from 'node:assert/strict';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type ConfigFileSource, ConfigReloader } from '../../../../src/cli/controller/config-reloader.ts';
import { type ControllerConfig, parseControllerConfig } from '../../../../src/cli/controller/config.ts';
import type { SettingChange } from '../../../../src/controller/model/decisions.ts';
import type { Clock } from '../../../../src/machinery/ports/clock.ts';
import { ConfigMapFolder } from '../../../support/config-map-folder.ts';
import { RecordingLogger, RecordingMeter } from '../../../support/fakes.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

const folder = tempFolder();
const head = 'apiVersion: nodelifecycle/v1alpha1\nkind: ControllerConfiguration\n';
const rate = (perSecond: number): string => `${head}nodeEvictionRate: ${perSecond}\n`;

class Desk {
  readonly logger = new RecordingLogger();
  readonly meter = new RecordingMeter();
  readonly adopted: { readonly config: ControllerConfig; readonly applied: readonly SettingChange[] }[] = [];
  /** Actions on the file while the reloader waits for it to settle, one per wait. */
  readonly meanwhile: (() => void)[] = [];
  readonly #reloader: ConfigReloader;

  parse: ConfigFileSource['parse'];

  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
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

  standing(): ReturnType<ConfigReloader['status']> {
    return this.#reloader.status();
  }

  /** The file has this text from now on, and is checked. */
  change(text: string): Promise<void> {
    writeFileSync(this.#path, text);
    return this.look();
  }

  recheck(): void {
    this.#reloader.recheck();
  }

  look(): Promise<void> {
    return this.#reloader.reload(new AbortController().signal);
  }

  rates(): readonly number[] {
    return this.adopted.map(({ config }) => config.nodeEvictionRate);
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

/** The file has been checked once. */
async function checked(name: string, text = rate(0.1)): Promise<{ readonly path: string; readonly desk: Desk }> {
  const path = fileOf(name, text);
  const desk = new Desk(path);
  await desk.look();
  return { path, desk };
}

test('an unchanged file at the first check is not logged', async () => {
  const desk = new Desk(fileOf('same', rate(0.1)));
  assert.equal(desk.metric('last_reload_successful'), 1, 'set before the first check');
  assert.equal(desk.metric('settings_awaiting_restart'), 0);
  await desk.look();
  assert.deepEqual(desk.adopted, []);
  assert.deepEqual([desk.said('info'), desk.said('warn'), desk.said('error')], [[], [], []]);
  assert.equal(desk.metric('last_reload_successful'), 1);
  assert.equal(desk.metric('reloads_total{result="success"}'), 0);
});

test('a change between the start and the first check is applied', async () => {
  const { desk } = await checked('early', rate(0.2));
  assert.deepEqual(desk.rates(), [0.2]);
});

test('a replaced file and a switched ConfigMap volume are reloaded', async () => {
  const { path, desk } = await checked('edited');
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

test('a rewrite of the same text is not a reload; a new comment is a reload that changes no setting', async () => {
  const { desk } = await checked('comment');
  await desk.change(rate(0.1));
  assert.equal(desk.metric('reloads_total{result="success"}'), 0);
  await desk.change(`# at night\n${rate(0.1)}`);
  assert.equal(desk.metric('reloads_total{result="success"}'), 1);
  assert.deepEqual(desk.adopted, []);
});

test('a partly written file is not applied, even if it is valid', async () => {
  const { path, desk } = await checked('half', `${rate(0.1)}nodeMonitorGracePeriod: 2m\n`);
  assert.equal(desk.adopted.length, 1);
  writeFileSync(path, rate(0.5));
  desk.meanwhile.push(() => writeFileSync(path, `${rate(0.5)}nodeMonitorGracePeriod: 2m\n`));
  await desk.look();
  assert.deepEqual(desk.adopted.at(-1)?.applied, [{ setting: 'nodeEvictionRate', from: '0.1', to: '0.5' }]);
});

test('changed policies are applied; a wrong one is refused with its field, and those in force stay', async () => {
  const text = (grace: string): string =>
    `${head}policies:\n- { name: edge, nodeSelector: { matchLabels: { pool: edge } }, nodeMonitorGracePeriod: ${grace} }\n`;
  const { desk } = await checked('policies');
  await desk.change(text('2m'));
  assert.deepEqual(
    desk.adopted.map(({ config }) => config.policies.map(({ nodeMonitorGracePeriodMs: ms }) => ms)),
    [[120_000]],
  );
  assert.deepEqual(desk.adopted[0]?.applied, [
    {
      setting: 'policies[edge]',
      from: 'not set',
      to: 'priority 0, Enforce, pool In [edge], nodeMonitorGracePeriod 2m0s',
    },
  ]);
  await desk.change(text('120'));
  assert.equal(desk.adopted.length, 1);
  assert.match(
    desk.standing().problems.join(),
    /: policies\[0\]\.nodeMonitorGracePeriod: must be a duration > 0 .* \(got 120\)$/u,
  );
  assert.equal(desk.metric('last_reload_successful'), 0);
  await desk.change(`${head}paused: true\n`);
  const last = desk.adopted.at(-1);
  assert.deepEqual([last?.config.policies, last?.config.paused], [[], true]);
  assert.deepEqual(desk.standing().problems, []);
});

test('an invalid file changes nothing and is logged once with all problems, until it is valid again', async () => {
  const { path, desk } = await checked('refused');
  await desk.change(`${rate(-1)}nodeMonitorPeriod: 5\nv: 4\n`);
  await desk.look();
  assert.deepEqual(desk.adopted, []);
  const errors = desk.logger.at('error');
  assert.equal(errors.length, 1);
  assert.deepEqual(errors[0]?.fields['problems'], [
    `${path}: nodeMonitorPeriod: must be a duration > 0 with a unit, such as 1m30s or 500ms (got 5)`,
    `${path}: nodeEvictionRate: must be a number >= 0 (got -1)`,
  ]);
  assert.equal(desk.metric('last_reload_successful'), 0);
  assert.equal(desk.metric('reloads_total{result="failure"}'), 1);
  assert.equal(desk.standing().problems.length, 2);
  await desk.change(rate(0.1));
  assert.equal(desk.metric('last_reload_successful'), 1);
  assert.deepEqual(desk.said('info'), ['config file is valid again']);
  assert.deepEqual(desk.standing(), { path, problems: [], waiting: [] });
  assert.deepEqual(desk.adopted, []);
});

test('a removed file is a problem until it exists again', async () => {
  const { path, desk } = await checked('gone');
  rmSync(path);
  await desk.look();
  assert.equal(desk.metric('last_reload_successful'), 0);
  assert.match(String(desk.logger.lines.at(-1)?.fields['problems']), /: cannot read: ENOENT/);
  await desk.change(rate(0.2));
  assert.deepEqual(desk.rates(), [0.2]);
});

test('an unexpected error of the parser is a problem of the file', async () => {
  const { path, desk } = await checked('fault');
  desk.parse = () => {
    throw new TypeError('unexpected');
  };
  await desk.change(rate(0.2));
  assert.deepEqual(desk.standing().problems, [`${path}: cannot parse: unexpected`]);
  assert.deepEqual(desk.adopted, []);
});

test('a setting that requires a restart is logged and counted until the file reverts it', async () => {
  const { desk } = await checked('restart');
  await desk.change(`${rate(0.2)}leaderElect: false\nconcurrentWrites: 4\n`);
  assert.deepEqual(desk.rates(), [0.2]);
  assert.equal(desk.adopted[0]?.config.leaderElect, true);
  assert.equal(desk.metric('settings_awaiting_restart'), 2);
  const waiting = desk.standing().waiting.map(({ setting }) => setting);
  assert.deepEqual(waiting, ['concurrentWrites', 'leaderElect']);
  assert.ok(desk.said('warn').includes('changed settings of the config file require a restart'));
  await desk.change(rate(0.2));
  assert.equal(desk.metric('settings_awaiting_restart'), 0);
  assert.equal(desk.adopted.length, 1);
});

test('warnings about risky settings are logged at a reload too', async () => {
  const { desk } = await checked('risky');
  await desk.change(`${rate(0.1)}nodeMonitorGracePeriod: 20s\n`);
  assert.match(desk.said('warn').join('\n'), /^--node-monitor-grace-period is 20s: kubelets renew their lease/);
});

test('a file that was rejected for what is outside of it is parsed again when that changes, and only then', async () => {
  const { desk } = await checked('recheck.yaml');
  let isAllowed = false;
  const parse = desk.parse;
  desk.parse = (readFile) => (isAllowed ? parse(readFile) : { problems: ['must be > the policy'] });
  await desk.change(rate(0.7));
  await desk.look();
  assert.deepEqual([desk.rates(), desk.standing().problems], [[], ['must be > the policy']]);
  isAllowed = true;
  await desk.look();
  assert.deepEqual(desk.rates(), [], 'the file did not change');
  desk.recheck();
  await desk.look();
  assert.deepEqual([desk.rates(), desk.standing().problems], [[0.7], []]);
});
