// Writes what the tests of the table printers compare with, as a real kube-apiserver answers it. Run it after an update of
// the control plane to another release:
//
//     node test/control-plane/record-tables.ts
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, expect, type Json, tableAccept } from '../contract/apiserver/client.ts';
import { comparableTable, type RecordedTable } from '../contract/apiserver/printed/comparable-table.ts';
import { createAll } from '../contract/apiserver/printed/printed-object.ts';
import { printedObjects, printedResources } from '../contract/apiserver/printed/printed-objects.ts';
import { startControlPlane } from './control-plane.ts';
import { realClient } from './real-client.ts';

const file = join(import.meta.dirname, '..', 'contract', 'apiserver', 'recorded-tables.json');

/** Ages change at whole seconds, so the table is read again until it and the objects are of the same second. */
async function recordTable(client: Client, path: string): Promise<RecordedTable> {
  for (;;) {
    const atMs = Date.now();
    const { items } = expect(await client.get(path), 200);
    const table = expect(await client.get(path, { accept: tableAccept }), 200);
    if (Math.floor(Date.now() / 1_000) !== Math.floor(atMs / 1_000)) continue;
    const rows = table.rows.filter((row: Json) => isRecorded(path, row.object));
    const objects = items.filter((item: Json) => isRecorded(path, item)).map(withoutManagedFields);
    return { atMs, ...comparableTable({ ...table, rows }), objects };
  }
}

/** The server has dozens of roles of its own; those are not recorded. */
function isRecorded(path: string, { metadata }: Json): boolean {
  const plural = path.split('/').at(-1);
  return printedObjects.some(({ path: own, body }) => {
    return body.metadata.name === metadata.name && own.split('/').at(-1) === plural;
  });
}

function withoutManagedFields(object: Json): Json {
  const { managedFields: _managedFields, ...metadata } = object.metadata;
  return { ...object, metadata };
}

await using plane = await startControlPlane();
const client = realClient(plane);
await createAll(client, printedObjects);
const lines: string[] = [];
for (const { path } of printedResources) {
  // One table per line, so that a new release gives a readable diff.
  lines.push(`${JSON.stringify(path)}: ${JSON.stringify(await recordTable(client, path))}`);
}
await client.close();
writeFileSync(file, `{\n${lines.join(',\n')}\n}\n`);
