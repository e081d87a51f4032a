// The schema of the chart's values; the settings of the controller come from its flag tables.
import * as z from 'zod';
import { controllerFlags } from '../../src/cli/controller/flags.ts';
import { type FlagDefinition, keyOf } from '../../src/cli/flags/flag-definition.ts';
import { shapeOf } from '../../src/cli/flags/flag-schema.ts';
import { fileSettingShape } from '../../src/policy/schema/file-settings.ts';

/** Flags that other values of the chart set, because roles, ports or replicas depend on them. */
const ownedByChart = new Set([
  'metrics-bind-address',
  'metrics-secure',
  'tls-cert-file',
  'tls-private-key-file',
  'health-probe-bind-address',
  'v',
  'shadow',
  'policy-source',
]);
const isOwnedByChart = ({ name }: FlagDefinition): boolean => ownedByChart.has(name) || name.startsWith('leader-elect');

/** The flags in `config`. */
export const configFlags: readonly FlagDefinition[] = controllerFlags
  .filter((flag: FlagDefinition) => flag.onlyAsFlag !== true && !isOwnedByChart(flag))
  .map(withoutDefaultOfMode);

/** `mode` determines the controllers if `config` does not set them. */
function withoutDefaultOfMode(flag: FlagDefinition): FlagDefinition {
  if (flag.name !== 'controllers') return flag;
  const { default: _default, ...rest } = flag;
  return {
    ...rest,
    description: `${flag.description}; must match the mode, which sets the default`,
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

/** As in a config file; null means not set, for settings without a default. */
const config = z.strictObject({
  ...Object.fromEntries(
    Object.entries(shapeOf(configFlags)).map(([key, schema]) => [key, isOptional(key) ? schema.nullable() : schema]),
  ),
  ...fileSettingShape,
});

function isOptional(key: string): boolean {
  return configFlags.some(({ name, default: standard }) => keyOf(name) === key && standard === undefined);
}

/** The schema of the chart's values, for helm, editors and tests. */
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
  policies: z.strictObject({ source: flag('policy-source') }),
  kind: z.enum(['Deployment', 'DaemonSet']),
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
  ownTaintTolerations: objects,
  topologySpreadConstraints: objects,
  priorityClassName: text,
  resourceQuota: z.strictObject({ create: z.boolean(), pods: z.int().min(1) }),
  earlyDetection: z.strictObject({ enabled: z.boolean(), kubeletPort: z.int().min(1).max(65_535) }),
  protectLifecycleConditions: z.strictObject({ create: z.boolean() }),
  podDisruptionBudget: z.strictObject({
    create: z.boolean(),
    maxUnavailable: z.union([z.int().min(0), z.string().regex(/^\d+%$/)]),
  }),
  hostNetwork: z.boolean(),
  dnsPolicy: z.enum(['', 'ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None']),
  // A shorter period could kill the controller before it has released its lease.
  terminationGracePeriodSeconds: z.int().min(10),
  podSecurityContext: object,
  securityContext: object,
  apiServer: z.strictObject({ host: text.regex(/^[\w.:-]*$/), port }),
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
  /** Added by helm if the chart is a dependency of another chart. */
  global: object.optional(),
});
