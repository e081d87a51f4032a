import type { FlagDefinition } from './flag-definition.ts';
import { logFlags } from './shared-flags.ts';

const serving = 'Serving';

/** Every flag of `nlc apiserver`, as data. */
export const apiserverFlags = [
  {
    name: 'port',
    kind: 'integer',
    group: serving,
    description: 'Port to listen on, on 127.0.0.1 and nowhere else; 0 takes a free one',
    default: 6443,
    range: { min: 0, max: 65_535 },
  },
  {
    name: 'tls',
    kind: 'boolean',
    group: serving,
    description: 'Serve HTTPS with a certificate made for this run; kubectl sends no token over plain HTTP',
    default: true,
  },
  {
    name: 'kubeconfig-out',
    kind: 'text',
    group: serving,
    description:
      'File to write for kubectl, with the address, the certificate authority and an admin token of this run',
    default: 'nlc.kubeconfig',
  },
  ...logFlags,
] as const satisfies readonly FlagDefinition[];
