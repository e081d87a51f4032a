import { flag, type FlagDefinition, flagGroup } from '../flags/flag-definition.ts';
import { logFlags } from '../flags/shared-flags.ts';

/** All flags of `nlc whatif`. */
export const whatifFlags = [
  ...flagGroup('Comparison', [
    flag.text('policies', 'Config file whose settings and policies are to come into force', {}),
    flag.text('config', 'Config file in force; defaults if not set', {}),
    flag.text(
      'trace',
      'File that nlc record wrote: it is replayed with both configurations, and no cluster is read',
      {},
    ),
    flag.boolean('all', 'Show all nodes and zones, not only those that change', { default: false }),
    flag.text('output', 'Output format: a report as text, or JSON with all values', {
      short: 'o',
      default: 'text',
      choices: ['text', 'json'],
    }),
  ]),
  ...flagGroup('API server', [
    flag.text('kubeconfig', 'Kubeconfig file; if not set, the service account of its pod', {}),
    flag.text('context', 'Kubeconfig context to use instead of the current one', {}),
  ]),
  ...logFlags,
] as const satisfies readonly FlagDefinition[];
