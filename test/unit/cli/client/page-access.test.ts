import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { explainFlags } from '../../../../src/cli/client/flags.ts';
import { readFlags } from '../../../../src/cli/flags/flag-schema.ts';
import { accessProblems, type ClientValues, pageAccess } from '../../../../src/cli/client/page-access.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

function values(...argv: readonly string[]): ClientValues {
  const read = readFlags(argv, explainFlags);
  if ('problems' in read) assert.fail(read.problems.join());
  return read.values;
}

const secure = '--server=https://127.0.0.1:1';

test('invalid combinations of flags are reported together', () => {
  assert.deepEqual(accessProblems(values()), []);
  assert.deepEqual(accessProblems(values(secure, '--token=t', '--certificate-authority=/ca')), []);
  assert.deepEqual(accessProblems(values('--token=t', '--certificate-authority=/ca')), [
    '--token: requires a --server that begins with https://',
    '--certificate-authority: requires a --server that begins with https://',
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
    '--token, --token-file, --kubeconfig: only one of them may be set',
    '--context: requires --kubeconfig',
    '--insecure-skip-tls-verify: cannot be combined with --certificate-authority',
  ]);
});

test('sends the named credentials; in a pod on loopback by default the service account token; none without TLS', async () => {
  const folder = tempFolder();
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
});

test('a CA file without a certificate is an error and does not fall back to the CAs of Node.js', async () => {
  const folder = tempFolder();
  const file = join(folder, 'ca.crt');
  for (const text of ['', 'none']) {
    writeFileSync(file, text);
    await assert.rejects(
      pageAccess(values(secure, `--certificate-authority=${file}`), ''),
      /authority: contains no certificate/,
    );
  }
});

test('a kubeconfig with impersonation is an error', async () => {
  const folder = tempFolder();
  const file = join(folder, 'config');
  const config = {
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server: 'https://server.example' } }],
    users: [{ name: 'u', user: { token: 't', as: 'other-user' } }],
  };
  writeFileSync(file, JSON.stringify(config));
  await assert.rejects(
    pageAccess(values(secure, `--kubeconfig=${file}`), ''),
    /config: as: impersonation is not supported/,
  );
});
