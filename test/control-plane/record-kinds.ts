// Writes what the tests of the API server compare with, as a real kube-apiserver answers it. Run it after an update of the
// control plane to another release, for the default version first:
//
//     node test/control-plane/record-kinds.ts
//     node test/control-plane/record-kinds.ts --kubernetes 1.33
//
// Of the default version everything is recorded, of the others what differs from it.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  defaultVersion,
  selectedVersion,
  selectVersion,
  splitArguments,
} from '../../tools/control-plane/kubernetes-version.ts';
import { Client, expect, type Json } from '../contract/apiserver/client.ts';
import { aggregatedAccept, rowsOf } from '../contract/apiserver/discovery-rows.ts';
import { examples, keyOf } from '../contract/apiserver/example-objects.ts';
import { runExample } from '../contract/apiserver/example-run.ts';
import { invalidObjects } from '../contract/apiserver/invalid-objects.ts';
import { runInvalid } from '../contract/apiserver/invalid-rows.ts';
import { invalidWorkloads } from '../contract/apiserver/invalid-workloads.ts';
import { startControlPlane } from './control-plane.ts';

type Entries = Readonly<Record<string, Json>>;

const fileOf = (name: string): string =>
  join(import.meta.dirname, '..', 'contract', 'apiserver', `recorded-${name}.json`);

/** One entry per line, so that a new release gives a readable diff. */
function write(name: string, entries: Entries): void {
  const lines = Object.entries(entries).map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`);
  writeFileSync(fileOf(name), `{\n${lines.join(',\n')}\n}\n`);
}

function record(name: string, entries: Entries): void {
  const version = selectedVersion();
  if (version === defaultVersion) return write(name, entries);
  const latest: Entries = JSON.parse(readFileSync(fileOf(name), 'utf8'));
  write(`${name}-${version}`, differing(entries, latest));
}

/** The entries that differ from those of the default version; null: there is none. */
function differing(entries: Entries, latest: Entries): Entries {
  const keys = [...new Set([...Object.keys(latest), ...Object.keys(entries)])];
  const different = keys.filter((key) => !isDeepStrictEqual(entries[key], latest[key]));
  return Object.fromEntries(different.map((key) => [key, entries[key] ?? null]));
}

async function recordAll(client: Client): Promise<void> {
  const get = async (path: string): Promise<Json> => expect(await client.get(path, { accept: aggregatedAccept }), 200);
  record('discovery', rowsOf([await get('/api'), await get('/apis')]));
  const answers: Record<string, Json> = {};
  for (const example of examples) answers[keyOf(example)] = await runExample(client, example);
  record('examples', answers);
  const invalid: Record<string, Json> = {};
  for (const row of [...invalidWorkloads, ...invalidObjects]) invalid[row.title] = await runInvalid(client, row);
  record('invalid', invalid);
}

const { version } = splitArguments(process.argv.slice(2));
if (version !== undefined) selectVersion(version);
await using plane = await startControlPlane();
const { url, adminToken: token, caFile } = plane;
const backend = { kind: 'real', url, token, ca: readFileSync(caFile, 'utf8'), forget: undefined } as const;
const client = new Client({ ...backend, close: async () => {} });
await recordAll(client);
await client.close();
