// Takes up the config file when it changes. A ConfigMap's folder is exchanged as a whole by turning a link, editors put a
// new file in the old one's place, and some write it piece by piece: so what is watched is the folder, what counts is the
// text, and only a text that stays the same for a moment. Where nothing tells of changes, a look every few seconds does.
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { watchPath } from '../adapters/path-watch.ts';
import type { SettingChange } from '../controller/decisions.ts';
import type { ConfigFileFacts } from '../controller/explain/facts.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { Meter } from '../ports/meter.ts';
import { Alarm } from '../supervision/alarm.ts';
import {
  configLastReloadSuccess,
  configLastReloadSuccessful,
  configReloadsTotal,
  configSettingsWaiting,
} from './config-metrics.ts';
import { decideReload, type Reload } from './config-reload.ts';
import { type ConfigOutcome, type ControllerConfig, configOf } from './controller-config.ts';
import type { ControllerValues } from './controller-rules.ts';

const lookEveryMs = 10_000;
/** Whoever writes piece by piece does not pause for longer. */
const settleMs = 200;

/** The file that the process was started with. */
export interface ConfigFileSource {
  readonly path: string;
  /** The flags with this text for the file, read as at the start. What `readFile` throws is a problem. */
  readonly parse: (readFile: () => string) => ConfigOutcome;
  /** What the process was started with. */
  readonly values: ControllerValues;
}

export interface ConfigReloaderOptions {
  readonly file: ConfigFileSource;
  readonly adopt: (config: ControllerConfig, applied: readonly SettingChange[]) => void;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meter: Meter;
}

/** The file as it was read, or why it could not be. */
type Reading = { readonly text: string } | { readonly problem: string };

export class ConfigReloader {
  readonly #options: ConfigReloaderOptions;
  readonly #alarm: Alarm;
  #inForce: ControllerValues;
  #known: Reading | undefined;
  #problems: readonly string[] = [];
  #waiting: readonly SettingChange[] = [];

  constructor(options: ConfigReloaderOptions) {
    this.#options = options;
    this.#alarm = new Alarm(options.clock);
    this.#inForce = options.file.values;
    for (const result of ['success', 'failure']) options.meter.add(configReloadsTotal, 0, { result });
    this.#showTaken();
  }

  /** How the file and what is in force differ. */
  standing(): ConfigFileFacts {
    return { path: this.#options.file.path, problems: this.#problems, waiting: this.#waiting };
  }

  /** Until the signal aborts. Does not reject for anything that may be wrong with the file. */
  async run(signal: AbortSignal): Promise<void> {
    const watching = this.#watchFolder(signal);
    await this.look(signal);
    while (!signal.aborted) {
      await this.#alarm.wait(lookEveryMs, signal);
      if (!signal.aborted) await this.look(signal);
    }
    await watching;
  }

  /** Reads the file and takes up what is new in it. */
  async look(signal: AbortSignal): Promise<void> {
    const reading = await this.#settledReading(signal);
    if (signal.aborted || isSame(reading, this.#known)) return;
    const isFirst = this.#known === undefined;
    this.#known = reading;
    const outcome = this.#parse(reading);
    if ('problems' in outcome) return this.#refuse(outcome.problems);
    this.#takeUp(decideReload(this.#inForce, outcome.values), outcome.warnings, isFirst);
  }

  /** A fault of ours in reading a file must not end what runs by an older one. */
  #parse(reading: Reading): ConfigOutcome {
    const { path, parse } = this.#options.file;
    try {
      return parse(() => textOf(reading));
    } catch (error) {
      return {
        problems: [`--config: ${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`],
      };
    }
  }

  /** A folder that goes away, or cannot be watched, is tried again: the look every few seconds goes on without it. */
  async #watchFolder(signal: AbortSignal): Promise<void> {
    const { file, clock, logger } = this.#options;
    const ring = (): void => this.#alarm.ring();
    while (!signal.aborted) {
      const end = await watchPath(dirname(file.path), { onArmed: ring, onTouched: ring }, signal);
      if (end.kind === 'failed') logger.debug({ problem: end.problem }, 'the folder of the config file is not watched');
      await clock.sleep(lookEveryMs, signal);
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

  #refuse(problems: readonly string[]): void {
    const { logger, meter } = this.#options;
    this.#problems = problems;
    meter.add(configReloadsTotal, 1, { result: 'failure' });
    meter.set(configLastReloadSuccessful, 0);
    logger.error({ problems }, 'the config file is refused: the settings in force stay as they are');
  }

  #takeUp({ values, applied, waiting }: Reload, warnings: readonly string[], isFirst: boolean): void {
    const { file, logger, meter, adopt } = this.#options;
    if (!isFirst || applied.length + waiting.length > 0) meter.add(configReloadsTotal, 1, { result: 'success' });
    this.#inForce = values;
    if (applied.length > 0) adopt(configOf(values), applied);
    if (this.#problems.length > 0) logger.info({}, 'the config file is valid again');
    this.#problems = [];
    this.#waiting = waiting;
    this.#showTaken();
    if (waiting.length > 0) logger.warn({ waiting }, 'these settings of the config file need a restart');
    if (!isFirst) for (const warning of warnings) logger.warn({}, warning);
    logger.debug({ path: file.path, applied: applied.length, waiting: waiting.length }, 'the config file was read');
  }

  /** Shown from the start on: what the process was started with was accepted. */
  #showTaken(): void {
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
