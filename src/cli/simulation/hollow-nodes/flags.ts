import { parsePattern, type TextPattern } from '../../../hollow-cluster/kubelet/parse-pattern.ts';
import { profileV137 } from '../../../hollow-cluster/kubelet/profile.ts';
import { fileCheckPeriodMs } from '../../../hollow-cluster/kubelet/static-pods/file-source.ts';
import { httpCheckPeriodMs } from '../../../hollow-cluster/kubelet/static-pods/http-source.ts';
import { formatGoDuration } from '../../../machinery/api/go-duration.ts';
import type { Taint } from '../../../machinery/api/taints.ts';
import { flag, type FlagDefinition, flagGroup } from '../../flags/flag-definition.ts';
import { logFlags } from '../../flags/shared-flags.ts';

const taint = /^([^=:]+)(?:=([^:]*))?:(NoSchedule|PreferNoSchedule|NoExecute)$/;
/** The accepted values of `--register-with-taints`. */
const taintTextsPattern =
  /^[^=:,]+(=[^:,]*)?:(NoSchedule|PreferNoSchedule|NoExecute)(,[^=:,]+(=[^:,]*)?:(NoSchedule|PreferNoSchedule|NoExecute))*$/;

/** Parses comma-separated `key=value:effect`; entries that do not match are skipped. */
export function parseTaints(text: string | undefined): readonly Taint[] {
  return (text ?? '').split(',').flatMap((part) => {
    const [, key, value, effect] = taint.exec(part) ?? [];
    if (key === undefined || effect === undefined) return [];
    return [{ key, ...(value === undefined ? {} : { value }), effect }];
  });
}

/** The accepted values of `--unpullable-images`: the characters of image names, with `*` and `?`. */
export const imagePatternsPattern = /^[\w./:@+*?-]+(?:,[\w./:@+*?-]+)*$/;

/** Parses comma-separated patterns of images. */
export function parseImagePatterns(text: string | undefined): readonly TextPattern[] {
  return (text ?? '').split(',').flatMap((part) => (part === '' ? [] : [parsePattern(part)]));
}

const httpUrl = /^https?:\/\/\S+$/;
const namePrefix = /^[a-z0-9]([-a-z0-9]{0,51}[a-z0-9])?$/;

