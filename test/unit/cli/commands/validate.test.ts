import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { parse } from 'yaml';
import { controlsIn } from '../../../support/control-characters.ts';
import { aliasBomb, deepTexts } from '../../../support/hostile-texts.ts';
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
  assert.deepEqual(err.split('\n').slice(0, 5), [
    'nlc validate: invalid configuration (4 errors)',
    `  ${path}: policies[0].mode: must be one of Enforce, Detect, Observe, Paused (got "On")`,
    `  ${path}: paused: must be true or false (got 1)`,
    `  ${path}: policies[0].nodeSelector: must be a selector with at least one requirement (got {})`,
    `  ${path}: nodeEvictionRate: must be a number >= 0 (got -1)`,
  ]);
});

test('without a file, with a flag, with two files, or with one that cannot be read: 2', async () => {
  assert.match((await nlc('validate')).err, /FILE: must be one file \(got none\)/u);
  assert.match((await nlc('validate', '--config=x')).err, /--config: unknown flag/u);
  assert.match(
    (await nlc('validate', '--output=json', 'a')).err,
    /--output: must be one of crd, config \(got "json"\)/u,
  );
  assert.match((await nlc('validate', 'a', 'b')).err, /got "a", "b"/u);
  const missing = await nlc('validate', join(folder, 'missing.yaml'));
  assert.equal(missing.code, 2);
  assert.match(missing.err, /missing\.yaml: cannot read: ENOENT/u);
});

const policies = 'policies:\n  - { name: edge, nodeSelector: { matchLabels: { a: b } }, mode: Paused }\n';

test('--output=crd prints the policies of a config file as manifests, --output=config prints them as they were', async () => {
  const { code, out } = await nlc('validate', aFile(policies), '--output=crd');
  assert.deepEqual(
    [code, out.split('\n').slice(0, 4)],
    [0, ['apiVersion: policy.node-lifecycle.dev/v1alpha1', 'kind: NodeLifecyclePolicy', 'metadata:', '  name: edge']],
  );
  const manifests = join(folder, 'manifests.yaml');
  writeFileSync(manifests, out);
  assert.deepEqual(await nlc('validate', manifests), { code: 0, out: 'the policy is valid\n', err: '' });
  const back = await nlc('validate', manifests, '--output', 'config');
  assert.deepEqual(parse(back.out), parse(policies));
});

test('policies of a file that names the other source already are printed, and are an error otherwise', async () => {
  const file = aFile(`policySource: crd\n${policies}`);
  assert.match(
    (await nlc('validate', file)).err,
    /policies: must be absent from the config file with --policy-source=crd/u,
  );
  assert.match((await nlc('validate', file, '--output=crd')).out, /kind: NodeLifecyclePolicy/u);
});

test('several manifests in one file: each problem names the object, the field and what is accepted', async () => {
  const head = 'apiVersion: policy.node-lifecycle.dev/v1alpha1\nkind: NodeLifecyclePolicy\n';
  const spec = 'spec: { nodeSelector: { matchLabels: { a: b } }, mode: Onn }\n';
  const path = join(folder, 'several.yaml');
  const last = 'apiVersion: policy.node-lifecycle.dev/v1\nkind: NodeLifecyclePolicy\nmetadata: { name: c }\nspec: {}\n';
  writeFileSync(path, [`${head}metadata: { name: a }\n${spec}`, `${head}spec: 7\n`, last].join('---\n'));
  const { code, err } = await nlc('validate', path);
  assert.equal(code, 2);
  assert.deepEqual(err.split('\n').slice(1, 5), [
    `  ${path}: nodelifecyclepolicy/a: spec.mode: must be one of Enforce, Detect, Observe, Paused (got "Onn")`,
    `  ${path}: document 2: metadata.name: must be a name of lower-case letters, digits, - and ., at most 253 (missing)`,
    `  ${path}: document 2: spec: must be a mapping (got 7)`,
    `  ${path}: document 3: apiVersion: must be policy.node-lifecycle.dev/v1alpha1 (got "policy.node-lifecycle.dev/v1")`,
  ]);
});

test('warnings about manifests name the objects', async () => {
  const one = (name: string): string =>
    `apiVersion: policy.node-lifecycle.dev/v1alpha1\nkind: NodeLifecyclePolicy\nmetadata: { name: ${name} }\n` +
    'spec: { nodeSelector: { matchLabels: { a: b } } }\n';
  const path = join(folder, 'equal.yaml');
  writeFileSync(path, `${one('x')}---\n${one('z')}---\n`);
  const { code, out, err } = await nlc('validate', path);
  assert.deepEqual([code, out], [0, 'the 2 policies are valid\n']);
  assert.match(err, /nodelifecyclepolicy\/x \(x\) and nodelifecyclepolicy\/z \(z\) have equal priority 0/u);
  writeFileSync(path, `${one('x')}---\n${one('x')}`);
  assert.match((await nlc('validate', path)).err, /nodelifecyclepolicy\/x: must be unique/u);
});

test('names and values of a file reach the terminal as escapes, and begin no line: problems, warnings and converted policies', async () => {
  const name = JSON.stringify('x\u001b[2J\u009b\u202e\ny');
  const invalid = await nlc('validate', aFile(`${name}: 1\npolicies: [{ name: ${name}, nodeSelector: {} }]\n`));
  assert.equal(invalid.code, 2);
  const converted = await nlc(
    'validate',
    '--output=crd',
    aFile(`policies: [{ name: edge, nodeSelector: { matchLabels: { a: b } }, conditions: [] }]\n`),
  );
  for (const text of [invalid.err, converted.out, converted.err]) assert.deepEqual(controlsIn(text), []);
  assert.ok(
    invalid.err.split('\n').every((line) => /^(?:nlc validate|See|\s{2}\/|$)/.test(line)),
    invalid.err,
  );
});

test('alias bombs and deep nesting: 2, and one line, in each command that reads a file', async () => {
  const path = join(folder, 'hostile.yaml');
  const commands = [
    ['validate', path],
    ['simulate', path],
    ['hollow-nodes', '--kubeconfig=none', `--script=${path}`],
    ['whatif', `--policies=${path}`, '--trace=none'],
    ['controller', `--config=${path}`],
  ];
  for (const [name, text] of Object.entries({ bomb: aliasBomb, ...deepTexts })) {
    writeFileSync(path, text);
    for (const argv of commands) {
      const { code, out, err } = await nlc(...argv);
      assert.deepEqual([code, out], [2, ''], `${argv.join(' ')}: ${name}`);
      assert.match(err, /hostile\.yaml: (?:document 1: )?invalid YAML: /u, `${argv.join(' ')}: ${name}`);
      assert.doesNotMatch(err, /\n +at /u);
    }
  }
});

test('merge keys and aliases are accepted, and what comes later takes precedence', async () => {
  const path = aFile(
    'policies:\n' +
      '  - &pool { name: a, nodeSelector: { matchLabels: { pool: a } }, nodeMonitorGracePeriod: 2m }\n' +
      '  - { <<: *pool, name: b, nodeSelector: { matchLabels: { pool: b } } }\n',
  );
  assert.deepEqual(await nlc('validate', path), { code: 0, out: 'the configuration is valid\n', err: '' });
  const { out } = await nlc('validate', path, '--output=config');
  assert.deepEqual(parse(out).policies[1], {
    name: 'b',
    nodeSelector: { matchLabels: { pool: 'b' } },
    nodeMonitorGracePeriod: '2m',
  });
});
