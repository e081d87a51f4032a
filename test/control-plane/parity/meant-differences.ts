// The intended differences from kube-controller-manager: one value of one step each, with its decision record. An entry
// without its difference fails the test, as an unexpected difference does.
import type { MeantDifference } from './differences.ts';

type Why = Pick<MeantDifference, 'step' | 'record' | 'sometimes'>;

const marking = 'taint-eviction-controller Normal TaintManagerEviction POD: Marking for deletion Pod default/POD';
const cancelling = 'taint-eviction-controller Normal TaintManagerEviction POD: Cancelling deletion of Pod default/POD';
const podNotReady = 'node-controller Warning NodeNotReady POD: Node is not ready';

/** The condition of a pod that was marked at this generation. */
function evicted(observedGeneration = 1): object {
  return {
    status: 'True',
    reason: 'DeletionByTaintManager',
    message: 'Taint manager: deleting due to NoExecute taint',
    observedGeneration,
    transition: 'controller',
  };
}

/** Only one of the two records this Event. */
function recordedBy(who: 'upstream' | 'nlc', event: string, pod: string, why: Why): MeantDifference {
  const sides = { upstream: undefined, nlc: undefined, [who]: true };
  return { at: `events > ${event.replaceAll('POD', pod)}`, ...sides, ...why };
}

/** kube-controller-manager adds a NoExecute taint before it has computed the state of the zone. */
function taintedTooSoon(step: string, node: string): readonly MeantDifference[] {
  const why = { step, record: '0008-count-zones-before-tainting.md', sometimes: true } as const;
  const [evicting, other] = ['unreachable:NoExecute', 'unreachable:NoSchedule'];
  return [
    { at: `nodes > ${node} > carried`, upstream: [evicting], nlc: [], ...why },
    {
      at: `nodes > ${node} > taints`,
      upstream: [`${evicting} stamped`, `${other} stamped`],
      nlc: [`${other} stamped`],
      ...why,
    },
  ];
}

/**
 * Here each node is evaluated at its own deadline, there all of them in one pass: on a busy machine the last heartbeats of
 * nodes that stop together are apart, and the first node is tainted while its zone is still normal.
 */
function taintedBeforeTheOthers(step: string, node: string): readonly MeantDifference[] {
  return taintedTooSoon(step, node).map(({ upstream: nlc, nlc: upstream, ...rest }) => ({ ...rest, upstream, nlc }));
}

/** And removes it, or the node recovers. */
const soonUndone: readonly MeantDifference[] = ['all zones are silent', 'one zone recovers'].map((step) =>
  recordedBy('upstream', cancelling, 'a0-very-patient', {
    step,
    record: '0008-count-zones-before-tainting.md',
    sometimes: true,
  }),
);

// A node is deleted while the toleration of its pod runs. kube-controller-manager drops the taints and keeps the timed
// eviction: the pod is deleted. nlc cancels it: the pod is left to pod garbage collection.
const nodeDeleted = {
  step: 'it is deleted while the toleration of its pod runs',
  record: '0019-known-limitations.md',
} as const;
const deletedNode: readonly MeantDifference[] = [
  recordedBy('upstream', marking, 'no-status-patient', nodeDeleted),
  // kube-controller-manager cancels too if its watch delivers the deletion before the request returns.
  recordedBy('nlc', cancelling, 'no-status-patient', { ...nodeDeleted, sometimes: true }),
  { at: 'pods > no-status-patient > presence', upstream: 'gone', nlc: 'there', ...nodeDeleted },
  {
    at: 'pods > no-status-patient > conditions > DisruptionTarget',
    upstream: evicted(),
    nlc: undefined,
    ...nodeDeleted,
  },
];

// kube-controller-manager reports a deletion in flight as cancelled if its watch is faster than the request.
const underWay: readonly MeantDifference[] = [
  ['the pressure ends, and a client adds other taints', 'b3-patient'] as const,
  ['the toleration of a pod ends, and a new pod is bound to the node', 'a0-patient'] as const,
].map(([step, pod]) =>
  recordedBy('upstream', cancelling, pod, { step, record: '0017-announce-only-stopped-deletions.md', sometimes: true }),
);

// A second taint that is tolerated for less time moves the eviction forward; kube-controller-manager keeps the first time.
const hurry = {
  step: 'a client adds a second taint, which a pod tolerates for less time',
  record: '0006-countdown-from-time-added.md',
} as const;
const secondTaint: readonly MeantDifference[] = [
  recordedBy('nlc', marking, 'b3-of-two-minds', hurry),
  { at: 'pods > b3-of-two-minds > presence', upstream: 'there', nlc: 'gone', ...hurry },
  { at: 'pods > b3-of-two-minds > conditions > DisruptionTarget', upstream: undefined, nlc: evicted(), ...hurry },
  recordedBy('upstream', cancelling, 'b3-of-two-minds', { ...hurry, step: 'the client removes them' }),
];

