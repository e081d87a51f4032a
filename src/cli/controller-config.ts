// Flags and file, read once, become one frozen object. Nothing behind it reads flags, files or the environment.
import { z } from 'zod';
import {
  type ControllerOptions,
  type ControllerSelection,
  defaultEvictionModeOptions,
  type PodGcOptions,
} from '../controller/options.ts';
import { jsonType, protobufType, type WireType } from '../adapters/wire-format.ts';
import { type EventsApi, eventsApiDefault, eventsApis } from '../events/events-api.ts';
import type { BindAddress } from './bind-address.ts';
import { type ConfigFile, configApiVersion, configKind, readConfigFile } from './config-file.ts';
import { controllerFlags, removedControllerFlags } from './controller-flags.ts';
import { brokenRules, type ControllerValues, oddities, taintBasedEvictions } from './controller-rules.ts';
import type { FlagDefinition } from './flag-definition.ts';
import { readValues, shapeOf } from './flag-schema.ts';
import { parseFlags } from './flags.ts';
import { selectControllers } from './controller-selection.ts';
import { withoutElection } from './shadow-rules.ts';
import { type SecureServingConfig, secureServingConfig } from './secure-serving/secure-serving-config.ts';
import { type LogFormat, logFormat } from './shared-flags.ts';

export interface ControllerConfig {
  readonly controller: ControllerOptions;
  readonly controllers: ControllerSelection;
  /** Write nothing, and compare with what the cluster's own controllers do. */
  readonly shadow: boolean;
  readonly podGc: PodGcOptions;
  /** Write a lease every few seconds to see whether the lease stream lags. */
  readonly watchCanary: boolean;
  readonly api: ApiConfig;
  readonly leaderElection: LeaderElectionConfig;
  readonly metricsBindAddress: BindAddress;
  readonly healthProbeBindAddress: BindAddress;
  /** Of the metrics address. */
  readonly secureServing: SecureServingConfig;
  readonly log: LogConfig;
  /** Say whether all this is right, and end. */
  readonly validateOnly: boolean;
}

export interface ApiConfig {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly requestsPerSecond: number;
  readonly requestBurst: number;
  readonly concurrentWritesMax: number;
  /** In which nodes, pods and leases are asked for. */
  readonly contentType: WireType;
  readonly eventsApi: EventsApi;
}

export interface LeaderElectionConfig {
  readonly enabled: boolean;
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
  readonly leaseName: string;
  readonly leaseNamespace: string;
}

export interface LogConfig {
  readonly format: LogFormat;
  readonly verbosity: number;
}

export type ConfigOutcome =
  | { readonly config: ControllerConfig; readonly values: ControllerValues; readonly warnings: readonly string[] }
  | { readonly problems: readonly string[] };

/** Returns the file's text, or throws what the file system says. */
export type ReadFile = (path: string) => string;

/** A config file as a schema: for the chart's values and for editors. */
export const configFileSchema = z.strictObject({
  apiVersion: z.literal(configApiVersion),
  kind: z.literal(configKind),
  ...shapeOf(controllerFlags.filter((flag: FlagDefinition) => flag.onlyAsFlag !== true)),
});

/**
 * Reads flags, and the file that `--config` names; flags win, defaults come last. Collects every problem there is; each
 * names the flag or the file's key, what was given and what is accepted. Reads nothing but that file.
 */
export function parseControllerConfig(argv: readonly string[], readFile: ReadFile): ConfigOutcome {
  const flags = parseFlags(argv, controllerFlags, removedControllerFlags);
  const file = fileNamed(flags.inputs.get('config')?.given, readFile);
  const inputs = new Map([...file.inputs, ...flags.inputs]);
  const read = readValues(controllerFlags, inputs);
  const values = withoutElection(read.values, inputs);
  const rules = brokenRules(values, read.refused);
  const problems = [...flags.problems, ...file.problems, ...read.problems, ...rules];
  if (problems.length > 0) return { problems };
  return { config: configOf(values), values, warnings: oddities(values) };
}

/** What these values mean, frozen. They must break no rule. */
export function configOf(values: ControllerValues): ControllerConfig {
  return deepFreeze(assemble(values));
}

const noFile: ConfigFile = { inputs: new Map(), problems: [] };

function fileNamed(path: unknown, readFile: ReadFile): ConfigFile {
  if (typeof path !== 'string') return noFile;
  let text: string;
  try {
    text = readFile(path);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return {
      ...noFile,
      problems: [`--config: got ${JSON.stringify(path)}; accepted: a file that can be read (${why})`],
    };
  }
  return readConfigFile(path, text, controllerFlags);
}

function assemble(values: ControllerValues): ControllerConfig {
  return {
    controller: controllerOptions(values),
    controllers: selectControllers(values.controllers),
    shadow: values.shadow,
    watchCanary: values.watchCanary,
    podGc: { terminatedPodGcThreshold: values.terminatedPodGcThreshold },
    api: {
      kubeconfig: values.kubeconfig,
      context: values.context,
      requestsPerSecond: values.kubeApiQps,
      requestBurst: values.kubeApiBurst,
      concurrentWritesMax: values.concurrentWrites,
      contentType: values.kubeApiContentType === jsonType ? jsonType : protobufType,
      eventsApi: eventsApis.find((name) => name === values.eventsApi) ?? eventsApiDefault,
    },
    leaderElection: leaderElection(values),
    metricsBindAddress: values.metricsBindAddress,
    healthProbeBindAddress: values.healthProbeBindAddress,
    secureServing: secureServingConfig(values),
    log: { format: logFormat(values.logFormat), verbosity: values.v },
    validateOnly: values.validateOnly,
  };
}

function controllerOptions(values: ControllerValues): ControllerOptions {
  return {
    nodeMonitorPeriodMs: values.nodeMonitorPeriod,
    nodeMonitorGracePeriodMs: values.nodeMonitorGracePeriod,
    nodeStartupGracePeriodMs: values.nodeStartupGracePeriod,
    nodeEvictionRate: values.nodeEvictionRate,
    secondaryNodeEvictionRate: values.secondaryNodeEvictionRate,
    fullDisruptionEvictionRate: values.fullDisruptionEvictionRate,
    podMarkingRate: values.podMarkingRate,
    controlPlanePathFailureHoldMs: values.controlPlanePathFailureHold,
    largeClusterSizeThreshold: values.largeClusterSizeThreshold,
    unhealthyZoneThreshold: values.unhealthyZoneThreshold,
    taintBasedEvictions: taintBasedEvictions(values.featureGates),
    podEvictionTimeoutMs: values.podEvictionTimeout ?? defaultEvictionModeOptions.podEvictionTimeoutMs,
  };
}

function leaderElection(values: ControllerValues): LeaderElectionConfig {
  return {
    enabled: values.leaderElect,
    leaseDurationMs: values.leaderElectLeaseDuration,
    renewDeadlineMs: values.leaderElectRenewDeadline,
    retryPeriodMs: values.leaderElectRetryPeriod,
    leaseName: values.leaderElectResourceName,
    leaseNamespace: values.leaderElectResourceNamespace,
  };
}

function deepFreeze<T extends object>(value: T): T {
  for (const part of Object.values(value)) {
    if (typeof part === 'object' && part !== null) deepFreeze(part);
  }
  return Object.freeze(value);
}
