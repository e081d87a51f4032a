import { flag, type FlagDefinition, flagGroup } from '../../flags/flag-definition.ts';
import { logFlags } from '../../flags/shared-flags.ts';

export const dashboardPort = 8_700;

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
    flag.text(
      'control-plane',
      'Folder with etcd and kube-apiserver, on which the demo runs in place of the embedded API server; with --with-workloads also kube-scheduler and kube-controller-manager, if they are in it',
    ),
    flag.integer('port', 'Port of the API server; 0 selects a free port', {
      default: 0,
      range: { min: 0, max: 65_535 },
    }),
    flag.integer(
      'dashboard-port',
      `Port of the dashboard, on 127.0.0.1; 0 selects a free port; default ${dashboardPort}, or a free port if it is in use`,
      {
        range: { min: 0, max: 65_535 },
      },
    ),
    flag.boolean(
      'with-workloads',
      'Run kube-scheduler and kube-controller-manager beside the demo, and a scenario in which pods of a Deployment move to other nodes',
      { default: false },
    ),
    flag.integer('replicas', 'Number of replicas of the controller', { default: 2, range: { min: 1, max: 5 } }),
    flag.text(
      'kubeconfig-out',
      'Kubeconfig file to write; if not set, a file in a temporary directory that is removed at the end',
    ),
  ]),
  ...logFlags,
] as const satisfies readonly FlagDefinition[];
