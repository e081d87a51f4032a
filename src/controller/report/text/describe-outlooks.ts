// Outlooks as text: the same values as the JSON.
import { autonomyLabel } from '../../../machinery/api/pod.ts';
import { flappingAnnotation, outOfServiceAnnotation } from '../../../machinery/api/node.ts';
import { flappingTaintKey, type Taint } from '../../../machinery/api/taints.ts';
import type { PodGcReason } from '../../model/decisions.ts';
import { detectionDoubts } from '../../model/detection.ts';
import { describeFlappingEnd, describeRecoveries } from '../../model/flapping.ts';
import { describeFencingDoubt, type FencingDoubt } from '../../model/out-of-service.ts';
import { describeHold, holdRows } from './describe-holds.ts';
import type { SignalMeaning } from '../../model/policy.ts';
import type {
  CollectionOutlook,
  Estimate,
  EvictionOutlook,
  FinishedPodsReport,
  Given,
  LifecycleCondition,
  NextAction,
  NodeOutlook,
  PodOutlook,
  RequestedEviction,
  StayOutlook,
  ZoneOutlook,
} from '../pages.ts';
import {
  ending,
  estimateText,
  historyRows,
  line,
  type Row,
  rows,
  secondsText,
  textOf,
  type Texts,
} from './format-page.ts';

export function describeNodeOutlook(outlook: NodeOutlook): string {
  const { node, ready, taints, zone, counted, holds, next, noExecuteTaint, evictions, problems, history } = outlook;
  const wanted = taints.wanted === null ? 'not managed by this process' : `should have ${taintsText(taints.wanted)}`;
  return [
    line(`node ${node}: Ready is ${ready}; ${silenceText(outlook)}`),
    rows([
      ['next', nextText(next)],
      ...holdRows(holds),
      ['heartbeat', heartbeatText(outlook)],
      ['policy', policyText(outlook)],
      ['fencing', outlook.outOfService && textOf(fencingTexts, 'kind', outlook.outOfService)],
      ['flapping', flappingText(outlook)],
      ['warning', overdueText(outlook)],
      ['probes', probesText(outlook)],
      ...(outlook.lifecycle ?? []).map((condition): Row => ['lifecycle', lifecycleText(condition)]),
      ['zone', `${zoneText(zone)}${counted ? '' : '; this node does not count in it'}`],
      [
        'zone',
        outlook.outerZone === undefined ? null : `${zoneText(outlook.outerZone)}; both zones must allow the taint`,
      ],
      ['taints', `has ${taintsText(taints.carried)}; ${wanted}`],
      ['queue', queueText(outlook)],
      ['NoExecute', noExecuteTaint && `${noExecuteTaint.key}: ${conditionalText(noExecuteTaint)}`],
      ['eviction', nodeEvictionText(outlook)],
      ['evictions', evictionCountsText(outlook)],
    ]),
    ...evictions.first.map((eviction) => line(`    ${evictionText(eviction)}`)),
    ending(problems, history),
  ].join('');
}

export function describePodOutlook(outlook: PodOutlook): string {
  const { pod, node, phase, terminating, holds, next, eviction, stays, collection, taints } = outlook;
  const { problems, history, historyOfFormer } = outlook;
  const staying = stays && `none: ${textOf(stayReasons, 'why', stays)}`;
  return [
    line(
      `pod ${pod}: ${phase}${terminating ? ', terminating' : ''}, ${node === null ? 'not bound' : `on node ${node}`}`,
    ),
    rows([
      ['next', nextText(next)],
      ...holdRows(holds),
      ['eviction', eviction === null ? staying : `${evictionText(eviction)}, ${givenText(eviction.given)}`],
      ...requestedRows(outlook.requested),
      ['collection', collection && collectionText(collection)],
      ['counts', outlook.keepsEarlierDeadline ? earlierDeadline : null],
      ['taints', taints.length === 0 ? 'no NoExecute taint on its node' : `${taints.length} NoExecute`],
    ]),
    ...taints.map((countdown) => line(`    ${countdownText(countdown)}`)),
    ending(problems, history),
    historyRows('history of former pods of this name', historyOfFormer),
  ].join('');
}

/** The Evictions of a pod, and why there may be others. */
function requestedRows(requested: PodOutlook['requested']): readonly Row[] {
  if (requested === undefined) return [];
  const { evictions, problem } = requested;
  return [
    ...evictions.map((eviction): Row => ['requested', requestedText(eviction)]),
    ['requested', problem === null ? null : `not known: ${problem}`],
  ];
}

