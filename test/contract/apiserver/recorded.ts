/** What a real kube-apiserver of the version under test answered; written by `test/control-plane/record-kinds.ts`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultVersion, selectedVersion } from '../../../tools/control-plane/kubernetes-version.ts';
import type { Json } from './client.ts';

type Entries = Readonly<Record<string, Json>>;

/** The entries of the newest version, and in their place those of an older one that differ; null: there is none. */
export function recorded(name: string): Entries {
  const newest = read(name);
  const version = selectedVersion();
  if (version === defaultVersion) return newest;
  const entries = Object.entries({ ...newest, ...read(`${name}-${version}`) });
  return Object.fromEntries(entries.filter(([, entry]) => entry !== null));
}

function read(name: string): Entries {
  return JSON.parse(readFileSync(join(import.meta.dirname, `recorded-${name}.json`), 'utf8'));
}
