import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { controlPlaneProblem } from '../../../../../src/cli/simulation/programs/control-plane-programs.ts';
import { tempFolder } from '../../../../support/temp-folder.ts';

test('a folder of a control plane has both programs; a problem names what is missing', () => {
  const folder = tempFolder();
  assert.equal(controlPlaneProblem(join(folder, 'none')), `got ${folder}/none, which is no folder`);
  assert.equal(controlPlaneProblem(folder), `got ${folder}, without an executable etcd and kube-apiserver`);
  for (const name of ['etcd', 'kube-apiserver']) writeFileSync(join(folder, name), '');
  chmodSync(join(folder, 'etcd'), 0o755);
  assert.equal(controlPlaneProblem(folder), `got ${folder}, without an executable kube-apiserver`);
  chmodSync(join(folder, 'kube-apiserver'), 0o755);
  assert.equal(controlPlaneProblem(folder), undefined);
});
