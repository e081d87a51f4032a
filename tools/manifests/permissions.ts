// The permissions that the controller needs, by the controllers and features that run. The tests compare them with the roles
// of the chart and with the requests to kube-apiserver.

import { policyResource } from '../../src/machinery/api/node-lifecycle-policy.ts';

/** One verb on one resource, as in RBAC. */
export interface Permission {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
  /** Empty: cluster-wide. */
  readonly namespace: string;
  /** Empty: any. */
  readonly name: string;
}

/** The settings that determine the permissions. */
export interface Parts {
  readonly detects: boolean;
  readonly evictsByTaint: boolean;
  readonly collects: boolean;
  readonly evictionMode: boolean;
  /** A policy sets `evictReachable`. */
  readonly evictsReachable: boolean;
  /** Pods wait for the responders of their Evictions. */
  readonly waitsForResponders: boolean;
  /** The labels of namespaces count. */
  readonly readsNamespaces: boolean;
  /** Shadow mode: no writes. */
  readonly shadow: boolean;
  readonly watchCanary: boolean;
  /** Nodes without heartbeats are asked whether they answer. */
  readonly probes: boolean;
  readonly leaderElect: boolean;
  /** Delegated authentication and authorization of page requests. */
  readonly secure: boolean;
  readonly eventsApi: 'core' | 'events.k8s.io';
  /** Policies are objects of the API. */
  readonly policyObjects: boolean;
}

export const defaultParts: Parts = {
  detects: true,
  evictsByTaint: true,
  collects: false,
  evictionMode: false,
  evictsReachable: false,
  waitsForResponders: false,
  readsNamespaces: false,
  shadow: false,
  watchCanary: false,
  probes: false,
  leaderElect: true,
  secure: false,
  eventsApi: 'core',
  policyObjects: false,
};

interface Row {
  readonly group: string;
  readonly resource: string;
  readonly verbs: readonly string[];
  readonly namespace?: string;
  readonly name?: string;
  readonly when: string;
  readonly why: string;
  /** A review: a create that stores nothing, so it is granted in shadow mode too. */
  readonly storesNothing?: true;
  /** Needed only after a rejected write or a gap in the election, or for a node that is not Ready: never in a healthy cluster. */
  readonly afterRefusal?: (parts: Parts) => boolean;
  applies(parts: Parts): boolean;
}

const always = { when: 'always', applies: () => true } as const;
const detecting = { when: '`node-lifecycle-controller`', applies: ({ detects }: Parts) => detects } as const;
const canary = { when: '`watchCanary`', applies: ({ watchCanary }: Parts) => watchCanary } as const;
const probing = { when: '`earlyDetection.enabled`', applies: ({ probes }: Parts) => probes } as const;
const electing = { when: '`leaderElection.enabled`', applies: ({ leaderElect }: Parts) => leaderElect } as const;
const securing = { when: '`metrics.secure`', applies: ({ secure }: Parts) => secure } as const;
const withPolicyObjects = {
  group: policyResource.group,
  when: '`policies.source: crd`',
  applies: ({ policyObjects }: Parts) => policyObjects,
} as const;
const leases = { group: 'coordination.k8s.io', resource: 'leases' } as const;
const nodeLeases = { ...leases, namespace: 'kube-node-lease' } as const;
const ownLease = { ...leases, namespace: 'kube-system' } as const;

