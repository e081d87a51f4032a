import { flag, type FlagDefinition, flagGroup } from '../flags/flag-definition.ts';
import { logFlags } from '../flags/shared-flags.ts';

/** All flags of `nlc validate`. */
export const validateFlags = [
  ...flagGroup('Output', [
    flag.text(
      'output',
      'Print the policies of the file: as NodeLifecyclePolicy manifests (crd), or as the list policies of a config file (config)',
      { choices: ['crd', 'config'] },
    ),
  ]),
] as const satisfies readonly FlagDefinition[];

const setting = {
  pattern: /^[a-z][a-z0-9-]*=.*$/s,
  patternMeaning: 'FLAG=VALUE, with a flag of nlc controller',
} as const;

/** All flags of `nlc simulate`. `--set` and `--against` may be repeated. */
export const simulateFlags = [
  ...flagGroup('Simulation', [
    flag.text('trace', 'File that nlc record wrote, instead of a scenario'),
    flag.text(
      'set',
      'Setting of the controller as flag=value, in addition to those of the scenario; may be repeated',
      setting,
    ),
    flag.text(
      'against',
      'Setting of a second run, as flag=value; may be repeated. The second run has the settings of the first and these',
      setting,
    ),
    flag.text('output', 'Output format: a report as text, JSON with all values, or the HTML page of --html', {
      default: 'text',
      choices: ['text', 'json', 'html'],
    }),
    flag.text('out', 'File for the report; standard output if not set'),
    flag.text(
      'html',
      'File for an HTML page, in addition to the report: nodes, zones, plots and decisions over time; it needs no network',
    ),
    flag.integer('seed', 'Seed of everything random; the one of the scenario if not set', {
      range: { min: 0, max: 2 ** 31 },
    }),
  ]),
] as const satisfies readonly FlagDefinition[];

/** Cluster that a command reads. */
const clusterFlags = [
  ...flagGroup('API server', [
    flag.text('kubeconfig', 'Kubeconfig file; if not set, the default kubeconfig, or the service account of its pod'),
    flag.text('context', 'Kubeconfig context to use instead of the current one'),
  ]),
] as const satisfies readonly FlagDefinition[];

/** Key of a label, as in the API: a name, and a DNS prefix if any. */
const labelKey = /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/** All flags of `nlc record`. `--label` may be repeated. */
export const recordFlags = [
  ...flagGroup('Recording', [
    flag.text('out', 'File for the trace; it must not exist'),
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
  ...clusterFlags,
  ...logFlags,
] as const satisfies readonly FlagDefinition[];

/** All flags of `nlc report`. `--grace-period` may be repeated. */
export const reportFlags = [
  ...flagGroup('Report', [
    flag.text('prometheus', 'URL of the Prometheus that scrapes the controller'),
    flag.duration('since', 'With --prometheus: how far the report reaches back', {
      default: '720h',
      range: { above: 0 },
    }),
    flag.text(
      'selector',
      'With --prometheus: label matchers of the controller in PromQL, such as cluster="a",job="nlc"',
    ),
    flag.text('bearer-token-file', 'With --prometheus: file with the token that it wants'),
    flag.text('trace', 'File that nlc record wrote, instead of Prometheus'),
    flag.duration('grace-period', 'With --trace: a grace period to compare; may be repeated, at most 20 times', {
      range: { above: 0 },
    }),
    flag.text('output', 'Output format: a report as text, or JSON with all values', {
      short: 'o',
      default: 'text',
      choices: ['text', 'json'],
    }),
  ]),
] as const satisfies readonly FlagDefinition[];

/** All flags of `nlc whatif`. */
export const whatifFlags = [
  ...flagGroup('Comparison', [
    flag.text('policies', 'Config file whose settings and policies are to come into force'),
    flag.text('config', 'Config file in force; defaults if not set'),
    flag.text('trace', 'File that nlc record wrote: it is replayed with both configurations, and no cluster is read'),
    flag.text(
      'at',
      'Time for which the schedules of policies are evaluated, in RFC 3339; now if not set. Not with --trace',
    ),
    flag.boolean('all', 'Show all nodes and zones, not only those that change', { default: false }),
    flag.text('output', 'Output format: a report as text, or JSON with all values', {
      short: 'o',
      default: 'text',
      choices: ['text', 'json'],
    }),
  ]),
  ...clusterFlags,
  ...logFlags,
] as const satisfies readonly FlagDefinition[];
