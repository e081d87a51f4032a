// Constraints between the flags of secure serving, and warnings about risky settings.
import { ownValue } from '../../machinery/api/json-map.ts';
import { type FlagValues, keyOf } from '../flags/flag-definition.ts';
import type { FlagRule } from '../flags/flag-rule.ts';
import { splitList } from '../flags/split-list.ts';
import type { secureServingFlags } from './flags.ts';

// Maps the Go (IANA) names of cipher suites to OpenSSL's names. Supported are the suites of Go's preferred list: with
// forward secrecy and authenticated encryption. As in Go, TLS 1.3 always has its three suites.

const tls13 = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'] as const;

const tls12: Readonly<Record<string, string>> = {
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
};

export const cipherSuiteNames: readonly string[] = [...tls13, ...Object.keys(tls12)];

/** OpenSSL's names of the suites; all supported suites if the list is empty (Node's default has some without forward secrecy). */
export function opensslCiphers(names: readonly string[]): string {
  const chosen = names.length === 0 ? Object.values(tls12) : names.flatMap((name) => ownValue(tls12, name) ?? []);
  return [...tls13, ...chosen].join(':');
}

/** Contains file paths, never file contents: `/configz` shows it. */
export type SecureServingValues = FlagValues<typeof secureServingFlags>;

const onlySecure = ['tls-cert-file', 'tls-private-key-file', 'tls-cipher-suites', 'client-ca-file'] as const;

/** The constraints. A certificate without --metrics-secure would never be served, so it is an error. */
export const secureServingRules: readonly FlagRule<SecureServingValues>[] = [
  ...onlySecure.map(
    (flag): FlagRule<SecureServingValues> => ({
      keys: ['metricsSecure', keyOf(flag)],
      isViolated: (v) => !v.metricsSecure && v[keyOf(flag)] !== undefined,
      text: (v) => `--${flag}: requires --metrics-secure (got ${JSON.stringify(v[keyOf(flag)])})`,
    }),
  ),
  {
    keys: ['tlsCertFile', 'tlsPrivateKeyFile'],
    isViolated: (v) => (v.tlsCertFile === undefined) !== (v.tlsPrivateKeyFile === undefined),
    text: (v) =>
      v.tlsCertFile === undefined
        ? `--tls-private-key-file: requires --tls-cert-file (got ${JSON.stringify(v.tlsPrivateKeyFile)})`
        : `--tls-cert-file: requires --tls-private-key-file (got ${JSON.stringify(v.tlsCertFile)})`,
  },
  {
    keys: ['tlsCipherSuites'],
    isViolated: (v) => unknownSuites(v).length > 0,
    text: (v) => `--tls-cipher-suites: must be among ${cipherSuiteNames.join(', ')} (got ${listed(unknownSuites(v))})`,
  },
  {
    keys: ['authorizationAlwaysAllowPaths'],
    isViolated: (v) => wrongPaths(v).length > 0,
    text: (v) =>
      `--authorization-always-allow-paths: must be paths that begin with /, with a * only at the end (got ${listed(wrongPaths(v))})`,
  },
];

/** Warnings about valid but risky settings. */
export const secureServingWarnings: readonly FlagRule<SecureServingValues>[] = [
  {
    keys: ['metricsSecure', 'tlsCertFile'],
    isViolated: (v) => v.metricsSecure && v.tlsCertFile === undefined,
    text: () =>
      '--metrics-secure without --tls-cert-file: the serving certificate is self-signed in memory, so clients cannot ' +
      'verify the server that they send their token to',
  },
];

function unknownSuites({ tlsCipherSuites }: SecureServingValues): readonly string[] {
  return splitList(tlsCipherSuites).filter((name) => !cipherSuiteNames.includes(name));
}

function wrongPaths({ authorizationAlwaysAllowPaths }: SecureServingValues): readonly string[] {
  return splitList(authorizationAlwaysAllowPaths).filter((path) => !/^\/[^*]*\*?$/.test(path));
}

function listed(words: readonly string[]): string {
  return words.map((word) => JSON.stringify(word)).join(', ');
}
