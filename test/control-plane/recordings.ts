// Writes what a real kube-apiserver answered, for the tests of the API server: of the newest version everything, of the
// others what differs from it.
import { readFileSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { defaultVersion, selectedVersion } from '../../tools/control-plane/kubernetes-version.ts';
import { type Recorded, recordedFile } from '../contract/apiserver/recorded.ts';

/** Records the entries of the version under test; that of the newest version comes first. */
export function record(name: string, entries: Recorded): void {
  const version = selectedVersion();
  if (version === defaultVersion) return write(recordedFile(name), entries);
  const newest: Recorded = JSON.parse(readFileSync(recordedFile(name), 'utf8'));
  write(recordedFile(name, version), differing(entries, newest));
}

/** One entry per line, so that a new release gives a readable diff. */
function write(file: string, entries: Recorded): void {
  const lines = Object.entries(entries).map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`);
  writeFileSync(file, `{\n${lines.join(',\n')}\n}\n`);
}

/** The entries that differ from those of the newest version; null: there is none. */
function differing(entries: Recorded, newest: Recorded): Recorded {
  const keys = [...new Set([...Object.keys(newest), ...Object.keys(entries)])];
  const different = keys.filter((key) => !isDeepStrictEqual(entries[key], newest[key]));
  return Object.fromEntries(different.map((key) => [key, entries[key] ?? null]));
}
