// Writes what the tests of the API server compare with, as a real kube-apiserver answers it. Run it after an update of the
// control plane to another release, for the newest version first:
//
//     node test/control-plane/record-kinds.ts
//     node test/control-plane/record-kinds.ts --kubernetes 1.34
import { readFileSync } from 'node:fs';
import { selectVersion, splitArguments } from '../../tools/control-plane/kubernetes-version.ts';
import { Client, expect, type Json } from '../contract/apiserver/client.ts';
import { aggregatedAccept, rowsOf } from '../contract/apiserver/discovery-rows.ts';
import { examples, keyOf } from '../contract/apiserver/example-objects.ts';
import { runExample } from '../contract/apiserver/example-run.ts';
import { invalidObjects } from '../contract/apiserver/invalid-objects.ts';
import { runInvalid } from '../contract/apiserver/invalid-rows.ts';
import { invalidWorkloads } from '../contract/apiserver/invalid-workloads.ts';
import { startControlPlane } from './control-plane.ts';
import { record } from './recordings.ts';

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
