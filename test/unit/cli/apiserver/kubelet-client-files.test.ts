import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readKubeletClient } from '../../../../src/cli/apiserver/kubelet-client-files.ts';
import { TestAuthority } from '../../../support/certificates.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

const folder = tempFolder();
const authority = await TestAuthority.make();
const pair = await authority.sign({ subject: 'CN=api-server' });
const other = await authority.sign({ subject: 'CN=other' });

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const cert = file('client.crt', pair.cert);
const key = file('client.key', pair.key);
const ca = file('ca.crt', authority.cert);
const none = {
  kubeletClientCertificate: undefined,
  kubeletClientKey: undefined,
  kubeletCertificateAuthority: undefined,
  kubeletTimeoutMs: 5000,
};

function problemsOf(flags: Partial<Parameters<typeof readKubeletClient>[0]>): readonly string[] {
  const read = readKubeletClient({ ...none, ...flags });
  return 'problems' in read ? read.problems : [];
}

test('the files are read; none is required', () => {
  assert.deepEqual(readKubeletClient(none), { client: undefined, caPem: undefined, connectTimeoutMs: 5000 });
  assert.deepEqual(
    readKubeletClient({
      kubeletClientCertificate: cert,
      kubeletClientKey: key,
      kubeletCertificateAuthority: ca,
      kubeletTimeoutMs: 1000,
    }),
    { client: { certPem: pair.cert, keyPem: pair.key }, caPem: authority.cert, connectTimeoutMs: 1000 },
  );
});

test('certificate and key belong together', () => {
  assert.deepEqual(problemsOf({ kubeletClientCertificate: cert }), [
    `--kubelet-client-certificate: requires --kubelet-client-key (got ${JSON.stringify(cert)})`,
  ]);
  assert.deepEqual(problemsOf({ kubeletClientKey: key }), [
    `--kubelet-client-key: requires --kubelet-client-certificate (got ${JSON.stringify(key)})`,
  ]);
  const [problem = ''] = problemsOf({
    kubeletClientCertificate: cert,
    kubeletClientKey: file('other.key', other.key),
  });
  assert.match(
    problem,
    /^--kubelet-client-certificate .*client\.crt and --kubelet-client-key .*other\.key: must be a /,
  );
});

test('every problem is reported, with its flag and file', () => {
  const missing = join(folder, 'missing');
  const problems = problemsOf({
    kubeletClientCertificate: missing,
    kubeletClientKey: key,
    kubeletCertificateAuthority: file('leaf.crt', pair.cert),
  });
  assert.equal(problems.length, 2);
  assert.match(problems[0] ?? '', /^--kubelet-client-certificate .*missing: must be a readable file \(ENOENT/);
  assert.match(problems[1] ?? '', /^--kubelet-certificate-authority .*leaf\.crt: must be CA certificates in PEM /);
});
