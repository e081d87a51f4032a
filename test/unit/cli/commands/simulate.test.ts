import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { nlc } from '../../../support/run-command.ts';

const root = join(import.meta.dirname, '..', '..', '..', '..');
const [scenario = ''] = globSync('scenarios/*.yaml', { cwd: root }).map((path) => join(root, path));

test('policies that are objects of the API are refused: a scenario has none', async () => {
  const { code, err } = await nlc('simulate', scenario, '--set=policy-source=crd');
  assert.equal(code, 2);
  assert.match(err, /--policy-source: must be file \(got crd\): a scenario has no NodeLifecyclePolicy objects/u);
});
