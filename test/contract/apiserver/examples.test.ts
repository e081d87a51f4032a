/** Objects of every kind, as kube-apiserver answers when they are created, changed and deleted. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Json, openClient } from './client.ts';
import { examples, keyOf } from './example-objects.ts';
import { runExample } from './example-run.ts';

const client = await openClient();
const recorded: Readonly<Record<string, Json>> = JSON.parse(
  readFileSync(join(import.meta.dirname, 'recorded-examples.json'), 'utf8'),
);

for (const example of examples) {
  test(`the answers of kube-apiserver: ${keyOf(example)}`, async () => {
    assert.deepEqual(await runExample(client, example), recorded[keyOf(example)]);
  });
}