/** All flags of `nlc hollow-nodes`. Flags that the kubelet has too keep its names and defaults. */
export const hollowNodesFlags = [
  ...flagGroup('Fleet', [
    flag.integer('nodes', 'Number of nodes to simulate', { default: 10, range: { min: 1, max: 10_000 } }),
    flag.integer('zones', 'Number of zones, assigned to the nodes in round-robin order; 0: nodes without a zone', {
      default: 3,
      range: { min: 0, max: 1_000 },
    }),
    flag.text('region', 'Region label of all nodes', {
      default: 'hollow',
      pattern: namePrefix,
      patternMeaning: 'a name of up to 53 lower-case letters, digits and -',
    }),
    flag.text('name-prefix', 'Prefix of the node names: PREFIX-0, PREFIX-1 and so on', {
      default: 'hollow-node',
      pattern: namePrefix,
      patternMeaning: 'a name of up to 53 lower-case letters, digits and -',
    }),
    flag.map('node-labels', 'Additional labels of every node'),
    flag.text('register-with-taints', 'Taints of every node at registration', {
      pattern: taintTextsPattern,
      patternMeaning: 'comma-separated taints, KEY=VALUE:EFFECT or KEY:EFFECT',
    }),
    flag.duration(
      'start-ramp',
      'Time over which the nodes start, each at an offset derived from its name; default 200 nodes per second, or at once with --lease-phase=aligned',
      { range: { min: 0 } },
    ),
    flag.text(
      'profile',
      'Heartbeats: those of a current kubelet, or those of 1.8, whose node status is the heartbeat',
      { default: 'v1.37', choices: ['v1.37', 'v1.8'] },
    ),
  ]),
  ...flagGroup('Machines and pods', [
    flag.integer('max-pods', 'Pod capacity of each node', { default: 110, range: { min: 0, max: 100_000 } }),
    flag.integer('node-cpu', 'CPU cores of each node', { default: 8, range: { min: 1, max: 4_096 } }),
    flag.integer('node-memory-mib', 'Memory of each node in MiB', {
      default: 32_768,
      range: { min: 128, max: 67_108_864 },
    }),
    flag.duration('pod-start-delay', 'Time from the start of a pod until its containers run', {
      default: formatGoDuration(profileV137.podStartDelayMs),
      range: { min: 0 },
    }),
    flag.duration(
      'pod-stop-delay',
      'Time from the stop signal until the containers exit, unless their grace period ends earlier',
      { default: formatGoDuration(profileV137.podStopDelayMs), range: { min: 0 } },
    ),
    flag.duration(
      'job-pod-duration',
      'Time after which the containers of the pods of a Job exit with 0, so that Jobs complete; by default they run until they are stopped',
      { range: { min: 0 } },
    ),
    flag.text(
      'unpullable-images',
      'Images that cannot be pulled: their containers wait with ErrImagePull and ImagePullBackOff; by default all images can',
      {
        pattern: imagePatternsPattern,
        patternMeaning:
          'comma-separated patterns of images, in which * is any text and ? one character, such as web:404,registry.example/*',
      },
    ),
    flag.duration(
      'shutdown-grace-period',
      'Total time of a graceful node shutdown; 0s shuts down without terminating pods',
      { default: '0s', range: { min: 0 } },
    ),
    flag.duration(
      'shutdown-grace-period-critical-pods',
      'The part of --shutdown-grace-period that is reserved for critical pods',
      { default: '0s', range: { min: 0 } },
    ),
  ]),
  ...flagGroup('Heartbeats', [
    flag.text(
      'lease-phase',
      'Offset of the heartbeats in their period: derived from the node name (hash), the same for all nodes (aligned), or random',
      { default: 'hash', choices: ['hash', 'aligned', 'random'] },
    ),
    flag.duration(
      'lease-duration',
      'Duration of the node leases, in whole seconds; a lease is renewed every quarter of it',
      { default: formatGoDuration(profileV137.leaseDurationSeconds * 1_000), range: { min: 1_000 } },
    ),
    flag.duration('node-status-update-frequency', 'Interval at which a node computes its status', {
      default: formatGoDuration(profileV137.nodeStatusUpdateFrequencyMs),
      range: { min: 100 },
    }),
    flag.duration('node-status-report-frequency', 'Interval at which a node posts its status if nothing changed', {
      default: formatGoDuration(profileV137.nodeStatusReportFrequencyMs),
      range: { min: 100 },
    }),
  ]),
  ...flagGroup('Static pods', [
    flag.text('pod-manifest-path', 'File or directory of static pod manifests for every node'),
    flag.duration(
      'file-check-frequency',
      'Interval at which the manifest files are read, in addition to file change notifications',
      { default: formatGoDuration(fileCheckPeriodMs), range: { min: 100 } },
    ),
    flag.text('manifest-url', 'URL of a static pod manifest (a Pod or a PodList) for every node', {
      pattern: httpUrl,
      patternMeaning: 'an http or https URL',
    }),
    flag.duration('http-check-frequency', 'Interval at which --manifest-url is requested', {
      default: formatGoDuration(httpCheckPeriodMs),
      range: { min: 100 },
    }),
  ]),
  ...flagGroup('Faults and control', [
    flag.text(
      'script',
      'File with a fault script: faults and their times, measured from when all nodes are registered',
    ),
    flag.integer('seed', 'Seed of the random number generator, to repeat a run; random by default', {
      range: { min: 0, max: 2 ** 31 },
    }),
    flag.text('ground-truth-log', 'File for the faults that were injected, one JSON object per line'),
    flag.address('control-address', 'Address of /status, /nodes, /faults, /metrics, /livez and /readyz', {
      default: '0',
    }),
    flag.text(
      'control-token-file',
      'File with the bearer token for --control-address; required unless it is a loopback address',
    ),
  ]),
  ...flagGroup('API server', [
    flag.text(
      'kubeconfig',
      'Kubeconfig file; required, because pods that are scheduled to hollow nodes do not run anywhere',
    ),
    flag.text('context', 'Kubeconfig context to use instead of the current one'),
    flag.number('kube-api-qps', 'Requests per second of all nodes together, not counting watches; 0: no limit', {
      default: 0,
      range: { min: 0 },
    }),
    flag.integer('kube-api-burst', 'Burst of requests', { default: 100, range: { min: 1 } }),
    flag.boolean('events', 'Record Events like a kubelet', { default: true }),
    flag.number('event-qps', 'Events per second of all nodes together; 0: no limit', {
      default: 50,
      range: { min: 0 },
    }),
    flag.integer('event-burst', 'Burst of Events', { default: 100, range: { min: 1 } }),
  ]),
  ...logFlags,
] as const satisfies readonly FlagDefinition[];
