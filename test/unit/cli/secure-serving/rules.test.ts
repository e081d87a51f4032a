import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSecureContext } from 'node:tls';
import { parseControllerConfig } from '../../../../src/cli/controller/config.ts';
import { cipherSuiteNames, opensslCiphers } from '../../../../src/cli/secure-serving/rules.ts';

const parse = (...argv: readonly string[]): ReturnType<typeof parseControllerConfig> =>
  parseControllerConfig(argv, () => '');

test('every flag sets its option', () => {
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
  assert.partialDeepStrictEqual(outcome.config, {
    metricsSecure: true,
    tlsCertFile: '/c',
    tlsPrivateKeyFile: '/k',
    tlsMinVersion: 'VersionTLS13',
    tlsCipherSuites: 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, TLS_AES_128_GCM_SHA256',
    clientCaFile: '/ca',
    authorizationAlwaysAllowPaths: '/livez,/a/*',
    authenticationTokenWebhookCacheTtlMs: 60_000,
    authorizationWebhookCacheAuthorizedTtlMs: 120_000,
    authorizationWebhookCacheUnauthorizedTtlMs: 0,
  });
});

test('all invalid flags are reported together', () => {
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
    '--tls-min-version: must be one of VersionTLS12, VersionTLS13 (got "VersionTLS11")',
    '--authentication-token-webhook-cache-ttl: must be a duration >= 0 with a unit, such as 1m30s or 500ms (got "-1s")',
    '--tls-cert-file: requires --metrics-secure (got "/c")',
    '--tls-cert-file: requires --tls-private-key-file (got "/c")',
    '--client-ca-file: requires --metrics-secure (got "/ca")',
    '--tls-cipher-suites: must be among TLS_AES_128_GCM_SHA256,',
    '(got "TLS_RSA_WITH_RC4_128_SHA")',
    '--authorization-always-allow-paths: must be paths that begin with /, with a * only at the end (got "livez", "/a*b")',
  ])
    assert.ok(said.includes(words), `${words}\nnot in\n${said}`);
  const keyAlone = parse('--metrics-secure', '--tls-private-key-file=/k');
  assert.ok('problems' in keyAlone);
  assert.deepEqual(keyAlone.problems, ['--tls-private-key-file: requires --tls-cert-file (got "/k")']);
});

test('a self-signed certificate causes a warning', () => {
  const outcome = parse('--metrics-secure');
  assert.ok('config' in outcome);
  assert.match(outcome.warnings.join(), /^--metrics-secure without --tls-cert-file/);
});

test('OpenSSL supports every accepted suite, and an empty list selects all of them', () => {
  for (const name of cipherSuiteNames)
    assert.doesNotThrow(() => createSecureContext({ ciphers: opensslCiphers([name]) }));
  assert.equal(opensslCiphers([]), opensslCiphers(cipherSuiteNames));
  assert.match(opensslCiphers(['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256']), /:ECDHE-RSA-AES128-GCM-SHA256$/);
});
