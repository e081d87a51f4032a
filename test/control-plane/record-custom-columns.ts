// Writes what the tests of columns of custom resources compare with, as a real kube-apiserver prints them. Run it after an
// update of the control plane to another release:
//
//     node test/control-plane/record-custom-columns.ts
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type Json, tableAccept } from '../contract/apiserver/client.ts';
import { comparableTable } from '../contract/apiserver/printed/comparable-table.ts';
import { startControlPlane } from './control-plane.ts';
import { realClient } from './real-client.ts';
import { waitUntil } from './wait-until.ts';

const file = join(import.meta.dirname, '..', 'contract', 'apiserver', 'recorded-custom-columns.json');
const group = 'example.com';
const condition = '.status.conditions[?(@.type=="Accepted")].status';

const columns = [
  ...['string', 'integer', 'number', 'boolean', 'date'].map((type) => ({ name: type, type, jsonPath: '.value' })),
  { name: 'Accepted', type: 'string', jsonPath: condition, priority: 1 },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'x' },
];

const values: readonly unknown[] = [
  'text',
  '',
  '2026-01-02T03:04:05Z',
  '2026-01-02T03:04:05.5+02:00',
  '2026-01-02',
  'null',
  '7',
  7,
  -7.9,
  0,
  true,
  false,
  ['b', 'a', 1],
  [],
  { b: '<&>', a: { c: 1 } },
  null,
];

const objects: readonly Json[] = [
  ...values.map((value) => ({ value })),
  {},
  {
    status: {
      conditions: [
        { type: 'Other', status: 'False' },
        { type: 'Accepted', status: 'True' },
      ],
    },
  },
  { status: { conditions: [7, { type: 'Accepted' }] } },
  { status: { conditions: { type: 'Accepted', status: 'True' } } },
];

await using plane = await startControlPlane();
const client = realClient(plane);
const schema = {
  openAPIV3Schema: {
    type: 'object',
    properties: Object.fromEntries(
      ['value', 'status'].map((name) => [name, { 'x-kubernetes-preserve-unknown-fields': true, nullable: true }]),
    ),
  },
};
const version = { name: 'v1', served: true, storage: true, schema, additionalPrinterColumns: columns };
await client.make('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
  metadata: { name: `widgets.${group}` },
  spec: { group, scope: 'Cluster', names: { plural: 'widgets', kind: 'Widget' }, versions: [version] },
});
const path = `/apis/${group}/v1/widgets`;
await waitUntil('the resource is served', { timeoutMs: 30_000 }, async () => (await client.get(path)).code === 200);
for (const [index, fields] of objects.entries()) {
  const metadata = { name: `w${String(index).padStart(2, '0')}` };
  expect(await client.post(path, { apiVersion: `${group}/v1`, kind: 'Widget', metadata, ...fields }), 201);
}
const atMs = Date.now();
const table = expect(await client.get(path, { accept: tableAccept }), 200);
await client.close();
const lines = table.rows.map(({ cells }: Json, index: number) => JSON.stringify({ fields: objects[index], cells }));
const definitions = comparableTable(table).columns;
writeFileSync(
  file,
  `{\n"atMs": ${atMs},\n"columns": ${JSON.stringify(columns)},\n"definitions": ${JSON.stringify(definitions)},\n"rows": [\n${lines.join(',\n')}\n]\n}\n`,
);
