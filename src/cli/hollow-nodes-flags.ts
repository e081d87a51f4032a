import { fileCheckPeriodMs } from '../kubelet/pod-config/file-source.ts';
import { httpCheckPeriodMs } from '../kubelet/pod-config/http-source.ts';
import { modernProfile } from '../kubelet/profile.ts';
import type { FlagDefinition } from './flag-definition.ts';
import { formatGoDuration } from '../api/go-duration.ts';
import { taintTextsPattern } from './hollow-nodes/taint-texts.ts';
import { logFlags } from './shared-flags.ts';

const fleet = 'Fleet';
const heartbeats = 'Heartbeats';
const machine = 'Machines';
const staticPods = 'Static pods';
const faults = 'Faults and control';
const api = 'API server';

const httpUrl = /^https?:\/\/\S+$/;
const namePrefix = /^[a-z0-9]([-a-z0-9]{0,51}[a-z0-9])?$/;

/** Every flag of `nlc hollow-nodes`, as data. Names and defaults that a kubelet has are its own. */
export const hollowNodesFlags = [
  {
    name: 'nodes',
    kind: 'integer',
    group: fleet,
    description: 'How many nodes to be',
    default: 10,
    range: { min: 1, max: 10_000 },
  },
  {
    name: 'zones',
    kind: 'integer',
    group: fleet,
    description: 'Zones the nodes are dealt to, one after another; 0 leaves them without a zone',
    default: 3,
    range: { min: 0, max: 1_000 },
  },
  {
    name: 'region',
    kind: 'text',
    group: fleet,
    description: 'Region of all zones',
    default: 'hollow',
    pattern: namePrefix,
    patternMeaning: 'up to 53 lower-case letters, digits and -',
  },
  {
    name: 'name-prefix',
    kind: 'text',
    group: fleet,
    description: 'Nodes are called PREFIX-0, PREFIX-1 and so on',
    default: 'hollow-node',
    pattern: namePrefix,
    patternMeaning: 'up to 53 lower-case letters, digits and -',
  },
  { name: 'node-labels', kind: 'map', group: fleet, description: 'Labels that every node gets besides its own' },
  {
    name: 'register-with-taints',
    kind: 'text',
    group: fleet,
    description: 'Taints that every node registers with',
    pattern: taintTextsPattern,
    patternMeaning: 'taints as key=value:effect, separated by commas',
  },
  {
    name: 'start-ramp',
    kind: 'duration',
    group: fleet,
    description:
      'Time over which the nodes start, each at a point that its name decides; 200 a second by default, and all at once where their leases are aligned',
    range: { min: 0 },
  },
  {
    name: 'profile',
    kind: 'text',
    group: fleet,
    description: 'Which kubelet to be: one of today, or one of 1.8 whose status is its heartbeat',
    default: 'modern',
    choices: ['modern', 'classic'],
  },
  {
    name: 'max-pods',
    kind: 'integer',
    group: machine,
    description: 'Pods that a node says it can run',
    default: 110,
    range: { min: 0, max: 100_000 },
  },
  {
    name: 'node-cpu',
    kind: 'integer',
    group: machine,
    description: 'Cores of each machine',
    default: 8,
    range: { min: 1, max: 4_096 },
  },
  {
    name: 'node-memory-mib',
    kind: 'integer',
    group: machine,
    description: 'Memory of each machine in MiB',
    default: 32_768,
    range: { min: 128, max: 67_108_864 },
  },
  {
    name: 'pod-start-delay',
    kind: 'duration',
    group: machine,
    description: 'From the start of a pod to its containers running',
    default: formatGoDuration(modernProfile.podStartDelayMs),
    range: { min: 0 },
  },
  {
    name: 'pod-stop-delay',
    kind: 'duration',
    group: machine,
    description: 'From the signal to stop to the exit of the containers, unless their grace period ends earlier',
    default: formatGoDuration(modernProfile.podStopDelayMs),
    range: { min: 0 },
  },
  {
    name: 'shutdown-grace-period',
    kind: 'duration',
    group: machine,
    description: 'Time that a machine takes to go down, for its pods to end in; without any it just goes',
    default: '0s',
    range: { min: 0 },
  },
  {
    name: 'shutdown-grace-period-critical-pods',
    kind: 'duration',
    group: machine,
    description: 'The part of it that is kept for critical pods',
    default: '0s',
    range: { min: 0 },
  },
  {
    name: 'lease-phase',
    kind: 'text',
    group: heartbeats,
    description:
      'When each node beats: at a point of the period that follows from its name, all together, or wherever chance has it',
    default: 'hash',
    choices: ['hash', 'aligned', 'random'],
  },
  {
    name: 'lease-duration',
    kind: 'duration',
    group: heartbeats,
    description: 'How long a lease says it is good for, in whole seconds; it is renewed four times as often',
    default: formatGoDuration(modernProfile.leaseDurationSeconds * 1_000),
    range: { min: 1_000 },
  },
  {
    name: 'node-status-update-frequency',
    kind: 'duration',
    group: heartbeats,
    description: 'How often a node looks at itself',
    default: formatGoDuration(modernProfile.nodeStatusUpdateFrequencyMs),
    range: { min: 100 },
  },
  {
    name: 'node-status-report-frequency',
    kind: 'duration',
    group: heartbeats,
    description: 'How often it reports what it saw though nothing changed',
    default: formatGoDuration(modernProfile.nodeStatusReportFrequencyMs),
    range: { min: 100 },
  },
  {
    name: 'pod-manifest-path',
    kind: 'text',
    group: staticPods,
    description: 'File or folder of manifests of pods that every node runs by itself',
  },
  {
    name: 'file-check-frequency',
    kind: 'duration',
    group: staticPods,
    description: 'How often all of them are read, besides whenever one changes',
    default: formatGoDuration(fileCheckPeriodMs),
    range: { min: 100 },
  },
  {
    name: 'manifest-url',
    kind: 'text',
    group: staticPods,
    description: 'URL of a manifest of one pod, or a list of them, that every node runs by itself',
    pattern: httpUrl,
    patternMeaning: 'a URL of http or https',
  },
  {
    name: 'http-check-frequency',
    kind: 'duration',
    group: staticPods,
    description: 'How often that is asked for',
    default: formatGoDuration(httpCheckPeriodMs),
    range: { min: 100 },
  },
  {
    name: 'script',
    kind: 'text',
    group: faults,
    description: 'File with what is to be done to the nodes and when, counted from when all are registered',
  },
  {
    name: 'seed',
    kind: 'integer',
    group: faults,
    description: 'Decides all that is left to chance, so that a run can be repeated; a new one each time by default',
    range: { min: 0, max: 2 ** 31 },
  },
  {
    name: 'ground-truth-log',
    kind: 'text',
    group: faults,
    description: 'File for everything that was really done to nodes, a line of JSON each',
  },
  {
    name: 'control-address',
    kind: 'address',
    group: faults,
    description: 'Where to serve /status, /nodes, /faults, /metrics, /livez and /readyz',
    default: '0',
  },
  {
    name: 'control-token-file',
    kind: 'text',
    group: faults,
    description: 'File with the token that has to be shown there; needed for every address but those of the loopback',
  },
  {
    name: 'kubeconfig',
    kind: 'text',
    group: api,
    description:
      'File with the server and the credentials; must be given, because pods sent to hollow nodes run nowhere',
  },
  { name: 'context', kind: 'text', group: api, description: 'Context of the kubeconfig, instead of its current one' },
  {
    name: 'kube-api-qps',
    kind: 'number',
    group: api,
    description: 'Requests per second of all nodes together, watches not counted; 0 is no limit',
    default: 0,
    range: { min: 0 },
  },
  {
    name: 'kube-api-burst',
    kind: 'integer',
    group: api,
    description: 'Requests that may go at once before the rate holds',
    default: 100,
    range: { min: 1 },
  },
  {
    name: 'events',
    kind: 'boolean',
    group: api,
    description: 'Tell Events as kubelets do',
    default: true,
  },
  {
    name: 'event-qps',
    kind: 'number',
    group: api,
    description: 'Events per second of all nodes together; 0 is no limit',
    default: 50,
    range: { min: 0 },
  },
  {
    name: 'event-burst',
    kind: 'integer',
    group: api,
    description: 'Events that may go at once before the rate holds',
    default: 100,
    range: { min: 1 },
  },
  ...logFlags,
] as const satisfies readonly FlagDefinition[];
