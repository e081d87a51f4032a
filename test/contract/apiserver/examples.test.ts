/** Objects of every kind, as kube-apiserver answers when they are created, changed and deleted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openClient } from './client.ts';
import { examples, keyOf } from './example-objects.ts';
import { runExample } from './example-run.ts';
import { recorded } from './recorded.ts';

const client = await openClient();
const answers = recorded('examples');

for (const example of examples) {
  test(`the answers of kube-apiserver: ${keyOf(example)}`, async () => {
    assert.deepEqual(await runExample(client, example), answers[keyOf(example)]);
  });
}
