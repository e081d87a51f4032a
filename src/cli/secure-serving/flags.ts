// TLS and delegated authentication and authorization on the metrics address. Names, defaults and meaning are those of
// kube-controller-manager, except --metrics-secure, which is controller-runtime's (kube-controller-manager has no plain HTTP).
import { flag, type FlagDefinition, flagGroup } from '../flags/flag-definition.ts';

export const secureServingFlags = [
  ...flagGroup('Secure serving', [
    flag.boolean(
      'metrics-secure',
      'Serve --metrics-bind-address with TLS, and only to clients that the API server authenticates and authorizes',
      { default: false },
    ),
    flag.text(
      'tls-cert-file',
      'PEM file with the serving certificate and its intermediates; self-signed in memory if not set',
    ),
    flag.text(
      'tls-private-key-file',
      'PEM file with the private key of --tls-cert-file; both are reloaded when they change',
    ),
    flag.text('tls-min-version', 'Minimum TLS version', {
      default: 'VersionTLS12',
      choices: ['VersionTLS12', 'VersionTLS13'],
    }),
    flag.text(
      'tls-cipher-suites',
      'Comma-separated cipher suites for TLS 1.2, in order of preference; all supported suites if not set',
    ),
    flag.text(
      'client-ca-file',
      'PEM file with the CAs of client certificates: the common name is the user, the organizations are its groups',
    ),
    flag.text(
      'authorization-always-allow-paths',
      'Comma-separated paths that need no authorization; an entry that ends with * matches a prefix',
      { default: '/healthz,/readyz,/livez' },
    ),
    flag.duration('authentication-token-webhook-cache-ttl', 'How long to cache the result of a TokenReview', {
      default: '10s',
      range: { min: 0 },
    }),
    flag.duration(
      'authorization-webhook-cache-authorized-ttl',
      'How long to cache a SubjectAccessReview that allows a request',
      { default: '10s', range: { min: 0 } },
    ),
    flag.duration(
      'authorization-webhook-cache-unauthorized-ttl',
      'How long to cache a SubjectAccessReview that denies a request',
      { default: '10s', range: { min: 0 } },
    ),
  ]),
] as const satisfies readonly FlagDefinition[];
