// The output of the bench: tables on the terminal, and files.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describeMachine } from '../describe-machine.ts';
import { formatChart } from '../format-chart.ts';
import { buildGrowth, formatGrowth, growthPanels, type SizedTable } from './build-growth.ts';
import type { Contender } from './contenders.ts';
import { formatMarkdown, formatText } from './format-table.ts';
import type { Measured } from './measure-contender.ts';
import type { Options } from './options.ts';

/** One size, measured. */
export interface Run extends SizedTable {
  readonly podsPerNode: number;
  readonly measured: Readonly<Record<Contender, Measured>>;
  readonly notes: readonly string[];
}

export function printRun(run: Run): void {
  console.log(`\n${titleOf(run)}; ${describeMachine()}\n`);
  console.log([formatText(run.rows), ...run.notes].join('\n'));
}

export function writeRuns(runs: readonly Run[], { growth, svg, json, markdown }: Options): void {
  const exponents = growth ? buildGrowth(runs) : [];
  const growthTable = growth ? [formatGrowth(exponents)] : [];
  if (growth) {
    console.log(`\n${growthTable.join('')}`);
    writeInFolder(svg, formatChart(growthPanels(runs)));
  }
  if (markdown !== undefined) writeInFolder(markdown, `${[...runs.map(section), ...growthTable].join('\n\n')}\n`);
  if (json === undefined) return;
  const content = { machine: describeMachine(), at: new Date().toISOString(), runs, exponents };
  writeInFolder(json, `${JSON.stringify(content, undefined, 2)}\n`);
}

/** The runs in files that {@link writeRuns} wrote, by number of nodes. */
export function readRuns(files: readonly string[]): readonly Run[] {
  const runs = files.flatMap(
    (file) => (JSON.parse(readFileSync(file, 'utf8')) as { readonly runs: readonly Run[] }).runs,
  );
  return runs.toSorted((a, b) => a.nodes - b.nodes);
}

function section(run: Run): string {
  return [`${titleOf(run)}:`, '', formatMarkdown(run.rows), ...run.notes.flatMap((note) => ['', note])].join('\n');
}

function titleOf({ nodes, podsPerNode }: Run): string {
  const number = (value: number): string => value.toLocaleString('en');
  return `${number(nodes)} nodes, ${number(nodes * podsPerNode)} pods, ${number(nodes / 10)} renewals per second`;
}

/** Progress and the names of files are on standard error, so that standard output has only the tables. */
function writeInFolder(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  console.error(`written: ${file}`);
}
