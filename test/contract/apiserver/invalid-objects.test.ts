/** Objects that are rejected, with the messages of kube-apiserver. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Json, openClient } from './client.ts';
import { invalidObjects } from './invalid-objects.ts';
import { runInvalid } from './invalid-rows.ts';
import { invalidWorkloads } from './invalid-workloads.ts';

const client = await openClient();
const recorded: Readonly<Record<string, Json>> = JSON.parse(
  readFileSync(join(import.meta.dirname, 'recorded-invalid.json'), 'utf8'),
);

for (const row of [...invalidWorkloads, ...invalidObjects]) {
  test(`rejected as by kube-apiserver: ${row.title}`, async () => {
    assert.deepEqual(await runInvalid(client, row), recorded[row.title]);
  });
}
