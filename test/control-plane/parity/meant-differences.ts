// Where our controller is meant to act otherwise than the reference: one value of one step each, with the decision record
// that says why. An entry that no longer describes what happens fails the test as an unexpected difference does.
import type { MeantDifference } from './differences.ts';

type Why = Pick<MeantDifference, 'step' | 'record' | 'sometimes'>;

const marking = 'taint-eviction-controller Normal TaintManagerEviction POD: Marking for deletion Pod default/POD';
const cancelling = 'taint-eviction-controller Normal TaintManagerEviction POD: Cancelling deletion of Pod default/POD';
const podNotReady = 'node-controller Warning NodeNotReady POD: Node is not ready';

const evicted = {
  status: 'True',
  reason: 'DeletionByTaintManager',
  message: 'Taint manager: deleting due to NoExecute taint',
  observedGeneration: 1,
  transition: 'controller',
} as const;

/** Only one of the two sends this event. */
function toldBy(who: 'reference' | 'ours', event: string, pod: string, why: Why): MeantDifference {
  const told = { reference: undefined, ours: undefined, [who]: true };
  return { at: `events > ${event.replaceAll('POD', pod)}`, ...told, ...why };
}

/** A node gets its NoExecute taint from the reference before the reference has counted the zone. */
function taintedTooSoon(step: string, node: string): readonly MeantDifference[] {
  const why = { step, record: '0008-look-count-then-act.md', sometimes: true } as const;
  const [evicting, other] = ['unreachable:NoExecute', 'unreachable:NoSchedule'];
  return [
    { at: `nodes > ${node} > carried`, reference: [evicting], ours: [], ...why },
    {
      at: `nodes > ${node} > taints`,
      reference: [`${evicting} stamped`, `${other} stamped`],
      ours: [`${other} stamped`],
      ...why,
    },
  ];
}

/** And takes it back, or the node comes back. */
const soonUndone: readonly MeantDifference[] = ['every zone is silent', 'one zone is back'].map((step) =>
  toldBy('reference', cancelling, 'a0-very-patient', {
    step,
    record: '0008-look-count-then-act.md',
    sometimes: true,
  }),
);

// A node is deleted while a pod of it counts down. The reference forgets the taints and keeps the appointment: the pod
// goes. Ours cancels it: the pod is left to whoever collects the pods of nodes that are gone.
const nodeDeleted = {
  step: 'it is deleted while a pod of it counts down',
  record: '0019-limitations-of-the-reference.md',
} as const;
const deletedNode: readonly MeantDifference[] = [
  toldBy('reference', marking, 'mute-patient', nodeDeleted),
  // The reference cancels too when it hears of its own deletion before that has returned.
  toldBy('ours', cancelling, 'mute-patient', { ...nodeDeleted, sometimes: true }),
  { at: 'pods > mute-patient > presence', reference: 'gone', ours: 'there', ...nodeDeleted },
  {
    at: 'pods > mute-patient > conditions > DisruptionTarget',
    reference: evicted,
    ours: undefined,
    ...nodeDeleted,
  },
];

// A deletion that is under way is announced as cancelled by the reference if its watch is quicker than its request.
const underWay: readonly MeantDifference[] = [
  ['it all ends, and people place taints of their own', 'b3-patient'] as const,
  ['the patience of a pod ends, and a new one is bound to the node', 'a0-patient'] as const,
].map(([step, pod]) =>
  toldBy('reference', cancelling, pod, { step, record: '0017-work-queue-answers.md', sometimes: true }),
);

// A second taint that is tolerated for less brings the appointment forward; the reference keeps the first.
const hurry = {
  step: 'they place a second one, which a pod tolerates for less',
  record: '0006-countdown-from-time-added.md',
} as const;
const secondTaint: readonly MeantDifference[] = [
  toldBy('ours', marking, 'b3-of-two-minds', hurry),
  { at: 'pods > b3-of-two-minds > presence', reference: 'there', ours: 'gone', ...hurry },
  { at: 'pods > b3-of-two-minds > conditions > DisruptionTarget', reference: undefined, ours: evicted, ...hurry },
  toldBy('reference', cancelling, 'b3-of-two-minds', { ...hurry, step: 'and take them away' }),
];

