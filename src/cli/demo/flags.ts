import { flag, type FlagDefinition, flagGroup } from '../flags/flag-definition.ts';
import { logFlags } from '../flags/shared-flags.ts';

/** All flags of `nlc demo`. */
export const demoFlags = [
  ...flagGroup('Demo', [
    flag.boolean(
      'once',
      'Exit after the scenario: with code 0 if all expectations were met, otherwise with 1 and a list of those that were not',
      { default: false },
    ),
    flag.text('output', 'Output format: text, or one JSON object per line', {
      default: 'text',
      choices: ['text', 'json'],
    }),
    flag.integer('port', 'Port of the embedded API server; 0 selects a free port', {
      default: 0,
      range: { min: 0, max: 65_535 },
    }),
    flag.text(
      'kubeconfig-out',
      'Kubeconfig file to write; if not set, a file in a temporary directory that is removed at the end',
      {},
    ),
  ]),
  ...logFlags,
] as const satisfies readonly FlagDefinition[];
