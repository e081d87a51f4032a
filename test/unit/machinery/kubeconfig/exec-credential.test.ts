import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseExecCredential } from '../../../../src/machinery/kubeconfig/exec-credential.ts';

const apiVersion = 'client.authentication.k8s.io/v1';
const parse = (printed: object): unknown => parseExecCredential(JSON.stringify(printed), apiVersion);
const about = { apiVersion, kind: 'ExecCredential' };

describe('output of a credential plugin', () => {
  test('a token, a certificate with its key, an expiry; surrounding white space is ignored', () => {
    const expirationTimestamp = '2026-01-02T03:04:05Z';
    const status = { token: ' t\n', clientCertificateData: 'CERT\n', clientKeyData: 'KEY\n', expirationTimestamp };
    const expiresAtMs = Date.parse(expirationTimestamp);
    assert.deepEqual(parse({ ...about, status }), { token: 't', certPem: 'CERT', keyPem: 'KEY', expiresAtMs });
    const alone = { token: 't', certPem: undefined, keyPem: undefined, expiresAtMs: undefined };
    assert.deepEqual(parse({ ...about, status: { token: 't', clientKeyData: '' } }), alone);
  });

  for (const [what, printed, message] of [
    [
      'another version',
      { ...about, apiVersion: 'client.authentication.k8s.io/v1beta1', status: { token: 't' } },
      'its output has apiVersion "client.authentication.k8s.io/v1beta1"; accepted: "client.authentication.k8s.io/v1"',
    ],
    [
      'another kind',
      { ...about, kind: 'Secret', status: { token: 't' } },
      'its output has kind "Secret"; accepted: "ExecCredential"',
    ],
    ['no kind', { apiVersion, status: { token: 't' } }, 'its output has kind missing; accepted: "ExecCredential"'],
    ['no status', about, 'its output has no status'],
    ['an empty status', { ...about, status: {} }, 'its output has neither a token nor a certificate'],
    [
      'a certificate alone',
      { ...about, status: { token: 't', clientCertificateData: 'CERT' } },
      'its output has a certificate without a key, or a key without a certificate',
    ],
    [
      'a key alone',
      { ...about, status: { clientKeyData: 'KEY' } },
      'its output has a certificate without a key, or a key without a certificate',
    ],
    ['a list', [], 'its output is not a JSON object'],
  ] as const)
    test(`${what} is rejected`, () => {
      assert.throws(() => parse(printed), { message });
    });

  test('the error does not repeat output that is not JSON', () => {
    assert.throws(() => parseExecCredential('hunter2', apiVersion), { message: 'its output is not a JSON object' });
  });
});