const rows: readonly Row[] = [
  { group: '', resource: 'nodes', verbs: ['list', 'watch'], ...always, why: 'informers' },
  { group: '', resource: 'nodes', verbs: ['patch'], ...detecting, why: 'taints and beta labels' },
  {
    group: '',
    resource: 'nodes',
    verbs: ['get'],
    when: '`node-lifecycle-controller` or `pod-garbage-collector-controller`',
    why: 'live read after a rejected write, and before pods of a deleted node are collected',
    afterRefusal: ({ collects }) => !collects,
    applies: ({ detects, collects, shadow }) => collects || (detects && !shadow),
  },
  { group: '', resource: 'nodes/status', verbs: ['patch'], ...detecting, why: 'conditions of silent nodes' },
  { group: '', resource: 'pods', verbs: ['list', 'watch'], ...always, why: 'informers' },
  {
    group: '',
    resource: 'pods',
    verbs: ['get'],
    when: 'except in shadow mode',
    why: 'live read after a rejected write',
    afterRefusal: () => true,
    applies: ({ shadow }) => !shadow,
  },
  {
    group: '',
    resource: 'pods',
    verbs: ['delete'],
    when: 'except for only `node-lifecycle-controller` with taint-based eviction',
    why: 'eviction, pod garbage collection',
    applies: ({ detects, evictsByTaint, collects, evictionMode }) =>
      evictsByTaint || collects || (detects && evictionMode),
  },
  {
    group: '',
    resource: 'pods/eviction',
    verbs: ['create'],
    when: '`taint-eviction-controller`, if a policy in `config.policies` sets `evictReachable`, and with `policies.source: crd`',
    why: 'eviction of pods of reachable nodes, so that PodDisruptionBudgets hold them',
    afterRefusal: () => true,
    applies: ({ evictsByTaint, evictsReachable, policyObjects }) => evictsByTaint && (evictsReachable || policyObjects),
  },
  {
    group: 'lifecycle.k8s.io',
    resource: 'evictions',
    verbs: ['list', 'watch'],
    when: '`taint-eviction-controller`, with `waitForEvictionResponders`, except in shadow mode',
    why: 'informer',
    applies: ({ evictsByTaint, waitsForResponders, shadow }) => evictsByTaint && waitsForResponders && !shadow,
  },
  {
    group: '',
    resource: 'namespaces',
    verbs: ['list', 'watch'],
    when: 'with `namespaceAutonomy`',
    why: 'informer of those with the label `nodelifecycle/autonomy=true`',
    applies: ({ readsNamespaces }) => readsNamespaces,
  },
  {
    group: '',
    resource: 'pods/status',
    verbs: ['patch'],
    ...always,
    why: 'Ready=False on silent nodes, and the DisruptionTarget condition of evicted pods',
  },
  {
    group: 'apps',
    resource: 'daemonsets',
    verbs: ['list', 'watch'],
    when: '`featureGates.TaintBasedEvictions: "false"`',
    why: 'their pods are not evicted',
    applies: ({ evictionMode }) => evictionMode,
  },
  { resource: policyResource.plural, verbs: ['list', 'watch'], ...withPolicyObjects, why: 'informer' },
  {
    resource: `${policyResource.plural}/status`,
    verbs: ['patch'],
    ...withPolicyObjects,
    why: 'what the leader observes: counts and conditions',
  },
  { ...nodeLeases, verbs: ['list', 'watch'], ...always, why: 'heartbeats' },
  { ...nodeLeases, verbs: ['get'], ...detecting, why: 'live read before a node is marked Unknown' },
  { ...nodeLeases, verbs: ['create'], ...canary, why: 'watch canary' },
  { ...nodeLeases, name: 'node-lifecycle-controller-canary', verbs: ['patch'], ...canary, why: 'watch canary' },
  {
    ...nodeLeases,
    verbs: ['create'],
    ...probing,
    why: 'report of a standby to the leader',
    afterRefusal: ({ watchCanary }) => !watchCanary,
  },
  {
    ...nodeLeases,
    name: 'node-lifecycle-controller-witness',
    verbs: ['patch'],
    ...probing,
    why: 'report of a standby to the leader',
    afterRefusal: () => true,
  },
  { ...ownLease, verbs: ['create'], ...electing, why: 'leader election' },
  { ...ownLease, name: 'node-lifecycle-controller', verbs: ['get', 'update'], ...electing, why: 'leader election' },
  {
    ...ownLease,
    name: 'node-lifecycle-controller',
    verbs: ['list'],
    ...electing,
    why: 'history of the lease, after a gap of 15 s',
    afterRefusal: () => true,
  },
  {
    group: '',
    resource: 'events',
    verbs: ['create', 'patch'],
    when: '`eventsApi: core`',
    why: 'Events, in the namespaces of their pods',
    applies: ({ eventsApi }) => eventsApi === 'core',
  },
  {
    group: 'events.k8s.io',
    resource: 'events',
    verbs: ['create', 'patch'],
    when: '`eventsApi: events.k8s.io`',
    why: 'Events, in the namespaces of their pods',
    applies: ({ eventsApi }) => eventsApi === 'events.k8s.io',
  },
  {
    group: 'authentication.k8s.io',
    resource: 'tokenreviews',
    verbs: ['create'],
    ...securing,
    why: 'authentication of page requests; stores nothing',
    storesNothing: true,
  },
  {
    group: 'authorization.k8s.io',
    resource: 'subjectaccessreviews',
    verbs: ['create'],
    ...securing,
    why: 'authorization of page requests; stores nothing',
    storesNothing: true,
  },
];

/** The permissions that every run with these parts uses. */
export function usedPermissionsOf(parts: Parts): readonly Permission[] {
  const rare = rows.filter(({ afterRefusal }) => afterRefusal?.(parts) === true).flatMap(rowPermissions);
  const texts = new Set(rare.map(permissionText));
  return permissionsOf(parts).filter((permission) => !texts.has(permissionText(permission)));
}

const reading = new Set(['get', 'list', 'watch']);

export function permissionsOf(parts: Parts): readonly Permission[] {
  const granted = rows.filter((row) => row.applies(parts));
  return granted.flatMap((row) =>
    rowPermissions(row).filter(({ verb }) => !parts.shadow || row.storesNothing === true || reading.has(verb)),
  );
}

function rowPermissions({ group, resource, verbs, namespace = '', name = '' }: Row): readonly Permission[] {
  return verbs.map((verb) => ({ group, resource, verb, namespace, name }));
}

/** A permission as one line, for comparison. */
export function permissionText({ group, resource, verb, namespace, name }: Permission): string {
  const where = namespace === '' ? '' : ` in ${namespace}`;
  return `${verb} ${resource}${group === '' ? '' : `.${group}`}${name === '' ? '' : `/${name}`}${where}`;
}

/** The permissions section of the chart's README. */
export function permissionsPage(): readonly string[] {
  return [
    'The chart grants exactly these permissions, depending on `mode`, `policies` and `config`. No wildcards, no secrets. `create` cannot be restricted to a name.',
    'In mode `shadow` only `get`, `list` and `watch` of these rows are granted, without a lease for leader election; `metrics.secure` adds the two reviews, which store nothing.',
    'The cluster role `*-kubectl` is for users of the [kubectl plugin](../../docs/kubectl.md#permissions) and is not bound; with `metrics.secure` a service account of its own reads the pages for them.',
    '',
    '| verbs | resource | where | when | for |',
    '| --- | --- | --- | --- | --- |',
    ...rows.map(permissionRow),
  ];
}

function permissionRow({ group, resource, verbs, namespace, name, when, why }: Row): string {
  const object = `\`${resource}${group === '' ? '' : `.${group}`}\`${name === undefined ? '' : ` named \`${name}\``}`;
  const where = namespace === undefined ? 'all namespaces' : `\`${namespace}\``;
  return `| ${verbs.join(', ')} | ${object} | ${where} | ${when} | ${why} |`;
}