function requestedText({ eviction, requesters, requesterCount, responder }: RequestedEviction): string {
  const others = requesterCount > requesters.length ? ` and ${requesterCount - requesters.length} more` : '';
  const by = requesterCount === 0 ? 'nothing now' : `${requesters.join(', ')}${others}`;
  return `Eviction ${eviction}, by ${by}; ${responder === null ? 'no active responder' : responderText(responder)}`;
}

function responderText({ name, heartbeat, completed }: NonNullable<RequestedEviction['responder']>): string {
  const last = heartbeat === null ? 'no heartbeat' : `last heartbeat ${secondsText(heartbeat.secondsAgo)} ago`;
  return `active responder ${name}, ${completed ? 'completed' : last}`;
}

const earlierDeadline =
  'the scheduled eviction, not the countdowns below: a toleration that became longer does not postpone it while its taint is present (as in kube-controller-manager)';

/** One paragraph each. */
export function describeZones(zones: readonly ZoneOutlook[]): string {
  return zones.length === 0 ? 'no zones\n' : zones.map(describeZone).join('');
}

function givenText(given: Given): string {
  return given === 'no-heartbeat' ? 'if no heartbeat is received' : 'if nothing changes';
}

function conditionalText({ when, given }: { readonly when: Estimate; readonly given: Given }): string {
  return `${estimateText(when)}, ${givenText(given)}`;
}

function taintsText(taints: readonly Taint[]): string {
  return taints.length === 0 ? 'none' : taints.map(({ key, effect }) => `${key}:${effect}`).join(', ');
}

const acts: Readonly<Record<NextAction['act'], (subject: string) => string>> = {
  'mark-unknown': () => 'its conditions become Unknown',
  'change-taints': (subject) => `taints change: ${subject}`,
  'add-taint': (subject) => `it gets ${subject}`,
  'evict-node': () => 'its pods are deleted',
  'evict-pod': (subject) => `pod ${subject} is evicted`,
  'collect-pod': (subject) => `pod ${subject} is deleted without a grace period`,
  none: () => 'nothing',
};

/** What happens, as a clause. */
export function describeAct({ act, subject }: Pick<NextAction, 'act' | 'subject'>): string {
  return acts[act](subject ?? '');
}

function nextText({ act, subject, given, when }: NextAction): string {
  const what = describeAct({ act, subject });
  return when === null ? what : `${what}: ${conditionalText({ when, given })}`;
}

function evictionText({ pod, state, cause, when }: EvictionOutlook): string {
  return `${pod} ${causeText(cause)}; eviction ${state}: ${estimateText(when)}`;
}

function causeText(cause: EvictionOutlook['cause']): string {
  if (cause.kind === 'node-evicted') return 'is deleted with all pods of its node';
  const { taint, toleratedSeconds } = cause;
  return toleratedSeconds === 0 ? `does not tolerate ${taint}` : `tolerates ${taint} for ${toleratedSeconds}s`;
}

function silenceText({ silence }: NodeOutlook): string {
  if (silence === null) return 'not evaluated yet';
  const { since, from } = silence;
  if (since !== null) return `silent for ${secondsText(since.secondsAgo)}, since ${since.at}`;
  return from === null ? 'not silent' : `not silent; would be without a heartbeat: ${estimateText(from)}`;
}

/** The fields of a policy that set the grace periods. */
const graceFields = {
  monitor: 'nodeMonitorGracePeriod',
  startup: 'nodeStartupGracePeriod',
  probes: 'detection',
} as const;

function heartbeatText({ lastHeartbeat, grace }: NodeOutlook): string {
  if (lastHeartbeat === null || grace === null) return 'not evaluated yet';
  const source = grace.policy === null ? `--${grace.flag}` : `policy ${grace.policy}: ${graceFields[grace.rule]}`;
  const graceText = `grace ${secondsText(grace.seconds)} (${grace.rule} rule, ${source})`;
  return `${secondsText(lastHeartbeat.secondsAgo)} ago by ${lastHeartbeat.channel} (${lastHeartbeat.at}); ${graceText}`;
}

/** No line without policies. */
function policyText({ policy }: NodeOutlook): string | null {
  if (policy === null) return null;
  const source = policy.object === undefined ? '' : ` (${policy.object})`;
  const windows = (policy.windows ?? []).map((window) => `, in the window ${window}`).join('');
  if (policy.name !== null) return `${policy.name}, mode ${policy.mode}${source}${windows}`;
  if (policy.conflict.length === 0) return 'default: no policy selects this node';
  return `default: ${policy.conflict.join(' and ')} have equal priority and equally many requirements`;
}

type FencingOutlook = NonNullable<NodeOutlook['outOfService']>;

