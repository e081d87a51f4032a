// Writes the answers of a real kube-apiserver to the requests of `test/contract/apiserver/answers`. Run it after a change
// of the requests, and after an update of the control plane to another release:
//
//     node test/control-plane/record-answers.ts
//     node test/control-plane/record-answers.ts --kubernetes 1.34
import { readFileSync } from 'node:fs';
import { selectVersion, splitArguments } from '../../tools/control-plane/kubernetes-version.ts';
import { answerOf, makeFixture, requestRows } from '../contract/apiserver/answers/answers.ts';
import { Client, type Json } from '../contract/apiserver/client.ts';
import { startControlPlane } from './control-plane.ts';
import { record } from './recordings.ts';

const { version } = splitArguments(process.argv.slice(2));
if (version !== undefined) selectVersion(version);
await using plane = await startControlPlane();
const client = new Client({
  kind: 'real',
  url: plane.url,
  token: plane.adminToken,
  ca: readFileSync(plane.caFile, 'utf8'),
  forget: undefined,
  close: async () => {},
});
const fixture = await makeFixture(client);
const answers: Record<string, Json> = {};
for (const row of requestRows) answers[row.name] = await answerOf(client, fixture, row);
record('answers', answers);
await client.close();
console.log(`${requestRows.length} answers`);
