import { flag, type FlagDefinition, flagGroup } from '../flags/flag-definition.ts';

/** All flags of `nlc simulate`. `--set` and `--against` may be repeated. */
export const simulateFlags = [
  ...flagGroup('Simulation', [
    flag.text('trace', 'File that nlc record wrote, instead of a scenario', {}),
    flag.text('set', 'Setting of the controller as flag=value, in addition to those of the scenario; may be repeated', {
      pattern: /^[a-z][a-z0-9-]*=.*$/s,
      patternMeaning: 'FLAG=VALUE, with a flag of nlc controller',
    }),
    flag.text(
      'against',
      'Setting of a second run, as flag=value; may be repeated. The second run has the settings of the first and these',
      { pattern: /^[a-z][a-z0-9-]*=.*$/s, patternMeaning: 'FLAG=VALUE, with a flag of nlc controller' },
    ),
    flag.text('output', 'Output format: a report as text, JSON with all values, or the HTML page of --html', {
      default: 'text',
      choices: ['text', 'json', 'html'],
    }),
    flag.text('out', 'File for the report; standard output if not set', {}),
    flag.text(
      'html',
      'File for an HTML page, in addition to the report: nodes, zones, plots and decisions over time; it needs no network',
      {},
    ),
    flag.integer('seed', 'Seed of everything random; the one of the scenario if not set', {
      range: { min: 0, max: 2 ** 31 },
    }),
  ]),
] as const satisfies readonly FlagDefinition[];