// A terminating pod is skipped; kube-controller-manager marks and deletes it again.
const terminating = { step: 'a node becomes silent', record: '0006-countdown-from-time-added.md' } as const;
const terminatingPods: readonly MeantDifference[] = [
  recordedBy('upstream', marking, 'a0-terminating', terminating),
  {
    at: 'pods > a0-terminating > conditions > DisruptionTarget',
    upstream: evicted(2),
    nlc: undefined,
    ...terminating,
  },
];

// kube-controller-manager removes all NoExecute taints when it starts and adds them again: evictions are cancelled and
// scheduled again, and Events about terminating pods are repeated.
const restart = { step: 'the controller is killed and restarted', record: '0009-zones-and-outages.md' } as const;
const restarted: readonly MeantDifference[] = [
  recordedBy('upstream', cancelling, 'a0-patient', { ...restart, sometimes: true }),
  recordedBy('upstream', cancelling, 'a0-very-patient', { ...restart, sometimes: true }),
  ...['a0-slow-to-leave', 'a0-terminating'].map((pod) =>
    recordedBy('upstream', marking, pod, { ...restart, record: '0006-countdown-from-time-added.md' }),
  ),
];

// From False to Unknown: pods of a silent node that is Unknown are marked, whatever the status was before.
// kube-controller-manager marks only at the transition from True.
const fromFalse = { step: 'then that node becomes silent', record: '0007-marking-follows-the-state.md' } as const;
const notReadyThenSilent: readonly MeantDifference[] = [
  recordedBy('nlc', podNotReady, 'b0-very-patient', fromFalse),
  { at: 'pods > b0-very-patient > conditions > Ready > status', upstream: 'True', nlc: 'False', ...fromFalse },
  {
    at: 'pods > b0-very-patient > conditions > Ready > transition',
    upstream: 'kubelet',
    nlc: 'controller',
    ...fromFalse,
  },
  // Moved forward by the other key; kube-controller-manager first cancels the eviction, with an Event.
  recordedBy('upstream', cancelling, 'b0-not-ready-only', {
    ...fromFalse,
    record: '0006-countdown-from-time-added.md',
  }),
];

const stormGuard = { step: 'most nodes of its zone become silent', record: '0011-path-failure-hold.md' } as const;
const named: readonly MeantDifference[] = [
  {
    at: 'events > node-controller Warning ZoneFailure kube-node-lease: ZoneFailure: 3 of 4 nodes of zone r/b sent their last heartbeat within 1s',
    upstream: undefined,
    nlc: true,
    ...stormGuard,
  },
  { at: 'subjects > ZoneFailure Namespace', upstream: undefined, nlc: ['apiVersion'], ...stormGuard },
];

// A node that was deleted and created again between two passes is a new node; kube-controller-manager identifies nodes by
// name and records no Event unless a pass runs in between.
const recreated = {
  step: 'its lease is renewed and no status is posted; another node is deleted and created again',
  record: '0023-side-by-side.md',
  sometimes: true,
} as const;
const recreatedNode: readonly MeantDifference[] = [
  recordedBy(
    'nlc',
    'node-controller Normal RemovingNode b3: Node b3 event: Removing Node b3 from Controller',
    '',
    recreated,
  ),
  recordedBy(
    'nlc',
    'node-controller Normal RegisteredNode b3: Node b3 event: Registered Node b3 in Controller',
    '',
    recreated,
  ),
];

// In kube-controller-manager, Events about marked pods contain the resourceVersion of the pod.
const identity: MeantDifference = {
  step: 'a node becomes silent',
  at: 'subjects > NodeNotReady Pod',
  upstream: ['apiVersion, namespace, resourceVersion, own uid'],
  nlc: ['apiVersion, namespace, own uid'],
  record: '0023-side-by-side.md',
};

export const meantDifferences: readonly MeantDifference[] = [
  ...deletedNode,
  ...underWay,
  ...secondTaint,
  ...terminatingPods,
  ...restarted,
  ...notReadyThenSilent,
  ...named,
  ...recreatedNode,
  identity,
  ...['b1', 'b2', 'b3'].flatMap((node) => taintedTooSoon('most nodes of its zone become silent', node)),
  ...['a0', 'a1', 'a2'].flatMap((node) => taintedTooSoon('all zones are silent', node)),
  ...['b1', 'b2', 'b3'].flatMap((node) => taintedBeforeTheOthers('most nodes of its zone become silent', node)),
  ...soonUndone,
];
