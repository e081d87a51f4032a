// What the chart's values may be: its own in one table here, those of the controller from the tables of its flags.
import { z } from 'zod';
import { controllerFlags } from '../../src/cli/controller-flags.ts';
import { type FlagDefinition, keyOf } from '../../src/cli/flag-definition.ts';
import { shapeOf } from '../../src/cli/flag-schema.ts';

/** Set by other values of the chart, which need them elsewhere too: roles, ports, replicas. */
const ownedByChart = new Set([
  'metrics-bind-address',
  'metrics-secure',
  'tls-cert-file',
  'tls-private-key-file',
  'health-probe-bind-address',
  'v',
  'shadow',
]);
const isOwnedByChart = ({ name }: FlagDefinition): boolean => ownedByChart.has(name) || name.startsWith('leader-elect');

/** The flags that stand below `config`. */
export const configFlags: readonly FlagDefinition[] = controllerFlags
  .filter((flag: FlagDefinition) => flag.onlyAsFlag !== true && !isOwnedByChart(flag))
  .map(withoutDefaultOfMode);

/** `mode` says what runs where `config` does not. */
function withoutDefaultOfMode(flag: FlagDefinition): FlagDefinition {
  if (flag.name !== 'controllers') return flag;
  const { default: _default, ...rest } = flag;
  return {
    ...rest,
    description: `${flag.description}; must select what the mode does, which is what it is if not given`,
  };
}

const flagShape = shapeOf(controllerFlags);
const flag = (name: string): z.ZodType => flagShape[keyOf(name)] ?? z.never();
const text = z.string();
const texts = z.record(z.string(), z.string());
const object = z.looseObject({});
const objects = z.array(object);
const port = z.int().min(1).max(65_535);
const monitor = z.strictObject({
  enabled: z.boolean(),
  labels: texts,
  interval: z.string().regex(/^(\d+(ms|s|m|h))*$/),
  metricRelabelings: objects,
});

/** As in a config file; null is what a value without a default is, and stands for "not given". */
const config = z.strictObject(
  Object.fromEntries(
    Object.entries(shapeOf(configFlags)).map(([key, schema]) => [key, isOptional(key) ? schema.nullable() : schema]),
  ),
);

function isOptional(key: string): boolean {
  return configFlags.some(({ name, default: standard }) => keyOf(name) === key && standard === undefined);
}

/** The chart's values, as the chart's own tests, helm and editors check them. */
export const chartValuesSchema = z.strictObject({
  mode: z.enum(['replace', 'detector-only', 'evictor-only', 'shadow']),
  image: z.strictObject({
    repository: text.min(1),
    tag: text,
    digest: text.regex(/^(sha256:[0-9a-f]{64})?$/),
    pullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']),
  }),
  imagePullSecrets: z.array(z.strictObject({ name: text })),
  nameOverride: text,
  fullnameOverride: text,
  commonLabels: texts,
  podAnnotations: texts,
  podLabels: texts,
  replicas: z.int().min(0),
  leaderElection: z.strictObject({
    enabled: z.boolean(),
    leaseDuration: flag('leader-elect-lease-duration'),
    renewDeadline: flag('leader-elect-renew-deadline'),
    retryPeriod: flag('leader-elect-retry-period'),
    resourceName: flag('leader-elect-resource-name'),
    resourceNamespace: flag('leader-elect-resource-namespace'),
  }),
  serviceAccount: z.strictObject({ create: z.boolean(), name: text, annotations: texts }),
  rbac: z.strictObject({ create: z.boolean() }),
  logLevel: flag('v'),
  extraArgs: z.array(text),
  extraEnv: objects,
  extraVolumes: objects,
  extraVolumeMounts: objects,
  resources: object,
  nodeSelector: texts,
  affinity: object,
  tolerations: objects,
  topologySpreadConstraints: objects,
  priorityClassName: text,
  resourceQuota: z.strictObject({ create: z.boolean(), pods: z.int().min(1) }),
  podDisruptionBudget: z.strictObject({
    create: z.boolean(),
    maxUnavailable: z.union([z.int().min(0), z.string().regex(/^\d+%$/)]),
  }),
  hostNetwork: z.boolean(),
  dnsPolicy: z.enum(['', 'ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None']),
  // Below it the controller would be killed in the middle of giving the lease back.
  terminationGracePeriodSeconds: z.int().min(10),
  podSecurityContext: object,
  securityContext: object,
  health: z.strictObject({ port }),
  metrics: z.strictObject({
    enabled: z.boolean(),
    port,
    host: text,
    secure: z.boolean(),
    tls: z.strictObject({ secretName: text, serverName: text }),
    tokenSecret: z.strictObject({ name: text, key: text.min(1) }),
    ownAccountReads: z.boolean(),
    service: z.strictObject({ create: z.boolean(), annotations: texts }),
    serviceMonitor: monitor,
    podMonitor: monitor,
    prometheusRule: z.strictObject({
      enabled: z.boolean(),
      labels: texts,
      alertLabels: texts,
      runbookUrl: text.regex(/^(https?:\/\/\S+)?$/),
      disabled: z.array(text),
    }),
    dashboard: z.strictObject({ enabled: z.boolean(), labels: texts, annotations: texts }),
  }),
  networkPolicy: z.strictObject({
    create: z.boolean(),
    apiServer: z.strictObject({ cidrs: z.array(text), ports: z.array(port) }),
    metricsFrom: objects,
    extraEgress: objects,
  }),
  config,
  /** What helm adds when the chart is a dependency of another one. */
  global: object.optional(),
});
