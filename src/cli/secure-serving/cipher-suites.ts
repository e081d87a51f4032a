import { ownValue } from '../../machinery/api/json-map.ts';

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
