// Each example of a policy in the documents is valid.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { readFileSettings } from '../../src/policy/schema/file-settings.ts';

const text = readFileSync(join(import.meta.dirname, '../../docs/policies.md'), 'utf8');

test('every policy of policies.md is valid', () => {
  const blocks = [...text.matchAll(/```yaml\n([^`]*?policies:[^`]*)```/gu)].map(([, block = '']) => block);
  assert.ok(blocks.length > 15, String(blocks.length));
  for (const block of blocks) {
    const { policies } = parse(block) as { readonly policies: unknown };
    const { problems, settings } = readFileSettings({ policies });
    assert.deepEqual(problems, [], block);
    assert.ok(settings.policies.length > 0, block);
  }
});
