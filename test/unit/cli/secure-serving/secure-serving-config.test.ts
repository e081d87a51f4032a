import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSecureContext } from 'node:tls';
import { parseControllerConfig } from '../../../../src/cli/controller-config.ts';
import { cipherSuiteNames, opensslCiphers } from '../../../../src/cli/secure-serving/cipher-suites.ts';

const parse = (...argv: readonly string[]): ReturnType<typeof parseControllerConfig> =>
  parseControllerConfig(argv, () => '');

test('the defaults are those of kube-controller-manager, and off', () => {
  const outcome = parse();
  assert.ok('config' in outcome);
  assert.deepEqual(outcome.config.secureServing, {
    enabled: false,
    certFile: undefined,
    keyFile: undefined,
    minVersion: 'TLSv1.2',
    cipherSuites: [],
    clientCaFile: undefined,
    alwaysAllowPaths: ['/healthz', '/readyz', '/livez'],
    tokenTtlMs: 10_000,
    authorizedTtlMs: 10_000,
    unauthorizedTtlMs: 10_000,
  });
});

test('every flag reaches its place', () => {
  const outcome = parse(
    '--metrics-secure',
    '--tls-cert-file=/c',
    '--tls-private-key-file=/k',
    '--tls-min-version=VersionTLS13',
    '--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, TLS_AES_128_GCM_SHA256',
    '--client-ca-file=/ca',
    '--authorization-always-allow-paths=/livez,/a/*',
    '--authentication-token-webhook-cache-ttl=1m',
    '--authorization-webhook-cache-authorized-ttl=2m',
    '--authorization-webhook-cache-unauthorized-ttl=0',
  );
  assert.ok('config' in outcome, JSON.stringify(outcome));
  assert.deepEqual(outcome.warnings, []);
  assert.deepEqual(outcome.config.secureServing, {
    enabled: true,
    certFile: '/c',
    keyFile: '/k',
    minVersion: 'TLSv1.3',
    cipherSuites: ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'TLS_AES_128_GCM_SHA256'],
    clientCaFile: '/ca',
    alwaysAllowPaths: ['/livez', '/a/*'],
    tokenTtlMs: 60_000,
    authorizedTtlMs: 120_000,
    unauthorizedTtlMs: 0,
  });
});

test('everything that is wrong is said at once', () => {
  const outcome = parse(
    '--tls-cert-file=/c',
    '--tls-min-version=VersionTLS11',
    '--tls-cipher-suites=TLS_RSA_WITH_RC4_128_SHA,TLS_AES_128_GCM_SHA256',
    '--client-ca-file=/ca',
    '--authorization-always-allow-paths=livez,/a*b',
    '--authentication-token-webhook-cache-ttl=-1s',
  );
  assert.ok('problems' in outcome);
  const said = outcome.problems.join('\n');
  for (const words of [
    '--tls-min-version: got "VersionTLS11"; accepted: VersionTLS12, VersionTLS13',
    '--authentication-token-webhook-cache-ttl: got "-1s"',
    '--tls-cert-file: got "/c"; accepted: only with --metrics-secure',
    '--tls-cert-file: got "/c"; accepted: only with --tls-private-key-file',
    '--client-ca-file: got "/ca"; accepted: only with --metrics-secure',
    '--tls-cipher-suites: got "TLS_RSA_WITH_RC4_128_SHA"; accepted: TLS_AES_128_GCM_SHA256,',
    '--authorization-always-allow-paths: got "livez", "/a*b"; accepted: paths that begin with /',
  ])
    assert.ok(said.includes(words), `${words}\nnot in\n${said}`);
  const keyAlone = parse('--metrics-secure', '--tls-private-key-file=/k');
  assert.ok('problems' in keyAlone);
  assert.deepEqual(keyAlone.problems, ['--tls-private-key-file: got "/k"; accepted: only with --tls-cert-file']);
});

test('a certificate that nobody can verify is worth a warning', () => {
  const outcome = parse('--metrics-secure');
  assert.ok('config' in outcome);
  assert.match(outcome.warnings.join(), /^--metrics-secure without --tls-cert-file/);
});

test('OpenSSL knows every suite that is accepted, and none chosen is all of them', () => {
  for (const name of cipherSuiteNames)
    assert.doesNotThrow(() => createSecureContext({ ciphers: opensslCiphers([name]) }));
  assert.equal(opensslCiphers([]), opensslCiphers(cipherSuiteNames));
  assert.match(opensslCiphers(['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256']), /:ECDHE-RSA-AES128-GCM-SHA256$/);
});
