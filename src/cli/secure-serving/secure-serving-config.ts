import type { FlagValues } from '../flag-definition.ts';
import type { secureServingFlags } from '../secure-serving-flags.ts';
import { cipherSuiteNames, wordsOf } from './cipher-suites.ts';

export type SecureServingValues = FlagValues<typeof secureServingFlags>;

/** How the pages of the metrics address are kept from others. Paths, never what is in the files: `/configz` shows it. */
export interface SecureServingConfig {
  readonly enabled: boolean;
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3';
  /** Go's names; all that are accepted when empty. */
  readonly cipherSuites: readonly string[];
  readonly clientCaFile: string | undefined;
  readonly alwaysAllowPaths: readonly string[];
  readonly tokenTtlMs: number;
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
}

export function secureServingConfig(values: SecureServingValues): SecureServingConfig {
  return {
    enabled: values.metricsSecure,
    certFile: values.tlsCertFile,
    keyFile: values.tlsPrivateKeyFile,
    minVersion: values.tlsMinVersion === 'VersionTLS13' ? 'TLSv1.3' : 'TLSv1.2',
    cipherSuites: wordsOf(values.tlsCipherSuites),
    clientCaFile: values.clientCaFile,
    alwaysAllowPaths: wordsOf(values.authorizationAlwaysAllowPaths),
    tokenTtlMs: values.authenticationTokenWebhookCacheTtl,
    authorizedTtlMs: values.authorizationWebhookCacheAuthorizedTtl,
    unauthorizedTtlMs: values.authorizationWebhookCacheUnauthorizedTtl,
  };
}

/** As a rule between settings: judged when none of its keys was refused by itself. */
export interface SecureServingRule {
  readonly keys: readonly (keyof SecureServingValues)[];
  broken(values: SecureServingValues): boolean;
  text(values: SecureServingValues): string;
}

const onlySecure: readonly (readonly [
  flag: string,
  key: 'tlsCertFile' | 'tlsPrivateKeyFile' | 'tlsCipherSuites' | 'clientCaFile',
])[] = [
  ['tls-cert-file', 'tlsCertFile'],
  ['tls-private-key-file', 'tlsPrivateKeyFile'],
  ['tls-cipher-suites', 'tlsCipherSuites'],
  ['client-ca-file', 'clientCaFile'],
];

/** What forbids a start. A certificate that nobody would ever be shown is taken for a forgotten --metrics-secure. */
export const secureServingRules: readonly SecureServingRule[] = [
  ...onlySecure.map(
    ([flag, key]): SecureServingRule => ({
      keys: ['metricsSecure', key],
      broken: (v) => !v.metricsSecure && v[key] !== undefined,
      text: (v) => `--${flag}: got ${JSON.stringify(v[key])}; accepted: only with --metrics-secure`,
    }),
  ),
  {
    keys: ['tlsCertFile', 'tlsPrivateKeyFile'],
    broken: (v) => (v.tlsCertFile === undefined) !== (v.tlsPrivateKeyFile === undefined),
    text: (v) =>
      v.tlsCertFile === undefined
        ? `--tls-private-key-file: got ${JSON.stringify(v.tlsPrivateKeyFile)}; accepted: only with --tls-cert-file`
        : `--tls-cert-file: got ${JSON.stringify(v.tlsCertFile)}; accepted: only with --tls-private-key-file`,
  },
  {
    keys: ['tlsCipherSuites'],
    broken: (v) => unknownSuites(v).length > 0,
    text: (v) => `--tls-cipher-suites: got ${listed(unknownSuites(v))}; accepted: ${cipherSuiteNames.join(', ')}`,
  },
  {
    keys: ['authorizationAlwaysAllowPaths'],
    broken: (v) => wrongPaths(v).length > 0,
    text: (v) =>
      `--authorization-always-allow-paths: got ${listed(wrongPaths(v))}; accepted: paths that begin with /, with a * only at the end`,
  },
];

/** What allows a start but deserves to be said. */
export const secureServingOddities: readonly SecureServingRule[] = [
  {
    keys: ['metricsSecure', 'tlsCertFile'],
    broken: (v) => v.metricsSecure && v.tlsCertFile === undefined,
    text: () =>
      '--metrics-secure without --tls-cert-file: the certificate is made in memory and signed by nobody, so clients ' +
      'cannot verify that it is us whom they show their token to',
  },
];

function unknownSuites({ tlsCipherSuites }: SecureServingValues): readonly string[] {
  return wordsOf(tlsCipherSuites).filter((name) => !cipherSuiteNames.includes(name));
}

function wrongPaths({ authorizationAlwaysAllowPaths }: SecureServingValues): readonly string[] {
  return wordsOf(authorizationAlwaysAllowPaths).filter((path) => !/^\/[^*]*\*?$/.test(path));
}

function listed(words: readonly string[]): string {
  return words.map((word) => JSON.stringify(word)).join(', ');
}
