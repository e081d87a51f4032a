import type { FlagDefinition } from './flag-definition.ts';

const group = 'Logs';

/** How every command that keeps running logs. */
export const logFlags = [
  {
    name: 'log-format',
    kind: 'text',
    group,
    description: 'Log lines as text or JSON; auto is text on a terminal and JSON elsewhere',
    default: 'auto',
    choices: ['auto', 'text', 'json'],
  },
  {
    name: 'v',
    short: 'v',
    kind: 'integer',
    group,
    description: 'Log verbosity: 0 says what happens, 4 and more also why',
    default: 0,
    range: { min: 0, max: 10 },
    live: true,
  },
] as const satisfies readonly FlagDefinition[];

export type LogFormat = 'auto' | 'text' | 'json';

/** A text that the choices of `--log-format` have let through. */
export function logFormat(text: string): LogFormat {
  return text === 'text' || text === 'json' ? text : 'auto';
}
