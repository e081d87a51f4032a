// `node tools/release/notes.ts vX.Y.Z`: checks that package.json and the chart have the version of the tag, and prints the section of
// CHANGELOG.md as the notes of the release. Exit codes: 0 success, 1 otherwise.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { checkVersions, extractNotes } from './extract-notes.ts';

const root = join(import.meta.dirname, '..', '..');
const chartFile = 'charts/node-lifecycle-controller/Chart.yaml';

try {
  process.stdout.write(notesOf(process.argv[2] ?? ''));
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

function notesOf(tag: string): string {
  const { version } = JSON.parse(readText('package.json')) as { version: string };
  const chart = parse(readText(chartFile)) as { version: string; appVersion: string };
  const released = checkVersions({
    tag,
    'package.json': version,
    [`${chartFile} (version)`]: chart.version,
    [`${chartFile} (appVersion)`]: chart.appVersion,
  });
  return extractNotes(readText('CHANGELOG.md'), released);
}

function readText(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}