// A pod that is being deleted already is left alone; the reference marks and deletes it again.
const terminating = { step: 'a node falls silent', record: '0006-countdown-from-time-added.md' } as const;
const terminatingPods: readonly MeantDifference[] = [
  toldBy('reference', marking, 'a0-told-to-leave', terminating),
  {
    at: 'pods > a0-told-to-leave > conditions > DisruptionTarget',
    reference: { ...evicted, observedGeneration: 2 },
    ours: undefined,
    ...terminating,
  },
];

// The reference takes every NoExecute taint away when it starts, and puts them back: countdowns are cancelled and begin
// anew, and pods that are being deleted are told again.
const restart = { step: 'the controller is killed and started again', record: '0009-zones-and-outages.md' } as const;
const restarted: readonly MeantDifference[] = [
  toldBy('reference', cancelling, 'a0-patient', { ...restart, sometimes: true }),
  toldBy('reference', cancelling, 'a0-very-patient', { ...restart, sometimes: true }),
  ...['a0-slow-to-leave', 'a0-told-to-leave'].map((pod) =>
    toldBy('reference', marking, pod, { ...restart, record: '0006-countdown-from-time-added.md' }),
  ),
];

// From False to Unknown: pods of a node that is Unknown and silent are marked, however it came to that. The reference
// marks only at the step from True.
const fromFalse = { step: 'then it falls silent', record: '0007-marking-follows-the-state.md' } as const;
const notReadyThenSilent: readonly MeantDifference[] = [
  toldBy('ours', podNotReady, 'b0-very-patient', fromFalse),
  { at: 'pods > b0-very-patient > conditions > Ready > status', reference: 'True', ours: 'False', ...fromFalse },
  {
    at: 'pods > b0-very-patient > conditions > Ready > transition',
    reference: 'kubelet',
    ours: 'controller',
    ...fromFalse,
  },
  // Brought forward by the other key; the reference cancels first and says so.
  toldBy('reference', cancelling, 'b0-not-ready-only', { ...fromFalse, record: '0006-countdown-from-time-added.md' }),
];

const stormGuard = { step: 'most of its zone falls silent', record: '0011-storm-guard.md' } as const;
const named: readonly MeantDifference[] = [
  {
    at: 'events > node-controller Warning ZoneFailure kube-node-lease: ZoneFailure: 3 of 4 nodes of zone r/b fell silent within 1 s',
    reference: undefined,
    ours: true,
    ...stormGuard,
  },
  { at: 'subjects > ZoneFailure Namespace', reference: undefined, ours: ['apiVersion'], ...stormGuard },
];

// A node that was deleted and made anew between two looks is another node; the reference, which goes by names, says
// nothing unless it looks in between.
const anew = {
  step: 'its lease is renewed and no status is posted; another node is deleted and made anew',
  record: '0023-side-by-side.md',
  sometimes: true,
} as const;
const madeAnew: readonly MeantDifference[] = [
  toldBy('ours', 'node-controller Normal RemovingNode b3: Node b3 event: Removing Node b3 from Controller', '', anew),
  toldBy('ours', 'node-controller Normal RegisteredNode b3: Node b3 event: Registered Node b3 in Controller', '', anew),
];

// Events about pods that are marked name the version of the pod in the reference.
const identity: MeantDifference = {
  step: 'a node falls silent',
  at: 'subjects > NodeNotReady Pod',
  reference: ['apiVersion, namespace, resourceVersion, own uid'],
  ours: ['apiVersion, namespace, own uid'],
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
  ...madeAnew,
  identity,
  ...['b1', 'b2', 'b3'].flatMap((node) => taintedTooSoon('most of its zone falls silent', node)),
  ...['a0', 'a1', 'a2'].flatMap((node) => taintedTooSoon('every zone is silent', node)),
  ...soonUndone,
];
