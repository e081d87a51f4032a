// The intended differences of the hollow kubelet from a real one, each with its decision record. An entry without its
// difference fails the test, as an unexpected difference does.
import type { MeantDifference } from './meant.ts';
import { nodeName } from './kubelet-side.ts';
import { recordsEvents } from './kubelets.ts';

const record = '0030-hollow-kubelet-beside-a-real-one.md';
const node = `nodes/${nodeName}`;
const eventsAboutNode = `events about Node/${nodeName}`;
const starts = ['register', 'restart', 'reregister'] as const;
const births = ['register', 'reregister'] as const;
const sent = 'sent';

type DifferenceRow = Omit<MeantDifference, 'record'>;

/** A hollow node has no CSI drivers. */
const noDrivers: readonly DifferenceRow[] = [
  { steps: starts, object: `csinodes/${nodeName}`, action: '*', upstream: sent, nlc: undefined },
];

/** All nodes of a process share one watch of nodes and one of pods. */
const sharedWatches: readonly DifferenceRow[] = [
  { steps: starts, object: `${node} as a stream`, action: 'WATCH 200', upstream: sent, nlc: undefined },
  { steps: starts, object: 'nodes as a stream', action: 'WATCH *', upstream: undefined, nlc: sent },
  {
    steps: starts,
    object: 'pods as a stream',
    action: 'WATCH fieldSelector=spec.nodeName=*',
    upstream: sent,
    nlc: undefined,
  },
  {
    steps: starts,
    object: 'pods as a stream',
    action: 'WATCH resourceVersionMatch=*',
    upstream: undefined,
    nlc: sent,
  },
];

/** Reads of the node by drivers, mirror pods and pod admission. The hollow kubelet uses the shared watch. */
const looksAtTheNode: readonly DifferenceRow[] = [
  { object: node, action: 'GET *', at: '', upstream: sent, nlc: undefined, sometimes: true },
  { object: node, action: 'GET *', at: '', upstream: undefined, nlc: sent, sometimes: true },
];

/** The hollow node has a simulated machine. */
const machine: readonly DifferenceRow[] = [
  ...['cpu', 'memory', 'ephemeral-storage'].flatMap((resource) =>
    ['capacity', 'allocatable'].flatMap((list) => [
      { steps: births, object: node, action: 'CREATE 201', at: `status.${list}.${resource}` },
      { steps: ['restart'], object: node, action: 'CREATE 409', at: `status.${list}.${resource}` },
    ]),
  ),
  {
    steps: ['big'],
    object: 'pods/default/big',
    action: 'PATCH status 200',
    at: 'status.message',
    upstream: `Pod was rejected: ${doesNotFit(1_000)}`,
    nlc: `Pod was rejected: ${doesNotFit(8_000)}`,
  },
  {
    steps: ['big'],
    object: 'events about Pod/default/big',
    action: 'CREATE 201 Warning OutOfcpu',
    at: 'message',
    upstream: doesNotFit(1_000),
    nlc: doesNotFit(8_000),
  },
];

function doesNotFit(capacity: number): string {
  return `Node didn't have enough resource: cpu, requested: 9000000, used: 0, capacity: ${capacity}`;
}

/**
 * The real kubelet computes its node twice at a start and records the Events each time. At a restart only the second ones may
 * have the uid of the node, and then they are other Events.
 */
const recordedOnce: readonly DifferenceRow[] = [
  'NodeHasSufficientMemory',
  'NodeHasNoDiskPressure',
  'NodeHasSufficientPID',
].flatMap((reason) => {
  const again = { object: eventsAboutNode, action: `PATCH 200 Normal ${reason}`, upstream: sent, nlc: undefined };
  return [
    { ...again, steps: births },
    { ...again, steps: ['restart'], sometimes: true },
    { ...again, steps: ['restart'], action: `CREATE 201 Normal ${reason}`, sometimes: true },
  ];
});

/** The first Events after a restart have the uid of the node if the watch has delivered it by then. */
const uidAfterRestart: readonly DifferenceRow[] = [
  {
    steps: ['restart'],
    object: eventsAboutNode,
    action: 'CREATE 201 Normal *',
    at: 'involvedObject.uid',
    sometimes: true,
  },
];

/** The real kubelet may register before it has listed its containers for the first time; the first report corrects that. */
const beforeFirstRelist: readonly DifferenceRow[] = [
  { steps: births, object: node, action: 'PATCH status 200', at: 'status', nlc: undefined, sometimes: true },
  {
    steps: births,
    object: node,
    action: 'CREATE 201',
    at: 'status.conditions[Ready].message',
    upstream: '[PLEG is not healthy: pleg has yet to be successful, CSINode is not yet initialized]',
    sometimes: true,
  },
];

/** A resourceVersion would make every Event a new one. */
const eventsAboutPods: readonly MeantDifference[] = [
  {
    steps: ['bound', 'leave', 'ready', 'startup', 'sleep', 'port', 'free', 'system', 'big', 'selector'],
    object: 'events about Pod/default/*',
    action: 'CREATE 201 *',
    at: 'involvedObject.resourceVersion',
    upstream: '<version>',
    nlc: undefined,
    record: '0023-side-by-side.md',
  },
];

