// How the pages on the metrics address are kept from others. Names, defaults and meaning are kube-controller-manager's,
// but for --metrics-secure, which is controller-runtime's: there the pages are never plain HTTP.
import type { FlagDefinition } from './flag-definition.ts';

const group = 'Secure pages';

export const secureServingFlags = [
  {
    name: 'metrics-secure',
    kind: 'boolean',
    group,
    description:
      'Serve the pages of --metrics-bind-address with TLS, and only to those whom the API server knows and lets read them',
    default: false,
  },
  {
    name: 'tls-cert-file',
    kind: 'text',
    group,
    description: 'Certificate, and those between it and its authority, as PEM; one is made in memory if not given',
  },
  {
    name: 'tls-private-key-file',
    kind: 'text',
    group,
    description: 'Its private key, as PEM; both files are read again when they change',
  },
  {
    name: 'tls-min-version',
    kind: 'text',
    group,
    description: 'Oldest TLS that is spoken',
    default: 'VersionTLS12',
    choices: ['VersionTLS12', 'VersionTLS13'],
  },
  {
    name: 'tls-cipher-suites',
    kind: 'text',
    group,
    description:
      'Cipher suites for TLS 1.2, with commas, in the order of preference; all that are accepted if not given',
  },
  {
    name: 'client-ca-file',
    kind: 'text',
    group,
    description:
      'Authorities of client certificates, as PEM: the common name is the user, organisations are its groups',
  },
  {
    name: 'authorization-always-allow-paths',
    kind: 'text',
    group,
    description: 'Paths that everybody may read, with commas; an entry that ends with * stands for all that begin so',
    default: '/healthz,/readyz,/livez',
  },
  {
    name: 'authentication-token-webhook-cache-ttl',
    kind: 'duration',
    group,
    description: 'How long the answer about a token holds',
    default: '10s',
    range: { min: 0 },
  },
  {
    name: 'authorization-webhook-cache-authorized-ttl',
    kind: 'duration',
    group,
    description: 'How long it holds that a user may read a path',
    default: '10s',
    range: { min: 0 },
  },
  {
    name: 'authorization-webhook-cache-unauthorized-ttl',
    kind: 'duration',
    group,
    description: 'How long it holds that a user may not',
    default: '10s',
    range: { min: 0 },
  },
] as const satisfies readonly FlagDefinition[];
