import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { nlc } from '../../../support/run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'nlc-whatif-'));
after(() => rmSync(folder, { recursive: true }));

function aFile(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function aConfig(name: string, settings: string): string {
  return aFile(name, `apiVersion: nodelifecycle/v1alpha1\nkind: ControllerConfiguration\n${settings}`);
}

const region = 'topology.kubernetes.io/region';

/** Node n1 of pool edge is silent for 90 s, so often; n2 and n3 are not. */
function aTrace(labels: boolean, silences = 1): string {
  const header = {
    apiVersion: 'nodelifecycle/v1alpha1',
    kind: 'ClusterTrace',
    startedAt: '2026-01-02T03:04:05Z',
    hashedNames: true,
    gapSeconds: 15,
    ...(labels ? { labels: ['pool', region] } : {}),
  };
  const edge = labels ? { labels: { pool: 'edge', [region]: 'eu' } } : {};
  const lines = [
    header,
    { t: 0, node: 'n1', zone: 'a', ready: 'True', ...edge },
    { t: 0, node: 'n2', zone: 'a', ready: 'True' },
    { t: 0, node: 'n3', zone: 'a', ready: 'True' },
    ...Array.from({ length: silences }, (_, index) => ({ t: 100 + index * 200, node: 'n1', gap: 90 })),
    { t: 110 + (silences - 1) * 200, end: 'stopped' },
  ];
  return aFile(`trace-${labels}-${silences}.jsonl`, `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`);
}

const policies = `policies: [{ name: edge, nodeSelector: { matchLabels: { pool: edge, ${region}: eu } }, nodeMonitorGracePeriod: 3m }]\n`;

test('without --policies, with an unknown flag, or with an invalid file: 2, and the field is named', async () => {
  assert.match((await nlc('whatif')).err, /--policies: value required: must be a config file/u);
  assert.equal((await nlc('whatif', '--polices=x')).code, 2);
  const path = aConfig(
    'invalid.yaml',
    'policies: [{ name: edge, mode: On, nodeSelector: { matchLabels: { a: b } } }]\n',
  );
  const { code, out, err } = await nlc('whatif', `--policies=${path}`);
  assert.deepEqual([code, out], [2, '']);
  assert.match(err, /policies\[0\]\.mode: must be one of Enforce, Detect, Observe, Paused \(got "On"\)/u);
  assert.match(
    (await nlc('whatif', `--policies=${path}`, '--config=missing.yaml')).err,
    /missing\.yaml: cannot read: ENOENT/u,
  );
});

test('a cluster that cannot be connected to: 1', async () => {
  const path = aConfig('valid.yaml', policies);
  const { code, err } = await nlc('whatif', `--policies=${path}`, '--kubeconfig=/nowhere/kubeconfig');
  assert.equal(code, 1);
  assert.match(err, /^nlc whatif: cannot load the client configuration: /mu);
});

test('a trace with the labels of the policy is replayed with and without it', async () => {
  const { code, out } = await nlc('whatif', `--policies=${aConfig('p.yaml', policies)}`, `--trace=${aTrace(true)}`);
  assert.equal(code, 0);
  assert.match(out, /^episodes of nodes not ready +1 +0$/mu);
  assert.doesNotMatch(out, /does not have/u);
});

test('the recorded recoveries of a trace show after how many of them a policy would keep the node from new pods', async () => {
  const selector = `{ matchLabels: { pool: edge, ${region}: eu } }`;
  const flapping = `policies: [{ name: edge, nodeSelector: ${selector}, flapping: { recoveries: 2, within: 1h } }]\n`;
  const { out } = await nlc('whatif', `--policies=${aConfig('f.yaml', flapping)}`, `--trace=${aTrace(true, 4)}`);
  assert.match(out, /^episodes of nodes not ready +4 +4$/mu);
  assert.match(out, /^recoveries of flapping nodes that were kept +0 +3$/mu);
});

test('a trace without the labels of the policy says so, in text and in JSON', async () => {
  const args = [`--policies=${aConfig('p.yaml', policies)}`, `--trace=${aTrace(false)}`];
  const { out } = await nlc('whatif', ...args);
  assert.match(out, /^episodes of nodes not ready +1 +1$/mu);
  assert.match(
    out,
    /^policy edge uses labels that the trace does not have: pool, topology\.kubernetes\.io\/region; record them with --label=pool --label=/mu,
  );
  const json = JSON.parse((await nlc('whatif', ...args, '-o', 'json')).out) as { missingLabels: unknown };
  assert.deepEqual(json.missingLabels, [{ policy: 'edge', keys: ['pool', region] }]);
});

test('--at is a time, and a trace has times of its own', async () => {
  const path = aConfig('policies-at.yaml', policies);
  const malformed = await nlc('whatif', `--policies=${path}`, '--at=tomorrow');
  assert.deepEqual([malformed.code, malformed.out], [2, '']);
  assert.match(malformed.err, /--at: must be an RFC 3339 time, such as .* \(got "tomorrow"\)/u);
  const both = await nlc('whatif', `--policies=${path}`, '--at=2026-11-27T08:00:00Z', `--trace=${aTrace(true)}`);
  assert.match(both.err, /--at: must be absent with --trace, which has its own times/u);
});
