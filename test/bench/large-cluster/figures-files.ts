// The files of a measurement.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describeMachine } from '../describe-machine.ts';
import { formatChart } from '../format-chart.ts';
import type { Course } from './course.ts';
import type { Options } from './options.ts';
import { coursePanels, formatSummary } from './summary.ts';

export function writeFigures(course: Course, { svg, json, markdown }: Options): void {
  const content = { machine: describeMachine(), at: new Date().toISOString(), course };
  const files: readonly (readonly [string | undefined, string])[] = [
    [svg, formatChart(coursePanels(course))],
    [json, `${JSON.stringify(content, undefined, 2)}\n`],
    [markdown, `${formatSummary(course)}\n`],
  ];
  for (const [file, text] of files) {
    if (file === undefined) continue;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    console.error(`written: ${file}`);
  }
}
