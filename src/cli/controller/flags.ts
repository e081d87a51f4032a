// All flags of `nlc controller`. Flags that kube-controller-manager has too keep its names, defaults and units (1.37).
import {
  controlPlanePathFailureHoldDefaults as holdDefaults,
  defaultControllerOptions as defaults,
  defaultPodGcOptions,
  policySources,
} from '../../controller/model/options.ts';
import { eventsApiDefault, eventsApis } from '../../machinery/events/events-api.ts';
import { flag, type FlagDefinition, flagGroup } from '../flags/flag-definition.ts';
import type { RemovedFlags } from '../flags/flags.ts';
import { formatGoDuration } from '../../machinery/api/go-duration.ts';
import { secureServingFlags } from '../secure-serving/flags.ts';
import { logFlags } from '../flags/shared-flags.ts';

const dnsLabel = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const dnsSubdomain = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** The value of --control-plane-path-failure-hold that means no limit. */
const unlimitedHoldMs = -1_000;

export const controllerFlags = [
  ...flagGroup('Controllers and modes', [
    flag.text(
      'controllers',
      'Comma-separated controllers to run: * is all except pod-garbage-collector-controller, which must be named; -NAME disables one',
      { default: '*' },
    ),
    flag.boolean(
      'shadow',
      'Write nothing, not even leases or Events, and compare decisions with the active controllers; see /shadow and nlc shadow',
      { default: false },
    ),
    flag.text(
      'policy-source',
      'Where policies come from: file is the config file, crd are NodeLifecyclePolicy objects of the API',
      { default: defaults.policySource, choices: policySources },
    ),
    flag.map(
      'feature-gates',
      'TaintBasedEvictions=false selects the legacy eviction mode: pods are deleted without NoExecute taints',
    ),
    flag.duration(
      'pod-eviction-timeout',
      'Legacy eviction mode only: how long a node may be unready before its pods are deleted; 5m0s if not set',
      { range: { above: 0 }, live: true },
    ),
    flag.integer(
      'terminated-pod-gc-threshold',
      'Number of terminated pods above which the pod garbage collector deletes the oldest; 0 disables this',
      { default: defaultPodGcOptions.terminatedPodGcThreshold, range: { min: 0 }, live: true },
    ),
    flag.integer(
      'terminated-pod-gc-per-node',
      'Number of terminated pods of one node above which the pod garbage collector deletes the oldest; 0 disables this',
      { default: 0, range: { min: 0 }, live: true },
    ),
    flag.duration(
      'terminated-pod-gc-age',
      'How long after it completed the pod garbage collector deletes a terminated pod; never if not set',
      { range: { above: 0 }, live: true },
    ),
  ]),
  ...flagGroup('Node health', [
    flag.duration(
      'node-monitor-period',
      'Interval of the monitor pass over all nodes; a deadline that expires in between is handled at once',
      { default: formatGoDuration(defaults.nodeMonitorPeriodMs), range: { above: 0 }, live: true },
    ),
    flag.duration(
      'node-monitor-grace-period',
      'Time without a heartbeat after which a running node is marked Ready=Unknown',
      { default: formatGoDuration(defaults.nodeMonitorGracePeriodMs), range: { above: 0 }, live: true },
    ),
    flag.duration(
      'node-startup-grace-period',
      'The same for a node that has not posted a status yet, measured from its creation',
      { default: formatGoDuration(defaults.nodeStartupGracePeriodMs), range: { above: 0 }, live: true },
    ),
    flag.duration(
      'node-monitor-resync-period',
      'Period in which every node, queue entry and pending eviction is evaluated again from current state, spread evenly',
      { default: formatGoDuration(defaults.nodeMonitorResyncPeriodMs), range: { above: 0 }, live: true },
    ),
    flag.duration(
      'lease-confirmation-hold',
      'Maximum time to wait for a live lease read before marking a node; then all leases are listed, and if that fails a fresh cache is sufficient; negative: no limit',
      { default: formatGoDuration(defaults.leaseConfirmationHoldMs), live: true },
    ),
    flag.duration(
      'stale-watch-hold',
      'Maximum pause of node health evaluation for a stale watch while the API server responds; then nodes and leases are listed; negative: no limit',
      { default: formatGoDuration(defaults.staleWatchHoldMs), live: true },
    ),
    flag.boolean(
      'watch-canary',
      'While leading, write a lease in kube-node-lease every 5s and pause node health evaluation while the lease watch does not deliver it',
      { default: false },
    ),
  ]),
  ...flagGroup('Zones and eviction rates', [
    flag.number('node-eviction-rate', 'Nodes tainted NoExecute per second in each zone that is healthy', {
      default: defaults.nodeEvictionRate,
      range: { min: 0 },
      live: true,
    }),
    flag.number(
      'secondary-node-eviction-rate',
      'The same in a large zone that is partially disrupted; 0 in a small zone',
      { default: defaults.secondaryNodeEvictionRate, range: { min: 0 }, live: true },
    ),
    flag.number(
      'full-disruption-eviction-rate',
      'The same in a zone without ready nodes while other zones have some; --node-eviction-rate if not set',
      { range: { min: 0 }, live: true },
    ),
    flag.number(
      'pod-marking-rate',
      'Rate in each zone, in silent nodes per second, at which their pods are marked NotReady; the burst is one second',
      { default: defaults.podMarkingRate, range: { above: 0 }, live: true },
    ),
    flag.duration(
      'control-plane-path-failure-hold',
      `Maximum hold on pod marking and NoExecute taints when most nodes become silent at once; ${formatGoDuration(unlimitedHoldMs)}: no limit; if not set ${formatGoDuration(holdDefaults.longMs)}, or ${formatGoDuration(holdDefaults.oneZoneMs)} in one zone (decision 0011)`,
      { range: { min: 0, or: unlimitedHoldMs }, live: true },
    ),
    flag.integer('large-cluster-size-threshold', 'Number of nodes above which a zone is large', {
      default: defaults.largeClusterSizeThreshold,
      range: { min: 0 },
      live: true,
    }),
    flag.number(
      'unhealthy-zone-threshold',
      'Fraction of unready nodes (at least three) from which a zone is partially disrupted',
      { default: defaults.unhealthyZoneThreshold, range: { min: 0, max: 1 }, live: true },
    ),
    flag.duration(
      'evict-reachable-timeout',
      'With policies that set evictReachable: how long after its deletion was due a pod is deleted that PodDisruptionBudgets hold',
      { default: formatGoDuration(defaults.evictReachableTimeoutMs), range: { above: 0 }, live: true },
    ),
    flag.boolean(
      'wait-for-eviction-responders',
      'With policies that set evictReachable: a pod waits until the timeout for the responder of its Eviction of lifecycle.k8s.io/v1alpha1 that sends heartbeats',
      { default: false },
    ),
    flag.boolean(
      'namespace-autonomy',
      'With policies that set podAutonomy: the label nodelifecycle/autonomy=true of a namespace counts for its pods',
      { default: false },
    ),
  ]),
  ...flagGroup('API server', [
    flag.text('kubeconfig', 'Kubeconfig file; if not set, the default kubeconfig, else the service account of the pod'),
    flag.text('context', 'Kubeconfig context to use instead of the current one'),
    flag.number(
      'kube-api-qps',
      'Requests per second to the API server, not counting watches; Events: half as many more',
      {
        default: 20,
        range: { above: 0 },
      },
    ),
    flag.integer('kube-api-burst', 'Burst of requests to the API server', { default: 30, range: { min: 1 } }),
    flag.text(
      'kube-api-content-type',
      'Content type requested for nodes, pods and leases; JSON responses are always accepted',
      {
        default: 'application/vnd.kubernetes.protobuf',
        choices: ['application/vnd.kubernetes.protobuf', 'application/json'],
      },
    ),
    flag.text(
      'events-api',
      'API of the Events: core is core/v1, which aggregates similar ones and counts repeats; events.k8s.io is its v1, which uses series',
      { default: eventsApiDefault, choices: eventsApis },
    ),
    flag.integer(
      'concurrent-writes',
      'Concurrent writes of each kind: recovery, detection, tainting, eviction and housekeeping. Requests to the Eviction API take at most half of them, at least one',
      { default: 16, range: { min: 1, max: 256 } },
    ),
  ]),
  ...flagGroup('Leader election', [
    flag.boolean(
      'leader-elect',
      'Act only while holding the leader election lease; required with more than one replica',
      { default: true },
    ),
    flag.duration(
      'leader-elect-lease-duration',
      'Time after the last observed renewal before another candidate may acquire the lease',
      { default: '15s', range: { above: 0 } },
    ),
    flag.duration('leader-elect-renew-deadline', 'Time without a successful renewal after which the leader stops', {
      default: '10s',
      range: { above: 0 },
    }),
    flag.duration(
      'leader-elect-retry-period',
      'Interval between attempts to renew the lease; a standby checks four times as often',
      { default: '2s', range: { above: 0 } },
    ),
    flag.text('leader-elect-resource-lock', 'Type of the lock object', { default: 'leases', choices: ['leases'] }),
    flag.text('leader-elect-resource-name', 'Name of the lease', {
      default: 'node-lifecycle-controller',
      pattern: dnsSubdomain,
      patternMeaning: 'an object name of lower-case letters, digits, - and .',
    }),
    flag.text('leader-elect-resource-namespace', 'Namespace of the lease', {
      default: 'kube-system',
      pattern: dnsLabel,
      patternMeaning: 'a namespace name of up to 63 lower-case letters, digits and -',
    }),
  ]),
  ...flagGroup('Metrics and health probes', [
    flag.address(
      'metrics-bind-address',
      'Address of /metrics, /configz, /status, /explain and /dashboard, plain HTTP unless --metrics-secure; loopback only by default',
      { default: '127.0.0.1:8080' },
    ),
    flag.boolean('dashboard', 'Serve the dashboard at /dashboard of --metrics-bind-address', { default: true }),
    flag.address(
      'health-probe-bind-address',
      'Address of /livez, /readyz and /healthz; must be reachable by the kubelet',
      { default: ':8081' },
    ),
    flag.text(
      'allowed-hosts',
      'Comma-separated host names for which pages are served without TLS, beside localhost and the name and addresses of the machine or pod; others get 421',
      {
        pattern: /^[A-Za-z0-9._-]+(?:,[A-Za-z0-9._-]+)*$/,
        patternMeaning: 'host names or IPv4 addresses without ports, separated by commas',
      },
    ),
  ]),
  ...secureServingFlags,
  ...logFlags,
  ...flagGroup('Configuration', [
    flag.text(
      'config',
      'YAML file with these settings under their names in camel case; flags take precedence; reloaded when it changes',
      { onlyAsFlag: true },
    ),
    flag.boolean('validate-only', 'Validate flags and config file, print errors and warnings, and exit', {
      default: false,
      onlyAsFlag: true,
    }),
  ]),
] as const satisfies readonly FlagDefinition[];

/** Removed flags of older versions of kube-controller-manager. */
export const removedControllerFlags: RemovedFlags = {
  'enable-taint-manager':
    'removed (in kube-controller-manager 1.27): pods are always evicted by taints and tolerations; remove the flag',
  'deleting-pods-qps': 'removed: no effect since Kubernetes 1.8; use --node-eviction-rate, in nodes per second',
  'deleting-pods-burst': 'removed: no effect since Kubernetes 1.8; use --node-eviction-rate, in nodes per second',
  'register-retry-count': 'removed: no effect since Kubernetes 1.8; remove the flag',
};
