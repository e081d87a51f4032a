/** Answers to requests that are wrong in some way, as kube-apiserver gave them (`record-answers.ts`). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, makeFixture, requestRows } from './answers/answers.ts';
import different from './answers/known-differences.json' with { type: 'json' };
import { openClient } from './client.ts';
import { recorded } from './recorded.ts';

const client = await openClient({ authorizationMode: 'RBAC' });
const answers = recorded('answers');
/** What the embedded server answers otherwise. A row that it answers alike is removed from the list. */
const known: ReadonlySet<string> = new Set(client.backend.kind === 'real' ? [] : different);

test('every request has its own name and an answer', () => {
  const names = requestRows.map(({ name }) => name);
  assert.deepEqual(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  );
  assert.deepEqual(Object.keys(answers).toSorted(), names.toSorted());
});

test('each request is answered as by kube-apiserver', async (t) => {
  const fixture = await makeFixture(client);
  for (const row of requestRows) {
    await t.test(row.name, async () => {
      const answer = await answerOf(client, fixture, row);
      if (known.has(row.name))
        assert.notDeepEqual(answer, answers[row.name], 'remove the row from the known differences');
      else assert.deepEqual(answer, answers[row.name]);
    });
  }
});
