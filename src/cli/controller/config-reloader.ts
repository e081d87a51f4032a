// Reloads the config file when it changes. The kubelet replaces a ConfigMap volume by switching a symbolic link, editors
// replace the file, and other programs write it in parts: so the directory is watched, the text is compared, and a text
// counts only if it does not change for a moment. The file is also polled, for file systems without notifications.
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Ambient } from '../../machinery/ports/ambient.ts';
import { watchPath } from '../../machinery/adapters/path-watch.ts';
import type { SettingChange } from '../../controller/model/decisions.ts';
import type { ConfigFileReport } from '../../controller/report/pages.ts';
import { Alarm } from '../../machinery/supervision/alarm.ts';
import {
  configLastReloadSuccess,
  configLastReloadSuccessful,
  configReloadsTotal,
  configSettingsWaiting,
} from './config-metrics.ts';
import { decideReload, type Reload } from './config-reload.ts';
import { type ConfigOutcome, type ControllerConfig, configOf } from './config.ts';
import type { ControllerValues } from './rules.ts';

const pollEveryMs = 10_000;
/** The text must not change for this long before it is parsed. */
const settleMs = 200;

/** The file that the process was started with. */
export interface ConfigFileSource {
  readonly path: string;
  /** Parses flags and file as at the start. An error of `readFile` is a problem. */
  readonly parse: (readFile: () => string) => ConfigOutcome;
  /** The settings at the start of the process. */
  readonly values: ControllerValues;
}

interface ConfigReloaderOptions extends Ambient {
  readonly file: ConfigFileSource;
  readonly adopt: (config: ControllerConfig, applied: readonly SettingChange[]) => void;
}

/** The text of the file, or the read error. */
type Reading = { readonly text: string } | { readonly problem: string };

export class ConfigReloader {
  readonly #options: ConfigReloaderOptions;
  readonly #alarm: Alarm;
  #inForce: ControllerValues;
  #known: Reading | undefined;
  #problems: readonly string[] = [];
  #waiting: readonly SettingChange[] = [];
  #mustParse = false;

  constructor(options: ConfigReloaderOptions) {
    this.#options = options;
    this.#alarm = new Alarm(options.clock);
    this.#inForce = options.file.values;
    for (const result of ['success', 'failure']) options.meter.add(configReloadsTotal, 0, { result });
    this.#setSuccessMetrics();
  }

  /** How the file and the current settings differ. */
  status(): ConfigFileReport {
    return { path: this.#options.file.path, problems: this.#problems, waiting: this.#waiting };
  }

  /** What the settings are checked against besides the file has changed: a file that was rejected is parsed again. */
  recheck(): void {
    if (this.#problems.length === 0) return;
    this.#mustParse = true;
    this.#alarm.wakeUp();
  }

  /** Runs until the signal aborts. Does not reject for an unreadable or invalid file. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const watching = this.#watchFolder(signal);
    await this.reload(signal);
    while (!signal.aborted) {
      await this.#alarm.wait(pollEveryMs, signal);
      if (!signal.aborted) await this.reload(signal);
      // Other files of the directory may change all the time.
      await clock.sleep(settleMs, signal);
    }
    await watching;
  }

  /** Reads the file and applies its changes. */
  async reload(signal: AbortSignal): Promise<void> {
    const reading = await this.#settledReading(signal);
    if (signal.aborted || (isSame(reading, this.#known) && !this.#mustParse)) return;
    this.#mustParse = false;
    const isFirst = this.#known === undefined;
    this.#known = reading;
    const outcome = this.#parse(reading);
    if ('problems' in outcome) return this.#reject(outcome.problems);
    this.#apply(decideReload(this.#inForce, outcome.values), outcome.warnings, isFirst);
  }

  /** An unexpected error of the parser is a problem of the file; the process keeps running with the current settings. */
  #parse(reading: Reading): ConfigOutcome {
    const { path, parse } = this.#options.file;
    try {
      return parse(() => textOf(reading));
    } catch (error) {
      return {
        problems: [`${path}: cannot parse: ${error instanceof Error ? error.message : String(error)}`],
      };
    }
  }

  /** Retries a directory that was removed or cannot be watched; polling continues without it. */
  async #watchFolder(signal: AbortSignal): Promise<void> {
    const { file, clock, logger } = this.#options;
    const ring = (): void => this.#alarm.wakeUp();
    while (!signal.aborted) {
      const end = await watchPath(dirname(file.path), { onArmed: ring, onTouched: ring }, signal);
      if (end.kind === 'failed') logger.debug({ problem: end.problem }, 'watch of the config file directory failed');
      await clock.sleep(pollEveryMs, signal);
    }
  }

  async #settledReading(signal: AbortSignal): Promise<Reading> {
    const { file, clock } = this.#options;
    let reading = await readWhole(file.path);
    for (let last = this.#known; !signal.aborted && !isSame(reading, last); reading = await readWhole(file.path)) {
      last = reading;
      await clock.sleep(settleMs, signal);
    }
    return reading;
  }

  #reject(problems: readonly string[]): void {
    const { logger, meter } = this.#options;
    this.#problems = problems;
    meter.add(configReloadsTotal, 1, { result: 'failure' });
    meter.set(configLastReloadSuccessful, 0);
    logger.error({ problems }, 'config file reload failed; keeping the current settings');
  }

  #apply({ values, applied, waiting }: Reload, warnings: readonly string[], isFirst: boolean): void {
    const { file, logger, meter, adopt } = this.#options;
    if (!isFirst || applied.length + waiting.length > 0) meter.add(configReloadsTotal, 1, { result: 'success' });
    this.#inForce = values;
    if (applied.length > 0) adopt(configOf(values), applied);
    if (this.#problems.length > 0) logger.info({}, 'config file is valid again');
    this.#problems = [];
    this.#waiting = waiting;
    this.#setSuccessMetrics();
    if (waiting.length > 0) logger.warn({ waiting }, 'changed settings of the config file require a restart');
    if (!isFirst) for (const warning of warnings) logger.warn({}, warning);
    logger.debug({ path: file.path, applied: applied.length, waiting: waiting.length }, 'config file reloaded');
  }

  /** Set from the start: the settings at the start were valid. */
  #setSuccessMetrics(): void {
    const { clock, meter } = this.#options;
    meter.set(configLastReloadSuccessful, 1);
    meter.set(configLastReloadSuccess, clock.nowMs() / 1_000);
    meter.set(configSettingsWaiting, this.#waiting.length);
  }
}

async function readWhole(path: string): Promise<Reading> {
  try {
    return { text: await readFile(path, 'utf8') };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

function textOf(reading: Reading): string {
  if ('problem' in reading) throw new Error(reading.problem);
  return reading.text;
}

function isSame(a: Reading, b: Reading | undefined): boolean {
  if (b === undefined) return false;
  return 'text' in a ? 'text' in b && a.text === b.text : 'problem' in b && a.problem === b.problem;
}
