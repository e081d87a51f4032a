/** The indexes in the status of a Job. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expect, type Json, mergePatch, openClient } from './client.ts';

const client = await openClient();

async function makeJob(spec: Json): Promise<string> {
  const collection = `/apis/batch/v1/namespaces/${await client.namespace()}/jobs`;
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };
  const name = client.name('job');
  await client.make(collection, { metadata: { name }, spec: { template, completionMode: 'Indexed', ...spec } });
  return `${collection}/${name}`;
}

/** The messages of the causes. */
async function problemsOf(path: string, status: Json): Promise<readonly string[]> {
  const { code, text, body } = await client.patch(`${path}/status`, mergePatch, { status });
  if (code === 200) return [];
  assert.equal(code, 422, text);
  return body.details.causes.map(({ field, message }: Json) => `${field}: ${message}`);
}

const overlap = (value: string, index: number): string =>
  `status.failedIndexes: Invalid value: "${value}": failedIndexes and completedIndexes overlap at index: ${index}`;

test('failed and completed indexes of a Job must not overlap', async () => {
  const path = await makeJob({ completions: 20, backoffLimitPerIndex: 1 });
  const rows: readonly (readonly [completed: string, failed: string, problems: readonly string[]])[] = [
    ['1,3-5', '2,6', []],
    ['1', '1', [overlap('1', 1)]],
    ['1,3-5', '4', [overlap('4', 4)]],
    ['4', '1-2,3-8', [overlap('1-2,3-8', 4)]],
    ['0-9', '3-12', [overlap('3-12', 3)]],
    ['0,2,4,6-8', '1,3,5,7,9', [overlap('1,3,5,7,9', 7)]],
    ['0,2,4', '1,3,5-19', []],
    [
      'x,4',
      '3-5',
      [
        'status.completedIndexes: Invalid value: "x,4": error parsing completedIndexes: cannot convert string to integer for index: "x"',
        overlap('3-5', 4),
      ],
    ],
    [
      '4',
      '99,4',
      [
        'status.failedIndexes: Invalid value: "99,4": error parsing failedIndexes: too large index: "99"',
        overlap('99,4', 4),
      ],
    ],
  ];
  for (const [completedIndexes, failedIndexes, problems] of rows) {
    assert.deepEqual(await problemsOf(path, { completedIndexes, failedIndexes }), problems, completedIndexes);
  }
});

test('indexes that overlap are reported beside the limit per index that is missing', async () => {
  const path = await makeJob({ completions: 20 });
  assert.deepEqual(await problemsOf(path, { completedIndexes: '1', failedIndexes: '1' }), [
    'status.failedIndexes: Invalid value: "1": cannot set non-null failedIndexes when backoffLimitPerIndex is null',
    overlap('1', 1),
  ]);
});

test('indexes of a status are checked when they change, not when the completions were lowered', async () => {
  const path = await makeJob({ completions: 10, parallelism: 10 });
  assert.deepEqual(await problemsOf(path, { completedIndexes: '7-9' }), []);
  expect(await client.patch(path, mergePatch, { spec: { completions: 5, parallelism: 5 } }), 200);
  assert.deepEqual(await problemsOf(path, { active: 1 }), []);
  assert.deepEqual(await problemsOf(path, { completedIndexes: '8-9' }), [
    'status.completedIndexes: Invalid value: "8-9": error parsing completedIndexes: too large index: "8"',
  ]);
});
