// What the controller asks of the API server, by what runs of it: the reference for the chart's roles. The tests compare
// it with what the chart renders and with what kube-apiserver was asked for.

/** One verb on one resource, as RBAC has it. */
export interface Permission {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
  /** Empty: in the whole cluster. */
  readonly namespace: string;
  /** Empty: any. */
  readonly name: string;
}

/** What of the settings makes a difference. */
export interface Parts {
  readonly detects: boolean;
  readonly evictsByTaint: boolean;
  readonly collects: boolean;
  readonly evictionMode: boolean;
  /** Reads, and writes nothing. */
  readonly shadow: boolean;
  readonly watchCanary: boolean;
  readonly leaderElect: boolean;
  /** Pages for those only whom the API server lets read them. */
  readonly secure: boolean;
  readonly eventsApi: 'core' | 'events.k8s.io';
}

export const defaultParts: Parts = {
  detects: true,
  evictsByTaint: true,
  collects: false,
  evictionMode: false,
  shadow: false,
  watchCanary: false,
  leaderElect: true,
  secure: false,
  eventsApi: 'core',
};

interface Row {
  readonly group: string;
  readonly resource: string;
  readonly verbs: readonly string[];
  readonly namespace?: string;
  readonly name?: string;
  readonly when: string;
  readonly why: string;
  /** A question that is asked by creating: no write, so in shadow mode too. */
  readonly storesNothing?: true;
  applies(parts: Parts): boolean;
}

const always = { when: 'always', applies: () => true } as const;
const detecting = { when: '`node-lifecycle-controller`', applies: ({ detects }: Parts) => detects } as const;
const collecting = { when: '`pod-garbage-collector-controller`', applies: ({ collects }: Parts) => collects } as const;
const canary = { when: '`watchCanary`', applies: ({ watchCanary }: Parts) => watchCanary } as const;
const electing = { when: '`leaderElection.enabled`', applies: ({ leaderElect }: Parts) => leaderElect } as const;
const securing = { when: '`metrics.secure`', applies: ({ secure }: Parts) => secure } as const;
const leases = { group: 'coordination.k8s.io', resource: 'leases' } as const;
const nodeLeases = { ...leases, namespace: 'kube-node-lease' } as const;
const ownLease = { ...leases, namespace: 'kube-system' } as const;

const rows: readonly Row[] = [
  { group: '', resource: 'nodes', verbs: ['list', 'watch'], ...always, why: 'following them' },
  { group: '', resource: 'nodes', verbs: ['patch'], ...detecting, why: 'taints, and older names of labels' },
  { group: '', resource: 'nodes', verbs: ['get'], ...collecting, why: 'a look before pods of a node that is gone go' },
  { group: '', resource: 'nodes/status', verbs: ['patch'], ...detecting, why: 'conditions of silent nodes' },
  { group: '', resource: 'pods', verbs: ['list', 'watch'], ...always, why: 'following them' },
  {
    group: '',
    resource: 'pods',
    verbs: ['delete'],
    when: 'all but `node-lifecycle-controller` alone in taint mode',
    why: 'eviction, collection',
    applies: ({ detects, evictsByTaint, collects, evictionMode }) =>
      evictsByTaint || collects || (detects && evictionMode),
  },
  {
    group: '',
    resource: 'pods/status',
    verbs: ['patch'],
    ...always,
    why: 'not ready on a silent node; why it is deleted',
  },
  {
    group: 'apps',
    resource: 'daemonsets',
    verbs: ['list', 'watch'],
    when: '`featureGates.TaintBasedEvictions: "false"`',
    why: 'their pods are left alone',
    applies: ({ evictionMode }) => evictionMode,
  },
  { ...nodeLeases, verbs: ['list', 'watch'], ...always, why: 'signs of life' },
  { ...nodeLeases, verbs: ['get'], ...detecting, why: 'a look at the API server itself before a verdict' },
  { ...nodeLeases, verbs: ['create'], ...canary, why: 'the canary' },
  { ...nodeLeases, name: 'node-lifecycle-controller-canary', verbs: ['patch'], ...canary, why: 'the canary' },
  { ...ownLease, verbs: ['create'], ...electing, why: 'who leads' },
  { ...ownLease, name: 'node-lifecycle-controller', verbs: ['get', 'update'], ...electing, why: 'who leads' },
  {
    group: '',
    resource: 'events',
    verbs: ['create', 'patch'],
    when: '`eventsApi: core`',
    why: 'events, wherever their pods are',
    applies: ({ eventsApi }) => eventsApi === 'core',
  },
  {
    group: 'events.k8s.io',
    resource: 'events',
    verbs: ['create', 'patch'],
    when: '`eventsApi: events.k8s.io`',
    why: 'the same',
    applies: ({ eventsApi }) => eventsApi === 'events.k8s.io',
  },
  {
    group: 'authentication.k8s.io',
    resource: 'tokenreviews',
    verbs: ['create'],
    ...securing,
    why: 'whose token is shown; nothing is stored',
    storesNothing: true,
  },
  {
    group: 'authorization.k8s.io',
    resource: 'subjectaccessreviews',
    verbs: ['create'],
    ...securing,
    why: 'whether that user may read the page; nothing is stored',
    storesNothing: true,
  },
];

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

/** One line a permission, for comparing. */
export function permissionText({ group, resource, verb, namespace, name }: Permission): string {
  const where = namespace === '' ? '' : ` in ${namespace}`;
  return `${verb} ${resource}${group === '' ? '' : `.${group}`}${name === '' ? '' : `/${name}`}${where}`;
}

/** The lines of the chart's README. */
export function permissionsPage(): readonly string[] {
  return [
    'Exactly these are granted, by what `mode` and `config` select. No wildcard, no secrets. `create` cannot be bound to a name.',
    'In mode `shadow` nothing is granted but the `get`, `list` and `watch` of these rows, there is no lease of its own, and `metrics.secure` is two questions more, which store nothing.',
    '',
    '| verbs | resource | where | when | for |',
    '| --- | --- | --- | --- | --- |',
    ...rows.map(permissionRow),
  ];
}

function permissionRow({ group, resource, verbs, namespace, name, when, why }: Row): string {
  const object = `\`${resource}${group === '' ? '' : `.${group}`}\`${name === undefined ? '' : ` named \`${name}\``}`;
  const where = namespace === undefined ? 'everywhere' : `\`${namespace}\``;
  return `| ${verbs.join(', ')} | ${object} | ${where} | ${when} | ${why} |`;
}
