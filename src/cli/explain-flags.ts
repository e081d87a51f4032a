import type { FlagDefinition } from './flag-definition.ts';

const group = 'Controller';

/** Where to ask and how to show the answer: every flag of `nlc explain` and `nlc status`. */
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
] as const satisfies readonly FlagDefinition[];
