/** What a real kube-apiserver of the version under test answered; written by `test/control-plane/recordings.ts`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  defaultVersion,
  type KubernetesVersion,
  selectedVersion,
} from '../../../tools/control-plane/kubernetes-version.ts';
import type { Json } from './client.ts';

export type Recorded = Readonly<Record<string, Json>>;

/** The file with the entries of the newest version, or with those of an older version that differ; null: there is none. */
export function recordedFile(name: string, version: KubernetesVersion = defaultVersion): string {
  const end = version === defaultVersion ? '' : `-${version}`;
  return join(import.meta.dirname, ...(name === 'answers' ? ['answers'] : []), `recorded-${name}${end}.json`);
}

/** The entries of the newest version, and in their place those of the version under test that differ. */
export function recorded(name: string): Recorded {
  const newest = read(recordedFile(name));
  const version = selectedVersion();
  if (version === defaultVersion) return newest;
  const entries = Object.entries({ ...newest, ...read(recordedFile(name, version)) });
  return Object.fromEntries(entries.filter(([, entry]) => entry !== null));
}

function read(file: string): Recorded {
  return JSON.parse(readFileSync(file, 'utf8'));
}
