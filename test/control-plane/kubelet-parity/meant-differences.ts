// Where our hollow kubelet is meant to act otherwise than a real one, each with the decision record that says why. An entry
// that no longer describes what happens fails the test as an unexpected difference does.
import type { MeantDifference } from './meant.ts';
import { nodeName } from './kubelet-side.ts';
import { tellsEvents } from './kubelets.ts';

const record = '0030-hollow-kubelet-beside-a-real-one.md';
const node = `nodes/${nodeName}`;
const eventsAboutNode = `events about Node/${nodeName}`;
const starts = ['register', 'restart', 'anew'] as const;
const births = ['register', 'anew'] as const;
const sent = 'sent';

type Place = Omit<MeantDifference, 'record'>;

/** There are no drivers on a hollow node. */
const noDrivers: readonly Place[] = [
  { steps: starts, object: `csinodes/${nodeName}`, action: '*', reference: sent, ours: undefined },
];

/** All nodes of a process share one watch of nodes and one of pods. */
const sharedWatches: readonly Place[] = [
  { steps: starts, object: `${node} as a stream`, action: 'WATCH 200', reference: sent, ours: undefined },
  { steps: starts, object: 'nodes as a stream', action: 'WATCH *', reference: undefined, ours: sent },
  {
    steps: starts,
    object: 'pods as a stream',
    action: 'WATCH fieldSelector=spec.nodeName=*',
    reference: sent,
    ours: undefined,
  },
  {
    steps: starts,
    object: 'pods as a stream',
    action: 'WATCH resourceVersionMatch=*',
    reference: undefined,
    ours: sent,
  },
];

/** Who looks at the node: drivers, the source of its mirrors, the selector of a pod. Ours has it from the shared watch. */
const looksAtTheNode: readonly Place[] = [
  { object: node, action: 'GET *', at: '', reference: sent, ours: undefined, sometimes: true },
  { object: node, action: 'GET *', at: '', reference: undefined, ours: sent, sometimes: true },
];

/** Ours is a machine of its own. */
const machine: readonly Place[] = [
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
    reference: `Pod was rejected: ${doesNotFit(1_000)}`,
    ours: `Pod was rejected: ${doesNotFit(8_000)}`,
  },
  {
    steps: ['big'],
    object: 'events about Pod/default/big',
    action: 'CREATE 201 Warning OutOfcpu',
    at: 'message',
    reference: doesNotFit(1_000),
    ours: doesNotFit(8_000),
  },
];

function doesNotFit(capacity: number): string {
  return `Node didn't have enough resource: cpu, requested: 9000000, used: 0, capacity: ${capacity}`;
}

/** Events about the node are found by those who look for them. */
const nodeEvents: readonly Place[] = [
  { at: 'involvedObject.uid', reference: undefined, ours: nodeName },
  { at: 'involvedObject.apiVersion', reference: 'v1', ours: undefined },
].map((identity) => ({ steps: starts, object: eventsAboutNode, action: 'CREATE 201 *', ...identity }));

/** The reference builds its node twice at a start, and tells each time what it finds. */
const toldOnce: readonly Place[] = ['NodeHasSufficientMemory', 'NodeHasNoDiskPressure', 'NodeHasSufficientPID'].flatMap(
  (reason) => {
    const again = { object: eventsAboutNode, action: `PATCH 200 Normal ${reason}`, reference: sent, ours: undefined };
    return [
      { ...again, steps: births },
      { ...again, steps: ['restart'], sometimes: true },
    ];
  },
);

/** A version would make every event another one. */
const eventsAboutPods: readonly MeantDifference[] = [
  {
    steps: ['bound', 'leave', 'big', 'selector'],
    object: 'events about Pod/default/*',
    action: 'CREATE 201 *',
    at: 'involvedObject.resourceVersion',
    reference: '<version>',
    ours: undefined,
    record: '0023-side-by-side.md',
  },
];

/** It has none of them. */
const features: readonly Place[] = [
  { steps: births, object: node, action: 'CREATE 201', at: 'status.declaredFeatures', ours: undefined },
  { steps: ['restart'], object: node, action: 'CREATE 409', at: 'status.declaredFeatures', ours: undefined },
];

/** Somebody else's mirror of the same name stays. */
const byUid: readonly Place[] = [
  ['removed', 'stat'],
  ['unserved', 'web'],
].map(([step = '', name]) => ({
  steps: [step],
  object: `pods/kube-system/${name}-${nodeName}`,
  action: 'DELETE 200',
  at: 'preconditions.uid',
  reference: undefined,
}));

/** The runtime of the reference does not say why a container ended. */
const runtime: readonly Place[] = [
  ['leave', 'default/bound'],
  ['removed', `kube-system/stat-${nodeName}`],
  ['unserved', `kube-system/web-${nodeName}`],
].map(([step = '', pod]) => ({
  steps: [step],
  object: `pods/${pod}`,
  action: 'PATCH status 200',
  at: 'status.containerStatuses[c].state.terminated.reason',
  reference: undefined,
  ours: 'Completed',
}));

/** Refused, and kept by nobody: whether the node is there already, either knows only if it has been told in time. */
const refusedRegistration: readonly Place[] = ['status', 'reason', 'message'].map((field) => ({
  steps: ['restart'],
  object: node,
  action: 'CREATE 409',
  at: `status.conditions[Ready].${field}`,
  sometimes: true,
}));

/** What is said of a static pod that is written anew may still reach the mirror of the one before, or find it gone. */
const lateWords: readonly Place[] = ['GET 200', 'PATCH status 200', 'PATCH status 404', 'PATCH status 409'].flatMap(
  (action): readonly Place[] => {
    const word = {
      steps: ['changed'],
      object: `pods/kube-system/stat-${nodeName}`,
      action,
      at: '',
      sometimes: true,
    } as const;
    return [
      { ...word, reference: sent, ours: undefined },
      { ...word, reference: undefined, ours: sent },
    ];
  },
);

/** Kubelets race with their own watches, and what they do twice fails. */
const races: readonly Place[] = [
  ...refusedRegistration,
  ...lateWords,
  ...['DELETE 409', 'CREATE 409'].flatMap((action): readonly Place[] => {
    const twice = { steps: ['mirror'], object: `pods/kube-system/stat-${nodeName}`, action, sometimes: true } as const;
    return [
      { ...twice, reference: sent, ours: undefined },
      { ...twice, reference: undefined, ours: sent },
    ];
  }),
  ...['stat', 'web'].flatMap((name): readonly Place[] => {
    const look = { object: `pods/kube-system/${name}-${nodeName}`, action: 'GET *', at: '', sometimes: true } as const;
    return [
      { ...look, steps: ['removed', 'unserved'], reference: sent, ours: undefined },
      { ...look, steps: ['removed', 'unserved'], reference: undefined, ours: sent },
    ];
  }),
];

const ofThisRecord: readonly Place[] = [
  ...noDrivers,
  ...sharedWatches,
  ...looksAtTheNode,
  ...machine,
  ...features,
  ...nodeEvents,
  ...toldOnce,
  ...byUid,
  ...runtime,
  ...races,
];

export const meantDifferences: readonly MeantDifference[] = [
  ...ofThisRecord.map((place) => ({ ...place, record })),
  ...eventsAboutPods,
].filter(({ object }) => tellsEvents || !object.startsWith('events about'));
