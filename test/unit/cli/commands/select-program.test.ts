import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selectArguments } from '../../../../src/cli/commands/select-program.ts';

test('a program with the name of the kubectl plugin runs the commands of the plugin', () => {
  assert.deepEqual(selectArguments('/usr/bin/kubectl-node_lifecycle', ['status']), ['kubectl', 'status']);
  assert.deepEqual(selectArguments('C:\\bin\\kubectl-node_lifecycle.js', []), ['kubectl']);
  const complete = selectArguments('/home/u/.krew/bin/kubectl_complete-node_lifecycle', ['explain', '']);
  assert.deepEqual(complete, ['kubectl', '__complete', 'explain', '']);
  for (const path of ['/usr/bin/nlc', '/app/nlc.js', 'src/cli/main.ts', '']) {
    assert.deepEqual(selectArguments(path, ['status', '-o', 'json']), ['status', '-o', 'json'], path);
  }
});
