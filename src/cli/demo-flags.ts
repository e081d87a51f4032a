import type { FlagDefinition } from './flag-definition.ts';
import { logFlags } from './shared-flags.ts';

const group = 'Demo';

/** Every flag of `nlc demo`, as data. */
export const demoFlags = [
  {
    name: 'once',
    kind: 'boolean',
    group,
    description:
      'End after the story: exit code 0 if everything happened as told, 1 and a list of what did not otherwise',
    default: false,
  },
  {
    name: 'output',
    kind: 'text',
    group,
    description: 'Tell the story as text for people, or as one JSON object a line',
    default: 'text',
    choices: ['text', 'json'],
  },
  {
    name: 'port',
    kind: 'integer',
    group,
    description: 'Port of the embedded API server; 0 takes a free one',
    default: 0,
    range: { min: 0, max: 65_535 },
  },
  {
    name: 'kubeconfig-out',
    kind: 'text',
    group,
    description: 'File to write for kubectl; without it, one in a temporary folder that is removed at the end',
  },
  ...logFlags,
] as const satisfies readonly FlagDefinition[];
