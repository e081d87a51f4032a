import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { nlc } from '../../../support/run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'nlc-validate-'));
after(() => rmSync(folder, { recursive: true }));

function aFile(settings: string): string {
  const path = join(folder, 'controller.yaml');
  writeFileSync(path, `apiVersion: nodelifecycle/v1alpha1\nkind: ControllerConfiguration\n${settings}`);
  return path;
}

test('a valid file: 0, and warnings on standard error', async () => {
  assert.deepEqual(await nlc('validate', aFile('nodeEvictionRate: 0.2\n')), {
    code: 0,
    out: 'the configuration is valid\n',
    err: '',
  });
  const policy = '{ name: edge, nodeSelector: { matchLabels: { a: b } }, nodeMonitorGracePeriod: 30s }';
  const risky = await nlc('validate', aFile(`policies: [${policy}]\n`));
  assert.equal(risky.code, 0);
  assert.match(risky.err, /^nlc validate: warning: policies\[0\]\.nodeMonitorGracePeriod \(policy edge\) is 30s: /u);
});

test('an invalid file: 2, and all problems with the file and the field', async () => {
  const path = aFile('nodeEvictionRate: -1\npolicies: [{ name: edge, mode: On, nodeSelector: {} }]\npaused: 1\n');
  const { code, out, err } = await nlc('validate', path);
  assert.deepEqual([code, out], [2, '']);
  assert.deepEqual(err.split('\n').slice(0, 4), [
    'nlc validate: invalid configuration (3 errors)',
    `  ${path}: policies[0].mode: must be one of Enforce, Observe, Paused (got "On")`,
    `  ${path}: paused: must be true or false (got 1)`,
    `  ${path}: nodeEvictionRate: must be a number >= 0 (got -1)`,
  ]);
});

test('without a file, with a flag, with two files, or with one that cannot be read: 2', async () => {
  assert.match((await nlc('validate')).err, /FILE: must be one config file \(got none\)/u);
  assert.match((await nlc('validate', '--config=x')).err, /got "--config=x"/u);
  assert.match((await nlc('validate', 'a', 'b')).err, /got "a", "b"/u);
  const missing = await nlc('validate', join(folder, 'missing.yaml'));
  assert.equal(missing.code, 2);
  assert.match(missing.err, /cannot read .*missing\.yaml.*ENOENT/u);
});