const fencingTexts: Texts<'kind', FencingOutlook> = {
  foreign: () => 'another client added the taint out-of-service',
  unproven: () => 'nothing proves that it was fenced: no taint out-of-service',
  malformed: () => `the annotation ${outOfServiceAnnotation} is malformed: the taint out-of-service stays as it is`,
  unordered: describeDoubt,
  disproved: describeDoubt,
  'no-boot-id': ({ evidence }) => `${evidence}; no taint out-of-service, because the node reported no boot ID`,
  'not-unreachable': ({ evidence }) =>
    `${evidence}; the taint out-of-service follows its NoExecute taint as unreachable`,
  due: ({ evidence }) => `${evidence}; the taint out-of-service is due`,
  'in-place': ({ record }) =>
    `out of service since ${record.addedAt} (${record.evidence}), until it has another boot ID`,
  'removed-by-other': ({ record }) => `another client removed the taint out-of-service of boot ${record.bootID}`,
  'same-boot': ({ record }) =>
    `Ready with boot ${record.bootID}, so it was not fenced, although ${record.evidence} said so: the taint out-of-service stays`,
  back: () => 'it has another boot ID: the taint out-of-service is to be removed',
};

function describeDoubt({ kind, evidence }: { readonly kind: FencingDoubt; readonly evidence: string }): string {
  return `${evidence} does not prove that it was fenced: ${describeFencingDoubt(kind)}. It counts when it is removed and set again`;
}

function overdueText({ overdue }: NodeOutlook): string | null {
  return overdue === undefined
    ? null
    : `no heartbeat for ${secondsText(overdue.since.secondsAgo)}, and not Unknown yet (earlyWarning of policy ${overdue.policy}); it holds nothing`;
}

function probesText({ detection }: NodeOutlook): string | null {
  return detection === undefined
    ? null
    : `not Unknown before its grace period ends (detection of policy ${detection.policy}): ${detectionDoubts[detection.doubt]}`;
}

function flappingText({ node, flapping }: NodeOutlook): string | null {
  if (flapping === undefined) return null;
  const { state, recoveries, rule } = flapping;
  if (state.kind === 'due') return `${describeRecoveries(state.due.recoveries, state.rule)}: the taint is due`;
  if (state.kind !== 'none' && state.kind !== 'kept')
    return `the taint ${flappingTaintKey} is to be removed: ${describeFlappingEnd(state.kind)}`;
  const count = rule === undefined ? '' : describeRecoveries(recoveries, rule);
  if (state.kind === 'none') return `${count}; it is kept from new pods at ${rule?.recoveries} recoveries`;
  const { until, level } = state.record;
  const clear = `kubectl annotate node ${node} ${flappingAnnotation}-`;
  return `no new pods until ${until} (level ${level}); ${count}; to end it: ${clear}`;
}

const meanings: Readonly<Record<SignalMeaning, string>> = {
  hold: 'the node is not emptied for its health',
  uncounted: 'it holds nothing, and the node is no evidence of a disruption',
  none: 'it holds nothing',
};

function lifecycleText({ condition, reason, since, means, stale }: LifecycleCondition): string {
  const age = since === null ? 'without a time' : `for ${secondsText(since.secondsAgo)}`;
  const what = means === null ? 'no policy of the node lists it' : meanings[means];
  const old =
    stale && `stale: the node is Unknown for ${secondsText(stale.secondsAgo)}; the client that set it should remove it`;
  return [`${condition} is True ${age}${reason === null ? '' : ` (${reason})`}: ${what}`, ...(old ? [old] : [])].join(
    '; ',
  );
}

function queueText({ queue, zone, outerZone }: NodeOutlook): string | null {
  const outer = outerZone === undefined ? '' : `; ${outerZone.zone}: ${bucketText(outerZone, 'tokens left')}`;
  return queue && `${queue.ahead} ahead, ${queue.waiting} waiting; ${bucketText(zone, 'tokens left')}${outer}`;
}

function bucketText({ queue: { tokens, nextToken } }: ZoneOutlook, unit: string): string {
  return `${tokens} ${unit}, next token: ${estimateText(nextToken)}`;
}

function nodeEvictionText({ eviction }: NodeOutlook): string | null {
  if (eviction === null) return null;
  const { mark, due, slot, given } = eviction;
  if (slot === null) return `${mark}: its pods are deleted, and so is every pod bound to it later, until it is Ready`;
  const time = due === null ? '' : `timeout ends: ${estimateText(due)}; `;
  return `${mark}: ${time}pods deleted: ${conditionalText({ when: slot, given })}`;
}

function evictionCountsText({ evictions: { scheduled, predicted, spared }, eviction }: NodeOutlook): string {
  return `${scheduled} scheduled, ${predicted} predicted${eviction === null ? '' : `, ${spared} of DaemonSets kept`}`;
}

