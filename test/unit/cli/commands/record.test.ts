import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nlc } from '../../../support/run-command.ts';

async function problemsOf(...args: readonly string[]): Promise<string> {
  const { code, err } = await nlc('record', '--out=/nowhere/trace.jsonl', '--kubeconfig=/nowhere/kubeconfig', ...args);
  return code === 2 ? err : '';
}

test('labels to record are valid keys, at most 20, and no name of a node where names are hashed', async () => {
  assert.match(await problemsOf('--label=a b'), /--label: must be a label key, such as .* \(got "a b"\)/u);
  const many = Array.from({ length: 21 }, (_, index) => `--label=k${index}`);
  assert.match(await problemsOf(...many), /--label: must be given at most 20 times \(got 21\)/u);
  assert.match(
    await problemsOf('--hash-names', '--label', 'kubernetes.io/hostname'),
    /--label: must not be kubernetes\.io/u,
  );
  assert.match(await problemsOf('--label'), /--label: value required/u);
});

test('several labels are accepted', async () => {
  assert.equal(await problemsOf('--label=pool', '--label', 'node.example.com/rack'), '');
  assert.equal(await problemsOf('--label=kubernetes.io/hostname'), '');
});
