// Every flag of `nlc controller`, as data. Names, defaults and units of the flags that kube-controller-manager has too
// are its own (1.36); ours are marked by standing in a group of ours or by their description.
import { defaultControllerOptions as defaults, defaultPodGcOptions } from '../controller/options.ts';
import { eventsApiDefault, eventsApis } from '../events/events-api.ts';
import type { FlagDefinition } from './flag-definition.ts';
import type { RemovedFlags } from './flags.ts';
import { formatGoDuration } from '../api/go-duration.ts';
import { secureServingFlags } from './secure-serving-flags.ts';
import { logFlags } from './shared-flags.ts';

const dnsLabel = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const dnsSubdomain = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

const selection = 'What runs';
const watching = 'Watching nodes';
const evicting = 'Zones and eviction rates';
const api = 'API server';
const election = 'Leader election';
const observing = 'Metrics and probes';
const configuring = 'Configuration';

export const controllerFlags = [
  {
    name: 'controllers',
    kind: 'text',
    group: selection,
    description:
      'Which controllers run, with commas: * is all but pod-garbage-collector-controller, which must be named; -NAME leaves one out',
    default: '*',
  },
  {
    name: 'shadow',
    kind: 'boolean',
    group: selection,
    description:
      'Write nothing, lease and events included, and compare what would have been done with what the controllers of the cluster do: /shadow and nlc shadow tell',
    default: false,
  },
  {
    name: 'feature-gates',
    kind: 'map',
    group: selection,
    description:
      'TaintBasedEvictions=false selects the older eviction mode: pods are deleted, nodes are not tainted NoExecute',
  },
  {
    name: 'pod-eviction-timeout',
    kind: 'duration',
    group: selection,
    description:
      'In the older eviction mode: how long a node may be unready before its pods are deleted; 5m0s if not given',
    range: { above: 0 },
    live: true,
  },
  {
    name: 'terminated-pod-gc-threshold',
    kind: 'integer',
    group: selection,
    description: 'Finished pods that the pod garbage collector keeps before it deletes the oldest; 0 keeps all',
    default: defaultPodGcOptions.terminatedPodGcThreshold,
    range: { min: 0 },
    live: true,
  },
  {
    name: 'node-monitor-period',
    kind: 'duration',
    group: watching,
    description: 'Pause between two looks at all nodes; a deadline that falls due in between is acted on at once',
    default: formatGoDuration(defaults.nodeMonitorPeriodMs),
    range: { above: 0 },
    live: true,
  },
  {
    name: 'node-monitor-grace-period',
    kind: 'duration',
    group: watching,
    description: 'Silence after which a node that has posted its status counts as unknown',
    default: formatGoDuration(defaults.nodeMonitorGracePeriodMs),
    range: { above: 0 },
    live: true,
  },
  {
    name: 'node-startup-grace-period',
    kind: 'duration',
    group: watching,
    description: 'The same for a node that never posted a status, counted from its creation',
    default: formatGoDuration(defaults.nodeStartupGracePeriodMs),
    range: { above: 0 },
    live: true,
  },
  {
    name: 'watch-canary',
    kind: 'boolean',
    group: watching,
    description:
      'While leading, write a lease in kube-node-lease every 5s, and freeze verdicts while our stream does not show it: an API server whose cache lags',
    default: false,
  },
  {
    name: 'node-eviction-rate',
    kind: 'number',
    group: evicting,
    description: 'NoExecute taints per second and zone while the zone is normal',
    default: defaults.nodeEvictionRate,
    range: { min: 0 },
    live: true,
  },
  {
    name: 'secondary-node-eviction-rate',
    kind: 'number',
    group: evicting,
    description: 'The same in a large zone that is partially disrupted; a small one gets none',
    default: defaults.secondaryNodeEvictionRate,
    range: { min: 0 },
    live: true,
  },
  {
    name: 'full-disruption-eviction-rate',
    kind: 'number',
    group: evicting,
    description: 'The same in a zone without any ready node while other zones have some; the normal rate if not given',
    range: { min: 0 },
    live: true,
  },
  {
    name: 'pod-marking-rate',
    kind: 'number',
    group: evicting,
    description:
      'Nodes per second and zone whose pods are marked NotReady when they fall silent; one second of it at once',
    default: defaults.podMarkingRate,
    range: { above: 0 },
    live: true,
  },
  {
    name: 'control-plane-path-failure-hold',
    kind: 'duration',
    group: evicting,
    description:
      'When most nodes of several zones fall silent together: how long at most their pods stay ready and get no NoExecute taint; 0s to act at once',
    default: formatGoDuration(defaults.controlPlanePathFailureHoldMs),
    range: { min: 0 },
    live: true,
  },
  {
    name: 'large-cluster-size-threshold',
    kind: 'integer',
    group: evicting,
    description: 'A zone with more nodes than this is large',
    default: defaults.largeClusterSizeThreshold,
    range: { min: 0 },
    live: true,
  },
  {
    name: 'unhealthy-zone-threshold',
    kind: 'number',
    group: evicting,
    description: 'Share of unready nodes (three at least) from which a zone is partially disrupted',
    default: defaults.unhealthyZoneThreshold,
    range: { min: 0, max: 1 },
    live: true,
  },
  {
    name: 'kubeconfig',
    kind: 'text',
    group: api,
    description: 'File with the server and the credentials; without it the usual kubeconfig, else those of the pod',
  },
  { name: 'context', kind: 'text', group: api, description: 'Context of the kubeconfig, instead of its current one' },
  {
    name: 'kube-api-qps',
    kind: 'number',
    group: api,
    description: 'Requests per second to the API server, watches not counted',
    default: 20,
    range: { above: 0 },
  },
  {
    name: 'kube-api-burst',
    kind: 'integer',
    group: api,
    description: 'Requests that may go at once before the rate holds',
    default: 30,
    range: { min: 1 },
  },
  {
    name: 'kube-api-content-type',
    kind: 'text',
    group: api,
    description:
      'How nodes, pods and leases are asked for when they are read; a server that answers JSON all the same is understood',
    default: 'application/vnd.kubernetes.protobuf',
    choices: ['application/vnd.kubernetes.protobuf', 'application/json'],
  },
  {
    name: 'events-api',
    kind: 'text',
    group: api,
    description:
      'What events are told in: core is core/v1, where similar ones are combined and repeats counted; events.k8s.io is its v1, where repeats become a series',
    default: eventsApiDefault,
    choices: eventsApis,
  },
  {
    name: 'concurrent-writes',
    kind: 'integer',
    group: api,
    description: 'Writes under way at the same time; the most urgent of those that wait goes next',
    default: 16,
    range: { min: 1, max: 256 },
  },
  {
    name: 'leader-elect',
    kind: 'boolean',
    group: election,
    description: 'Act only while holding the lease; needed as soon as there are two replicas',
    default: true,
  },
  {
    name: 'leader-elect-lease-duration',
    kind: 'duration',
    group: election,
    description: 'Others wait this long after the last renewal before they take over',
    default: '15s',
    range: { above: 0 },
  },
  {
    name: 'leader-elect-renew-deadline',
    kind: 'duration',
    group: election,
    description: 'A leader that could not renew for this long stops',
    default: '10s',
    range: { above: 0 },
  },
  {
    name: 'leader-elect-retry-period',
    kind: 'duration',
    group: election,
    description: 'Pause between two tries to renew the lease; a standby looks four times as often',
    default: '2s',
    range: { above: 0 },
  },
  {
    name: 'leader-elect-resource-lock',
    kind: 'text',
    group: election,
    description: 'Kind of object that is the lock',
    default: 'leases',
    choices: ['leases'],
  },
  {
    name: 'leader-elect-resource-name',
    kind: 'text',
    group: election,
    description: 'Name of the lease',
    default: 'node-lifecycle-controller',
    pattern: dnsSubdomain,
    patternMeaning: 'an object name: lower-case letters, digits, - and .',
  },
  {
    name: 'leader-elect-resource-namespace',
    kind: 'text',
    group: election,
    description: 'Namespace of the lease',
    default: 'kube-system',
    pattern: dnsLabel,
    patternMeaning: 'a namespace name: up to 63 lower-case letters, digits and -',
  },
  {
    name: 'metrics-bind-address',
    kind: 'address',
    group: observing,
    description:
      'Where /metrics, /configz, /status and /explain are served, as plain HTTP unless --metrics-secure; on this machine only unless you say otherwise',
    default: '127.0.0.1:8080',
  },
  {
    name: 'health-probe-bind-address',
    kind: 'address',
    group: observing,
    description: 'Where /livez, /readyz and /healthz are served; the kubelet must reach it',
    default: ':8081',
  },
  ...secureServingFlags,
  ...logFlags,
  {
    name: 'config',
    kind: 'text',
    group: configuring,
    description:
      'YAML file with these settings under their names in camel case; flags win over it; read again when it changes',
    onlyAsFlag: true,
  },
  {
    name: 'validate-only',
    kind: 'boolean',
    group: configuring,
    description: 'Check flags and file, say what is wrong or odd, and end',
    default: false,
    onlyAsFlag: true,
  },
] as const satisfies readonly FlagDefinition[];

/** Flags of older kube-controller-managers that people still carry over. */
export const removedControllerFlags: RemovedFlags = {
  'enable-taint-manager':
    'removed (from kube-controller-manager in 1.27): pods are always evicted by taints and tolerations; leave it out',
  'deleting-pods-qps': 'removed: it had no effect since Kubernetes 1.8; the rate is --node-eviction-rate, in nodes',
  'deleting-pods-burst': 'removed: it had no effect since Kubernetes 1.8; the rate is --node-eviction-rate, in nodes',
  'register-retry-count': 'removed: it had no effect since Kubernetes 1.8; leave it out',
};
