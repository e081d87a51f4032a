import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shadowRoute } from '../../../../src/cli/pages/explain-pages.ts';

test('/shadow of a controller without --shadow is not found', async () => {
  const answer = await shadowRoute(() => undefined).answer(new URL('http://h/shadow'));
  assert.equal(answer.status, 404);
  assert.match(answer.body, /does not run with --shadow/);
});
