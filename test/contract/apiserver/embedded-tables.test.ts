/** The tables of the kinds that have columns, compared with those of a real kube-apiserver (recorded by `record-tables.ts`). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { printTable } from '../../../src/hollow-cluster/apiserver/printing/table.ts';
import { expect, type Json, openClient, tableAccept } from './client.ts';
import { comparableTable, type RecordedTable } from './printed/comparable-table.ts';
import { createAll } from './printed/printed-object.ts';
import { printedObjects, printedResources } from './printed/printed-objects.ts';

const file = join(import.meta.dirname, 'recorded-tables.json');
const recorded: Readonly<Record<string, RecordedTable>> = JSON.parse(readFileSync(file, 'utf8'));

const client = await openClient({ controllers: [] });
before(() => createAll(client, printedObjects));

for (const { path, served } of printedResources) {
  test(`the objects of ${path} are printed as by kube-apiserver`, () => {
    const { atMs, objects, ...table } = recorded[path] ?? assert.fail('not recorded');
    assert.ok(objects.length > 0);
    const printed = comparableTable(printTable(served, objects, {}, { nowMs: atMs }));
    assert.deepEqual(structuredClone(printed), table);
  });
}

for (const [path, { columns, rows, objects }] of Object.entries(recorded)) {
  test(`the table of ${path} is that of kube-apiserver for the same requests`, async () => {
    const table = expect(await client.get(path, { accept: tableAccept }), 200);
    const known = new Set(objects.map(({ metadata: { namespace, name } }) => `${namespace}/${name}`));
    const isKnown = ({ object: { metadata } }: Json): boolean => known.has(`${metadata.namespace}/${metadata.name}`);
    const found = comparableTable({ ...table, rows: table.rows.filter(isKnown) });
    assert.deepEqual(withoutRandom(found), withoutRandom({ columns, rows }));
  });
}

/** What differs from one run to the next, or between the two servers. */
const replaced: readonly (readonly [RegExp, string])[] = [
  [/"(?:\d+[smhdy]){1,2}"/g, '"AGE"'],
  [/\((?:\d+[smhdy]){1,2} ago\)/g, '(AGE ago)'],
  [/"\d{4}-\d\d-\d\dT[^"]*"/g, '"TIME"'],
  // The administrators of the two servers have different names.
  [/("example.com\/signer"),"(?:kubernetes-)?admin"/g, '$1,"USER"'],
];

function withoutRandom(table: Json): Json {
  return JSON.parse(replaced.reduce((text, [pattern, by]) => text.replaceAll(pattern, by), JSON.stringify(table)));
}

test('every object for the printers is recorded', () => {
  const found = Object.values(recorded).flatMap(({ objects }) => objects);
  const names = new Set(found.map(({ metadata }) => metadata.name));
  assert.deepEqual(
    printedObjects.filter(({ body }) => !names.has(body.metadata.name)),
    [],
  );
});