/** The real kubelet may try the probes of a container once more that has just stopped. */
const probesOfTheStopped: readonly DifferenceRow[] = [
  ['sleep', 'probed'],
  ['free', 'startup'],
].map(([step = '', pod]) => ({
  steps: [step],
  object: `events about Pod/default/${pod}`,
  action: '* Warning Unhealthy',
  upstream: sent,
  nlc: undefined,
  sometimes: true,
}));

/** The hollow node declares no features. */
const features: readonly DifferenceRow[] = [
  { steps: births, object: node, action: 'CREATE 201', at: 'status.declaredFeatures', nlc: undefined },
  { steps: ['restart'], object: node, action: 'CREATE 409', at: 'status.declaredFeatures', nlc: undefined },
];

/** The hollow kubelet deletes only its own mirror pod, by uid. */
const byUid: readonly DifferenceRow[] = [
  ['removed', 'stat'],
  ['unserved', 'web'],
].map(([step = '', name]) => ({
  steps: [step],
  object: `pods/kube-system/${name}-${nodeName}`,
  action: 'DELETE 200',
  at: 'preconditions.uid',
  upstream: undefined,
}));

/** The fake runtime of the real kubelet reports no reason for the end of a container. */
const runtime: readonly DifferenceRow[] = [
  ['leave', 'default/bound'],
  ['sleep', 'default/probed'],
  ['free', 'default/startup'],
  ['removed', `kube-system/stat-${nodeName}`],
  ['unserved', `kube-system/web-${nodeName}`],
].map(([step = '', pod]) => ({
  steps: [step],
  object: `pods/${pod}`,
  action: 'PATCH status 200',
  at: 'status.containerStatuses[c].state.terminated.reason',
  upstream: undefined,
  nlc: 'Completed',
}));

/** A kubelet may renew its lease while it is being stopped. */
const lastRenewals: readonly DifferenceRow[] = [
  { upstream: sent, nlc: undefined },
  { upstream: undefined, nlc: sent },
].map((side) => ({
  steps: ['restart', 'reregister'],
  object: `leases/kube-node-lease/${nodeName}`,
  action: 'UPDATE 200',
  ...side,
  sometimes: true,
}));

/** The last status of a pod may be written before the pod has ended for its worker: it is read again to be deleted. */
const readsBeforeDeletion: readonly DifferenceRow[] = [
  { upstream: sent, nlc: undefined },
  { upstream: undefined, nlc: sent },
].map((side) => ({
  steps: ['leave', 'sleep', 'free'],
  object: 'pods/default/*',
  action: 'GET 200',
  ...side,
  sometimes: true,
}));

/** The create request fails, and its body depends on whether the existing node was observed in time. */
const refusedRegistration: readonly DifferenceRow[] = ['status', 'reason', 'message'].map((field) => ({
  steps: ['restart'],
  object: node,
  action: 'CREATE 409',
  at: `status.conditions[Ready].${field}`,
  sometimes: true,
}));

/** Status updates of a rewritten static pod may still reach its previous mirror pod, or find it deleted. */
const lateWords: readonly DifferenceRow[] = [
  'GET 200',
  'PATCH status 200',
  'PATCH status 404',
  'PATCH status 409',
].flatMap((action): readonly DifferenceRow[] => {
  const word = {
    steps: ['changed'],
    object: `pods/kube-system/stat-${nodeName}`,
    action,
    at: '',
    sometimes: true,
  } as const;
  return [
    { ...word, upstream: sent, nlc: undefined },
    { ...word, upstream: undefined, nlc: sent },
  ];
});

/** Kubelets race with their own watches, and repeated requests fail. */
const races: readonly DifferenceRow[] = [
  ...uidAfterRestart,
  ...beforeFirstRelist,
  ...lastRenewals,
  ...readsBeforeDeletion,
  ...refusedRegistration,
  ...lateWords,
  ...['DELETE 409', 'CREATE 409'].flatMap((action): readonly DifferenceRow[] => {
    const twice = { steps: ['mirror'], object: `pods/kube-system/stat-${nodeName}`, action, sometimes: true } as const;
    return [
      { ...twice, upstream: sent, nlc: undefined },
      { ...twice, upstream: undefined, nlc: sent },
    ];
  }),
  ...['stat', 'web'].flatMap((name): readonly DifferenceRow[] => {
    const look = { object: `pods/kube-system/${name}-${nodeName}`, action: 'GET *', at: '', sometimes: true } as const;
    return [
      { ...look, steps: ['removed', 'unserved'], upstream: sent, nlc: undefined },
      { ...look, steps: ['removed', 'unserved'], upstream: undefined, nlc: sent },
    ];
  }),
];

const ofThisRecord: readonly DifferenceRow[] = [
  ...noDrivers,
  ...sharedWatches,
  ...looksAtTheNode,
  ...machine,
  ...features,
  ...recordedOnce,
  ...byUid,
  ...probesOfTheStopped,
  ...runtime,
  ...races,
];

export const meantDifferences: readonly MeantDifference[] = [
  ...ofThisRecord.map((place) => ({ ...place, record })),
  ...eventsAboutPods,
].filter(({ object }) => recordsEvents || !object.startsWith('events about'));
