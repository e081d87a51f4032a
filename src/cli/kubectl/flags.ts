// The flags of `kubectl node-lifecycle`. Those of the cluster have kubectl's names.
import { outputFlags } from '../client/flags.ts';
import { flag, type FlagDefinition, flagGroup, type FlagValues } from '../flags/flag-definition.ts';
import { topDisplayFlags } from '../top/flags.ts';

/** Flags of all commands: how the controller is found and how its pages are read. */
export const clusterFlags = [
  ...flagGroup('Cluster', [
    flag.text('kubeconfig', 'Kubeconfig file; if not set, those in KUBECONFIG, or ~/.kube/config'),
    flag.text('context', 'Kubeconfig context to use instead of the current one'),
    flag.text(
      'namespace',
      'Namespace of the controller; if not set, node-lifecycle-controller, kube-system, then all; that of the context is not used',
      { short: 'n' },
    ),
    flag.text('selector', 'Label selector of the pods of the controller', {
      short: 'l',
      default: 'app.kubernetes.io/name=node-lifecycle-controller',
    }),
    flag.text('lease', 'Lease of the leader election, NAMESPACE/NAME', {
      default: 'kube-system/node-lifecycle-controller',
      pattern: /^[^/]+\/[^/]+$/,
      patternMeaning: 'NAMESPACE/NAME',
    }),
    flag.text('pod', 'Pod to read instead of that of the leader'),
  ]),
  ...flagGroup('Secure serving (controller with --metrics-secure)', [
    flag.text(
      'service-account',
      'Service account in the namespace of the controller for which a short-lived token is requested; if not set, that of the chart',
    ),
    flag.text(
      'certificate-authority',
      'PEM file with the CA of the serving certificate: it is verified; with --namespace or --tls-server-name, if no token can be requested, the credentials of the kubeconfig are sent',
    ),
    flag.text('tls-server-name', 'Expected name in the serving certificate; if not set, that of the metrics service'),
  ]),
] as const satisfies readonly FlagDefinition[];

export type ClusterValues = FlagValues<typeof clusterFlags>;

/** `status`, `explain` and `shadow`. */
export const clusterPageFlags = [...outputFlags, ...clusterFlags] as const satisfies readonly FlagDefinition[];

export const clusterTopFlags = [...topDisplayFlags, ...clusterFlags] as const satisfies readonly FlagDefinition[];

export const dashboardFlags = [
  ...flagGroup('Dashboard', [
    flag.integer('port', 'Port on loopback; 0 selects a free one', { default: 0, range: { min: 0, max: 65_535 } }),
  ]),
  ...clusterFlags,
] as const satisfies readonly FlagDefinition[];
