import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { explainFlags } from '../../../src/cli/explain-flags.ts';
import { readFlags } from '../../../src/cli/flag-schema.ts';
import { accessProblems, type AskingValues, pageAccess } from '../../../src/cli/page-access.ts';

function values(...argv: readonly string[]): AskingValues {
  const read = readFlags(argv, explainFlags);
  if ('problems' in read) assert.fail(read.problems.join());
  return read.values;
}

const secure = '--server=https://127.0.0.1:1';

test('what does not go together is refused, all of it at once', () => {
  assert.deepEqual(accessProblems(values()), []);
  assert.deepEqual(accessProblems(values(secure, '--token=t', '--certificate-authority=/ca')), []);
  assert.deepEqual(accessProblems(values('--token=t', '--certificate-authority=/ca')), [
    '--token: accepted: only where --server begins with https://',
    '--certificate-authority: accepted: only where --server begins with https://',
  ]);
  const both = values(
    secure,
    '--token=t',
    '--token-file=/f',
    '--context=c',
    '--insecure-skip-tls-verify',
    '--certificate-authority=/ca',
  );
  assert.deepEqual(accessProblems(both), [
    '--token, --token-file, --kubeconfig: accepted: one of them',
    '--context: accepted: only with --kubeconfig',
    '--insecure-skip-tls-verify: accepted: only without --certificate-authority',
  ]);
});

test('what is shown is what was named; in a pod, without that, its own token, to itself; and nothing without TLS', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'nlc-access-'));
  const own = join(folder, 'own');
  const named = join(folder, 'named');
  writeFileSync(own, 'own-token');
  writeFileSync(named, 'named-token\n');
  const shown = async (...argv: readonly string[]): Promise<string | undefined> =>
    (await pageAccess(values(...argv), own)).headers['authorization'];
  assert.equal(await shown(secure, '--token=t'), 'Bearer t');
  assert.equal(await shown(secure, `--token-file=${named}`), 'Bearer named-token');
  assert.equal(await shown(secure), 'Bearer own-token');
  assert.equal(await shown(), undefined);
  for (const host of ['localhost', '[::1]', '127.0.0.2']) {
    assert.equal(await shown(`--server=https://${host}:8080`), 'Bearer own-token', host);
  }
  for (const host of ['10.0.0.7', '127.0.0.1.example', 'localhost.example', '127.0.0.1@example', '[::2]']) {
    assert.equal(await shown(`--server=https://${host}:8080`), undefined, host);
  }
  assert.equal(await shown('--server=https://10.0.0.7:8080', `--token-file=${named}`), 'Bearer named-token');
  assert.equal((await pageAccess(values(secure), join(folder, 'none'))).headers['authorization'], undefined);
  const missing = `--token-file=${join(folder, 'none')}`;
  await assert.rejects(pageAccess(values(secure, missing), own), /none: --token-file: cannot be read/);
  rmSync(folder, { recursive: true });
});

test('an authority that is none is not taken for those of Node.js', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'nlc-access-'));
  const file = join(folder, 'ca.crt');
  for (const text of ['', 'none']) {
    writeFileSync(file, text);
    await assert.rejects(
      pageAccess(values(secure, `--certificate-authority=${file}`), ''),
      /authority: holds no certificate/,
    );
  }
  rmSync(folder, { recursive: true });
});

test('whoever is to be taken on by a kubeconfig is not forgotten', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'nlc-access-'));
  const file = join(folder, 'config');
  const config = {
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server: 'https://nobody.example' } }],
    users: [{ name: 'u', user: { token: 't', as: 'somebody' } }],
  };
  writeFileSync(file, JSON.stringify(config));
  await assert.rejects(pageAccess(values(secure, `--kubeconfig=${file}`), ''), /config: as: nobody can be taken on/);
  rmSync(folder, { recursive: true });
});
