// `nlc top`: reads the pages in an interval and draws them in place; without a terminal prints tables.
import { setTimeout as sleep } from 'node:timers/promises';
import { PageError, type PageSource, readPage } from '../client/page-source.ts';
import type { FlagValues } from '../flags/flag-definition.ts';
import { type CommandIo, exitSuccess, type Terminal } from '../io/command-io.ts';
import { buildTopFrame, buildTopTables, type Line, type LineStyle } from './build-top-frame.ts';
import { decideKey, parseKeys, type TopState } from './decide-key.ts';
import type { topDisplayFlags } from './flags.ts';
import { parseTopView, type TopView } from './parse-top-view.ts';

type TopValues = FlagValues<typeof topDisplayFlags>;

const podsMax = 100;
/** Countdowns advance between two refreshes. */
const redrawMs = 1_000;

/** On a terminal until the user quits; otherwise one output, or one for each interval with --watch. Returns the exit code. */
export async function runTop(source: PageSource, values: TopValues, io: CommandIo): Promise<number> {
  const terminal = io.openTerminal?.();
  if (terminal === undefined) return printTables(source, values, io);
  const first = await readView(source, values, io.signal);
  const screen = new TopScreen({ source, values, io, terminal, first });
  await screen.run();
  return exitSuccess;
}

async function printTables(source: PageSource, values: TopValues, io: CommandIo): Promise<number> {
  do {
    const view = await readUnlessAborted(source, values, io.signal);
    if (view === undefined) break;
    const lines = buildTopTables(view, initialState(values), { elapsedSeconds: 0 });
    io.stdout(`${formatTables(lines)}${values.watch ? '\n' : ''}`);
    if (values.watch) await sleep(values.intervalMs, undefined, { signal: io.signal }).catch(() => undefined);
  } while (values.watch && !io.signal.aborted);
  return exitSuccess;
}

async function readUnlessAborted(
  source: PageSource,
  values: TopValues,
  signal: AbortSignal,
): Promise<TopView | undefined> {
  try {
    return await readView(source, values, signal);
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

function initialState({ sort, filter = '' }: TopValues): TopState {
  return { sort, filter, reversed: false, editing: false, offset: 0 };
}

/** Rejects with a PageError. */
async function readView(source: PageSource, { maxNodes }: TopValues, signal: AbortSignal): Promise<TopView> {
  const read = async (path: string): Promise<unknown> => JSON.parse(await readPage(source, path, signal));
  // One after the other, so that the first failure is the one that is reported.
  const status = await read('/status?output=json');
  const nodes = await read(`/explain/nodes?limit=${maxNodes}`);
  const evictions = await read(`/explain/evictions?limit=${podsMax}`);
  const view = parseTopView({ status, nodes, evictions });
  if (view.role === 'standing by') await source.follow?.();
  return view;
}

interface TopScreenOptions {
  readonly source: PageSource;
  readonly values: TopValues;
  readonly io: CommandIo;
  readonly terminal: Terminal;
  readonly first: TopView;
}

/** The screen of one run. Whatever ends it, the terminal is as before afterwards. */
class TopScreen {
  readonly #options: TopScreenOptions;
  readonly #quitting = new AbortController();
  readonly #coloured: boolean;
  #state: TopState;
  #view: TopView;
  #readAtMs = performance.now();
  #problem: string | undefined;

  constructor(options: TopScreenOptions) {
    this.#options = options;
    this.#view = options.first;
    this.#state = initialState(options.values);
    this.#coloured = (options.io.env['NO_COLOR'] ?? '') === '' && options.io.env['TERM'] !== 'dumb';
  }

  async run(): Promise<void> {
    const { terminal, io } = this.#options;
    const restore = (): void => io.stdout(leaveScreen);
    const forget = terminal.onExit(restore);
    const releases = [terminal.readKeys((keys) => this.#take(keys)), terminal.onResize(() => this.#draw())];
    const timer = setInterval(() => this.#draw(), redrawMs);
    try {
      io.stdout(enterScreen);
      await this.#refreshUntilEnd(AbortSignal.any([io.signal, this.#quitting.signal]));
    } finally {
      clearInterval(timer);
      for (const release of releases) release();
      forget();
      restore();
    }
  }

  async #refreshUntilEnd(signal: AbortSignal): Promise<void> {
    const { values } = this.#options;
    while (!signal.aborted) {
      this.#draw();
      await sleep(values.intervalMs, undefined, { signal }).catch(() => undefined);
      if (!signal.aborted) await this.#refresh(signal);
    }
  }

  /** A failure is shown over the last pages, and the next interval tries again. */
  async #refresh(signal: AbortSignal): Promise<void> {
    const { source, values } = this.#options;
    try {
      this.#view = await readView(source, values, signal);
      this.#readAtMs = performance.now();
      this.#problem = undefined;
    } catch (error) {
      if (!(error instanceof PageError) && !(error instanceof SyntaxError)) throw error;
      this.#problem = error.message;
    }
  }

  #take(input: string): void {
    for (const key of parseKeys(input)) {
      const next = decideKey(this.#state, key);
      if (next === 'quit') return this.#quitting.abort();
      this.#state = next;
    }
    this.#draw();
  }

  #draw(): void {
    const { terminal, io } = this.#options;
    const time = {
      elapsedSeconds: (performance.now() - this.#readAtMs) / 1_000,
      ...(this.#problem === undefined ? {} : { problem: this.#problem }),
    };
    io.stdout(formatFrame(buildTopFrame(this.#view, this.#state, terminal.size(), time), this.#coloured));
  }
}

/** Graphic renditions of ECMA-48. */
const renditions: Readonly<Record<LineStyle, string>> = {
  plain: '',
  title: '\x1b[1m',
  head: '\x1b[7m',
  good: '\x1b[32m',
  warn: '\x1b[33m',
  bad: '\x1b[31m',
  dim: '\x1b[2m',
};
const reset = '\x1b[0m';
const home = '\x1b[H';
const clearToLineEnd = '\x1b[K';
const clearToScreenEnd = '\x1b[J';

/** The alternate screen without a cursor, and back: what was on the terminal before is there again. */
const enterScreen = '\x1b[?1049h\x1b[?25l';
const leaveScreen = '\x1b[?25h\x1b[?1049l';

/** Draws over the last frame, so that nothing flickers. */
export function formatFrame(lines: readonly Line[], coloured: boolean): string {
  const rows = lines.map((line) => `${styled(line, coloured)}${clearToLineEnd}`);
  return `${home}${rows.join('\r\n')}${clearToScreenEnd}`;
}

export function formatTables(lines: readonly Line[]): string {
  return lines.map(({ text }) => `${text}\n`).join('');
}

function styled({ text, style }: Line, coloured: boolean): string {
  const rendition = coloured ? renditions[style] : '';
  return rendition === '' ? text : `${rendition}${text}${reset}`;
}