const askingTexts = {
  pod: `its label ${autonomyLabel} asks for it`,
  namespace: `the label ${autonomyLabel} of its namespace asks for it`,
  unknown: `the labels of namespaces are not known now, so that ${autonomyLabel} of its own may ask for it`,
} as const;

const stayReasons: Texts<'why', StayOutlook> = {
  'already-terminating': ({ stuck }) =>
    `it is already terminating; only its kubelet can complete the deletion${stuck === undefined ? '' : `, which is overdue for ${secondsText(stuck.overdue.secondsAgo)} (terminatingTimeout of policy ${stuck.policy}): its node comes back, the node gets the taint out-of-service with evidence that its machine is off, or a person who knows that deletes the pod with --force`}`,
  'not-run': ({ part }) => `not predicted here: this process does not run the ${part}`,
  'not-bound': () => 'it is not bound to a node',
  'node-unknown': () => 'its node does not exist',
  'daemon-set': ({ daemonSet }) => `DaemonSet ${daemonSet} selects it and would create it again on the same node`,
  completed: ({ policy }) => `it is completed, and policy ${policy} keeps completed pods (keepCompletedPods)`,
  autonomous: ({ policy, asks, until }) =>
    `${askingTexts[asks]}, and policy ${policy} permits it (podAutonomy)${until === null ? '' : `, until its node is unhealthy for too long ${estimateText(until)}`}`,
  'tolerates-forever': () => 'it tolerates all NoExecute taints of its node without a time limit',
  'not-evaluated-yet': () =>
    'a taint of its node counts for it: it is evaluated within --node-monitor-resync-period, or its deletion is on its way',
  'nothing-points-to-it': () => 'no cause for an eviction',
};

function countdownText({ taint, since, toleration, toleratedSeconds, ends }: PodOutlook['taints'][number]): string {
  const running = `${taint.key} for ${secondsText(since.secondsAgo)}`;
  if (toleration === null) return `${running}: not tolerated`;
  const matched = `toleration ${JSON.stringify(toleration)}`;
  if (toleratedSeconds === null || ends === null) return `${running}: tolerated without a time limit (${matched})`;
  return `${running}: tolerated for ${toleratedSeconds}s (${matched}), ends ${estimateText(ends)}`;
}

const collectionReasons: Readonly<Record<PodGcReason, string>> = {
  terminated: 'more terminated pods exist than are kept, and it is among the oldest, or it completed too long ago',
  'out-of-service': 'it is terminating on a node that is not ready and has the out-of-service taint',
  orphaned: 'its node does not exist',
  unscheduled: 'it is terminating and was never bound to a node',
};

const preventions = {
  'fewer-finished-pods': ', unless enough terminated pods are deleted before',
  'node-back-in-service': ', unless the node becomes ready or loses the taint',
  'node-known-again': ', unless the node appears, or a live read finds it',
} as const;

function collectionText(collection: CollectionOutlook): string {
  if (collection.kind === 'kept') return `kept: ${keptText(collection)}`;
  if (collection.kind === 'held-by-finalizers')
    return 'it was already deleted without a grace period; only its finalizers keep it';
  const { why, when, quarantineEnds, unless } = collection;
  const quarantine = quarantineEnds === null ? '' : `; its quarantine ends: ${estimateText(quarantineEnds)}`;
  const prevention = unless === null ? '' : preventions[unless];
  return `${collectionReasons[why]}${quarantine}; deleted without a grace period: ${estimateText(when)}${prevention}`;
}

/** How many terminated pods exist and are kept. */
export function keptText({ finished, threshold, perNode, ageSeconds }: FinishedPodsReport): string {
  const onNode = perNode === undefined ? '' : `, ${perNode} on each node`;
  const forLong = ageSeconds === undefined ? '' : `, for ${secondsText(ageSeconds)}`;
  return `${finished} terminated pods, ${threshold ?? 'all'} are kept${onNode}${forLong}`;
}

function zoneText({ zone, arithmetic }: ZoneOutlook): string {
  return `${zone}: ${arithmetic === null ? 'not evaluated yet' : arithmetic.reading}`;
}

function describeZone(outlook: ZoneOutlook): string {
  const { waiting, first } = outlook.queue;
  const shown = waiting === 0 ? '' : `: ${first.join(', ')}${waiting > first.length ? ', …' : ''}`;
  return `${line(`zone ${zoneText(outlook)}`)}${rows([
    ['queue', `${waiting} waiting${shown}`],
    ['tokens', bucketText(outlook, 'left')],
    ...outlook.holds.map((hold): Row => ['held', describeHold(hold)]),
  ])}`;
}
