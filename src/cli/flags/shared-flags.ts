import { flag, type FlagDefinition, flagGroup } from './flag-definition.ts';

/** The log flags of all commands that keep running. */
export const logFlags = [
  ...flagGroup('Logs', [
    flag.text('log-format', 'Log format; auto is text on a terminal and JSON otherwise', {
      default: 'auto',
      choices: ['auto', 'text', 'json'],
    }),
    flag.integer('v', 'Log verbosity: 0 logs what happens, 4 and above also the reasons', {
      short: 'v',
      default: 0,
      range: { min: 0, max: 10 },
      live: true,
    }),
  ]),
] as const satisfies readonly FlagDefinition[];
