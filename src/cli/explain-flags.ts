import type { FlagDefinition } from './flag-definition.ts';

const group = 'Controller';
const access = 'Secure pages (--metrics-secure)';

/** Where to ask, as whom, and how to show the answer: every flag of `nlc explain` and `nlc status`. */
export const explainFlags = [
  {
    name: 'server',
    kind: 'text',
    group,
    description: 'Where the controller serves its metrics; ask the leader, because a standby judges nothing',
    default: 'http://127.0.0.1:8080',
    pattern: /^https?:\/\/[^\s/?#]+\/?$/,
    patternMeaning: 'http://HOST:PORT or https://HOST:PORT',
  },
  {
    name: 'output',
    kind: 'text',
    group,
    description: 'Show the answer as text for people, or as JSON with every value',
    default: 'text',
    choices: ['text', 'json'],
  },
  {
    name: 'token',
    kind: 'text',
    group: access,
    description: 'Bearer token to show, as of kubectl create token',
  },
  {
    name: 'token-file',
    kind: 'text',
    group: access,
    description: 'File with the token; in a pod, without any of these, that of its service account, on loopback',
  },
  {
    name: 'kubeconfig',
    kind: 'text',
    group: access,
    description: 'File whose user is shown: token, plugin or client certificate; its cluster is not asked',
  },
  {
    name: 'context',
    kind: 'text',
    group: access,
    description: 'Context of the kubeconfig, instead of its current one',
  },
  {
    name: 'certificate-authority',
    kind: 'text',
    group: access,
    description: 'File with the authority of the serving certificate, as PEM; those of Node.js if not given',
  },
  {
    name: 'tls-server-name',
    kind: 'text',
    group: access,
    description: 'Name that the serving certificate must bear, where it is not that of --server',
  },
  {
    name: 'insecure-skip-tls-verify',
    kind: 'boolean',
    group: access,
    description: 'Believe any serving certificate; whoever answers gets the token, so on loopback only',
    default: false,
  },
] as const satisfies readonly FlagDefinition[];
