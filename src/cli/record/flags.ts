import { flag, type FlagDefinition, flagGroup } from '../flags/flag-definition.ts';
import { logFlags } from '../flags/shared-flags.ts';

/** As in the API: a name, and a DNS prefix if any. */
const labelKey = /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/** All flags of `nlc record`. `--label` may be repeated. */
export const recordFlags = [
  ...flagGroup('Recording', [
    flag.text('out', 'File for the trace; it must not exist', {}),
    flag.duration('for', 'Duration of the recording; 0s records until it is stopped', {
      default: '1h',
      range: { min: 0 },
    }),
    flag.integer('max-mib', 'Maximum size of the file in MiB; the recording ends when it is reached', {
      default: 100,
      range: { min: 1, max: 10_240 },
    }),
    flag.boolean('hash-names', 'Replace the names of nodes by hashes', { default: false }),
    flag.text(
      'label',
      'Key of a node label to record with its values, for replays with policies that use it; may be repeated, at most 20 times',
      { pattern: labelKey, patternMeaning: 'a label key, such as node.example.com/pool' },
    ),
    flag.duration('gap', 'Only heartbeats that come later than this after the one before are recorded', {
      default: '15s',
      range: { min: 1_000 },
    }),
  ]),
  ...flagGroup('API server', [
    flag.text('kubeconfig', 'Kubeconfig file; if not set, the service account of its pod', {}),
    flag.text('context', 'Kubeconfig context to use instead of the current one', {}),
  ]),
  ...logFlags,
] as const satisfies readonly FlagDefinition[];
