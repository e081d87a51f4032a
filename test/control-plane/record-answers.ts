// Writes the answers of a real kube-apiserver to the requests of `test/contract/apiserver/answers`. Run it after a change
// of the requests, and after an update of the control plane to another release:
//
//     node test/control-plane/record-answers.ts
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answerOf, makeFixture, requestRows } from '../contract/apiserver/answers/answers.ts';
import { Client } from '../contract/apiserver/client.ts';
import { startControlPlane } from './control-plane.ts';

const file = join(import.meta.dirname, '..', 'contract', 'apiserver', 'answers', 'recorded-answers.json');

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
const lines: string[] = [];
for (const row of requestRows) {
  // One answer per line, so that a new release shows as a readable change.
  lines.push(`${JSON.stringify(row.name)}: ${JSON.stringify(await answerOf(client, fixture, row))}`);
}
writeFileSync(file, `{\n${lines.join(',\n')}\n}\n`);
await client.close();
console.log(`${lines.length} answers`);
