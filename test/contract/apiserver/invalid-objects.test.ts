/** Objects that are rejected, with the messages of kube-apiserver. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openClient } from './client.ts';
import { invalidObjects } from './invalid-objects.ts';
import { runInvalid } from './invalid-rows.ts';
import { invalidWorkloads } from './invalid-workloads.ts';
import { recorded } from './recorded.ts';

const client = await openClient();
const answers = recorded('invalid');

for (const row of [...invalidWorkloads, ...invalidObjects]) {
  test(`rejected as by kube-apiserver: ${row.title}`, async () => {
    assert.deepEqual(await runInvalid(client, row), answers[row.title]);
  });
}
