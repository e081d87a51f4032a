// Outlooks as text: the same values as the JSON.
import { flappingAnnotation, outOfServiceAnnotation } from '../../api/node.ts';
import { flappingTaintKey, type Taint } from '../../api/taints.ts';
import { formatTime } from '../../api/timestamps.ts';
import { describeBreakerCount, type PodGcReason } from '../model/decisions.ts';
import { describeFlappingEnd, describeRecoveries } from '../model/flapping.ts';
import { controllerNames } from '../model/options.ts';
import {
  type BreakerStatus,
  describeHoldSource,
  describeMaxUnhealthy,
  type MaintenanceSignal,
  type PolicyCount,
} from '../model/policy.ts';
import type { NodeOutlook } from './build-node-outlook.ts';
import type { PodOutlook } from './build-pod-outlook.ts';
import type { ZoneOutlook } from './build-zone-outlook.ts';
import type {
  Circumstances,
  CollectionOutlook,
  ConfigFileFacts,
  Estimate,
  EvictedNodesFacts,
  EvictionOutlook,
  FinishedFacts,
  Given,
  HistoryLine,
  Hold,
  InformerFacts,
  NextAction,
  PodGcFacts,
  PolicyObjectsFacts,
  StayOutlook,
  Unblocker,
} from './facts.ts';

/** Summary of the controller: leadership, watches, queues and holds. */
export interface StatusOutlook extends Pick<Circumstances, 'mode' | 'runs' | 'leading' | 'shadow' | 'leader'> {
  readonly at: string;
  /** Null: without a config file. */
  readonly configFile: ConfigFileFacts | null;
  readonly holds: readonly Hold[];
  readonly informers: readonly InformerFacts[];
  /** Empty without policies. */
  readonly policies: readonly PolicyCount[];
  /** Absent: policies come from the config file. */
  readonly policyObjects?: PolicyObjectsFacts;
  readonly zones: readonly ZoneOutlook[];
  /** Number of nodes in the queues of all zones. */
  readonly waiting: number;
  readonly evictions: { readonly scheduled: number; readonly first: Estimate | null };
  /** Null in taint mode. */
  readonly evictedNodes: EvictedNodesFacts | null;
  /** Null: not run by this process. */
  readonly podGc: PodGcFacts | null;
  readonly history: readonly HistoryLine[];
}

/** A label and its text. A text of null: no line. */
type Row = readonly [label: string, text: string | null];

/** The texts of the variants of a union. */
type Texts<Key extends string, Union extends Readonly<Record<Key, string>>> = {
  readonly [Variant in Union[Key]]: (value: Extract<Union, Readonly<Record<Key, Variant>>>) => string;
};

function textOf<Key extends string, Union extends Readonly<Record<Key, string>>>(
  texts: Texts<Key, Union>,
  key: Key,
  value: Union,
): string {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the table's type ties each variant to its function
  const text = texts[value[key]] as (value: Union) => string;
  return text(value);
}

const labelColumns = 11;

export function describeNodeOutlook(outlook: NodeOutlook): string {
  const { node, ready, taints, zone, counted, holds, next, noExecuteTaint, evictions, problems, history } = outlook;
  const wanted = taints.wanted === null ? 'not managed by this process' : `should have ${taintsText(taints.wanted)}`;
  return [
    `node ${node}: Ready is ${ready}; ${silenceText(outlook)}\n`,
    rows([
      ['next', nextText(next)],
      ...holdRows(holds),
      ['heartbeat', heartbeatText(outlook)],
      ['policy', policyText(outlook)],
      ['fencing', outlook.outOfService && textOf(fencingTexts, 'kind', outlook.outOfService)],
      ['flapping', flappingText(outlook)],
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
    ...evictions.first.map((eviction) => `    ${evictionText(eviction)}\n`),
    ending(problems, history),
  ].join('');
}

export function describePodOutlook(outlook: PodOutlook): string {
  const { pod, node, phase, terminating, holds, next, eviction, stays, collection, taints, problems, history } =
    outlook;
  const staying = stays && `none: ${textOf(stayReasons, 'why', stays)}`;
  return [
    `pod ${pod}: ${phase}${terminating ? ', terminating' : ''}, ${node === null ? 'not bound' : `on node ${node}`}\n`,
    rows([
      ['next', nextText(next)],
      ...holdRows(holds),
      ['eviction', eviction === null ? staying : `${evictionText(eviction)}, ${givenText(eviction.given)}`],
      ['collection', collection && collectionText(collection)],
      ['taints', taints.length === 0 ? 'no NoExecute taint on its node' : `${taints.length} NoExecute`],
    ]),
    ...taints.map((countdown) => `    ${countdownText(countdown)}\n`),
    ending(problems, history),
  ].join('');
}

export function describeStatus(status: StatusOutlook): string {
  const { at, mode, runs, shadow, leading, leader, holds, informers, zones, evictions, podGc, history } = status;
  const leadership = `${leading ? 'leading' : 'standing by'}; leader: ${leader ?? 'unknown'}`;
  const parts = (['nodeLifecycle', 'taintEviction', 'podGc'] as const).filter((part) => runs[part]);
  const first = evictions.first === null ? '' : `, the first ${estimateText(evictions.first)}`;
  return [
    `${shadow ? 'shadow mode: nothing is written, no leader election' : leadership} (${at})\n`,
    rows([
      ...holdRows(holds),
      ['runs', `${parts.map((part) => controllerNames[part]).join(', ')}; ${mode} mode`],
      ...configFileRows(status),
      ...policyObjectsRows(status),
      ...status.policies.map((count): Row => ['policy', policyCountText(count)]),
      ...lifecycleRows(status),
      ['evictions', runs.taintEviction ? `${evictions.scheduled} scheduled${first}` : null],
      ['collection', podGc && podGcText(podGc)],
      ...informers.map((informer): Row => ['informer', informerText(informer)]),
    ]),
    describeZones(zones),
    ending([], history),
  ].join('');
}

/** One paragraph each. */
export function describeZones(zones: readonly ZoneOutlook[]): string {
  return zones.length === 0 ? 'no zones\n' : zones.map(describeZone).join('');
}

export function describeHold(hold: Hold): string {
  const ways = hold.unblockedBy.map((way) => textOf(unblockers, 'kind', way));
  return `${textOf(holdReasons, 'kind', hold)}; would end: ${ways.join(', or ')}`;
}

function rows(all: readonly Row[]): string {
  return all.map(([label, text]) => (text === null ? '' : `  ${label.padEnd(labelColumns)}${text}\n`)).join('');
}

function holdRows(holds: readonly Hold[]): readonly Row[] {
  return holds.length === 0 ? [['holds', 'none']] : holds.map((hold) => ['held', describeHold(hold)]);
}

/** Malformed fields and the history: the last lines of a page. */
function ending(problems: readonly string[], history: readonly HistoryLine[]): string {
  const malformed = problems.map((problem): Row => ['malformed', problem]);
  if (history.length === 0) return rows([...malformed, ['history', 'none']]);
  return `${rows(malformed)}  history\n${history.map(({ at, text }) => `    ${at}  ${text}\n`).join('')}`;
}

function secondsText(seconds: number): string {
  return `${Number(seconds.toFixed(seconds < 10 ? 1 : 0))}s`;
}

function estimateText({ at, inSeconds }: Estimate): string {
  if (at === null || inSeconds === null) return 'not in the current state';
  return inSeconds === 0 ? 'now' : `in about ${secondsText(inSeconds)} (${at})`;
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

function nextText({ act, subject, given, when }: NextAction): string {
  const what = acts[act](subject ?? '');
  return when === null ? what : `${what}: ${conditionalText({ when, given })}`;
}

const holdReasons: Texts<'kind', Hold> = {
  'not-leader': () => 'this replica is not the leader: it writes nothing and evaluates no zone',
  shadow: () => 'shadow mode: nothing is written, and what is shown here is what would be done',
  observed: ({ policy }) =>
    `policy ${policy} has mode Observe: nothing is written, and what is shown here is what would be done`,
  paused: ({ source }) => `paused by ${describeHoldSource(source)}: only recovery goes on`,
  maintenance: ({ policy }) =>
    `in planned maintenance (policy ${policy}), so it gets no NoExecute taint and its pods are not evicted for its health`,
  breaker: ({ policy, ...count }) =>
    `the breaker of policy ${policy} is open: ${describeBreakerCount(count)}; its nodes get no NoExecute taint, and no pod is evicted for the health of its node`,
  stale: ({ reason }) => `watch streams are stale (${reason}), so node health evaluation is paused`,
  concurrency: ({ policy, max }) =>
    `at most ${max} of the nodes of policy ${policy} are emptied at once (maxConcurrentEvictions), so this one gets no NoExecute taint now`,
  refused: ({ why, message, since }) =>
    `waits for ${why === 'budget' ? 'a PodDisruptionBudget' : `the Eviction API (${why})`} since ${since.at}: ${message}`,
  'deletion-rate': ({ policy, ratePerSecond, ahead }) =>
    `waits for a token of policy ${policy} (podDeletionsPerSecond ${ratePerSecond}), ${ahead} ahead`,
  unconfirmed: () => 'it looks silent, and its lease could not be read from the API server',
  'not-run': ({ part }) => `this process does not run the ${part}, so its actions are not predicted here`,
  'node-unanswered': ({ node }) => `node ${node} could not be read from the API server`,
  'full-disruption': () => 'all zones are fully disrupted, so no node is tainted and no pod is evicted',
  outage: ({ why }) =>
    `${why.outage}: ${why.together} of ${why.of} nodes in ${why.zonesStruck} of ${why.zones} zones became silent together, so pods stay ready and no node is tainted NoExecute or evicted`,
  'zone-stopped': ({ zone, rule }) => `the eviction rate of zone ${zone} is 0 (${rule})`,
};

const unblockers: Texts<'kind', Unblocker> = {
  'ask-leader': ({ holder }) => (holder === null ? 'a leader is elected' : `ask the leader, ${holder}`),
  'contact-with-api': () => 'the API server is reachable again and nodes had time to renew their leases',
  time: ({ when }) => `the maximum hold ends ${estimateText(when)}`,
  setting: ({ setting, wanted }) => `${setting} set to ${wanted} in the config file`,
  field: ({ object, field, wanted }) => `${field} of ${object} set to ${wanted}`,
  annotation: ({ annotation }) => `annotation ${annotation} removed from the node`,
  'maintenance-cleared': ({ signals }) => signals.map(clearedText).join(' and '),
  'maintenance-maximum': ({ when }) => `the maximum of the maintenance is over ${estimateText(when)}`,
  'cooldown-ends': ({ when }) => `the cooldown ends ${estimateText(when)}`,
  'nodes-healthy': ({ policy, count, cooldownSeconds }) =>
    `${count} of the unhealthy nodes of policy ${policy} healthy again, and then a cooldown of ${secondsText(cooldownSeconds)}`,
  'eviction-allowed': () => 'the eviction is allowed',
  'refusal-timeout': ({ when }) => `it is deleted ${estimateText(when)}`,
  token: ({ when }) => `its token is there ${estimateText(when)}`,
  'node-emptied': ({ nodes }) => `${anyOf(nodes)} emptied or recovered`,
  'pause-ends': ({ when }) => `the pause ends ${estimateText(when)}`,
  permission: ({ needed }) => `RBAC grants ${needed}`,
  'nodes-ready': ({ zone, count }) =>
    `${count} of the unready nodes of ${zone === null ? 'any zone' : `zone ${zone}`} ready again`,
  'api-answers': () => 'the API server answers',
  flag: ({ flag, wanted }) => `--${flag} ${wanted}`,
};

const namesShownMax = 5;

function anyOf(names: readonly string[]): string {
  const more = names.length > namesShownMax ? ` or ${names.length - namesShownMax} more` : '';
  return `${names.length === 1 ? '' : 'one of '}${names.slice(0, namesShownMax).join(', ')}${more}`;
}

function clearedText({ kind, name }: MaintenanceSignal): string {
  return kind === 'condition' ? `condition ${name} no longer True` : `taint ${name} removed`;
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
const graceFields = { monitor: 'nodeMonitorGracePeriod', startup: 'nodeStartupGracePeriod' } as const;

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
  if (policy.name !== null) return `${policy.name}, mode ${policy.mode}${source}`;
  if (policy.conflict.length === 0) return 'default: no policy selects this node';
  return `default: ${policy.conflict.join(' and ')} have equal priority and equally many requirements`;
}

const fencingTexts: Texts<'kind', NonNullable<NodeOutlook['outOfService']>> = {
  foreign: () => 'another client added the taint out-of-service',
  unproven: () => 'nothing proves that it was fenced: no taint out-of-service',
  malformed: () => `the annotation ${outOfServiceAnnotation} is malformed: the taint out-of-service stays as it is`,
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

function queueText({ line, zone, outerZone }: NodeOutlook): string | null {
  const outer = outerZone === undefined ? '' : `; ${outerZone.zone}: ${bucketText(outerZone, 'tokens left')}`;
  return line && `${line.ahead} ahead, ${line.waiting} waiting; ${bucketText(zone, 'tokens left')}${outer}`;
}

function bucketText({ line: { tokens, nextToken } }: ZoneOutlook, unit: string): string {
  return `${tokens} ${unit}, next token: ${estimateText(nextToken)}`;
}

function nodeEvictionText({ eviction }: NodeOutlook): string | null {
  if (eviction === null) return null;
  const { mark, due, turn, given } = eviction;
  if (turn === null) return `${mark}: its pods are deleted, and so is every pod bound to it later, until it is Ready`;
  const time = due === null ? '' : `timeout ends: ${estimateText(due)}; `;
  return `${mark}: ${time}pods deleted: ${conditionalText({ when: turn, given })}`;
}

function evictionCountsText({ evictions: { scheduled, predicted, spared }, eviction }: NodeOutlook): string {
  return `${scheduled} scheduled, ${predicted} predicted${eviction === null ? '' : `, ${spared} of DaemonSets kept`}`;
}

const stayReasons: Texts<'why', StayOutlook> = {
  'already-terminating': () => 'it is already terminating; only its kubelet can complete the deletion',
  'not-run': ({ part }) => `not predicted here: this process does not run the ${part}`,
  'not-bound': () => 'it is not bound to a node',
  'node-unknown': () => 'its node does not exist',
  'daemon-set': ({ daemonSet }) => `DaemonSet ${daemonSet} selects it and would create it again on the same node`,
  'tolerates-forever': () => 'it tolerates all NoExecute taints of its node without a time limit',
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
  terminated: 'more terminated pods exist than are kept, and it is among the oldest',
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

function keptText({ finished, threshold }: FinishedFacts): string {
  return `${finished} terminated pods, ${threshold ?? 'all'} are kept`;
}

function podGcText(podGc: PodGcFacts): string {
  const { nextRound, missingNodes } = podGc;
  const missing = missingNodes === 0 ? '' : `; ${missingNodes} nodes that pods are bound to do not exist`;
  return `next round ${estimateText(nextRound)}; ${keptText(podGc)}${missing}`;
}

function zoneText({ zone, arithmetic }: ZoneOutlook): string {
  return `${zone}: ${arithmetic === null ? 'not evaluated yet' : arithmetic.reading}`;
}

function describeZone(outlook: ZoneOutlook): string {
  const { waiting, first } = outlook.line;
  const shown = waiting === 0 ? '' : `: ${first.join(', ')}${waiting > first.length ? ', …' : ''}`;
  return `zone ${zoneText(outlook)}\n${rows([
    ['queue', `${waiting} waiting${shown}`],
    ['tokens', bucketText(outlook, 'left')],
    ...outlook.holds.map((hold): Row => ['held', describeHold(hold)]),
  ])}`;
}

function configFileRows({ configFile }: StatusOutlook): readonly Row[] {
  if (configFile === null) return [];
  const { path, problems, waiting } = configFile;
  return [
    ['config', `${path}${problems.length === 0 ? '' : ' is invalid: the previous settings are in force'}`],
    ...problems.map((problem): Row => ['invalid', problem]),
    ...waiting.map(({ setting, from, to }): Row => ['restart', `needed for ${setting} ${from} -> ${to}`]),
  ];
}

function policyObjectsRows({ policyObjects }: StatusOutlook): readonly Row[] {
  if (policyObjects === undefined) return [];
  const { inForce, refused, annotations } = policyObjects;
  return [
    ['policies', `${inForce} NodeLifecyclePolicy objects in force`],
    ...refused.map(({ object, problems, generation }): Row => {
      const meanwhile = generation === null ? 'it is not in force' : `generation ${generation} stays in force`;
      return ['invalid', `${object}: ${problems.join('; ')}; ${meanwhile}`];
    }),
    ...annotations.map(({ object, problem }): Row => ['invalid', `${object}: ${problem}`]),
  ];
}

function policyCountText({ policy, mode, nodes, conflicts, breaker, flapping, emptying }: PolicyCount): string {
  const parts = [
    `${policy}: mode ${mode}, applies to ${nodes} nodes`,
    ...(conflicts === 0 ? [] : [`${conflicts} nodes are claimed equally by another policy`]),
    ...(breaker === undefined ? [] : [breakerText(breaker)]),
    ...(flapping === undefined ? [] : [`${flapping.kept} flapping nodes kept of at most ${flapping.limit}`]),
    ...(emptying === undefined ? [] : [`${emptying.nodes.length} of at most ${emptying.max} nodes are being emptied`]),
  ];
  return parts.join('; ');
}

function breakerText(breaker: BreakerStatus): string {
  const { maxUnhealthy, openedAtMs, untilMs = Infinity, resetAtMs } = breaker;
  const limit = `${describeBreakerCount(breaker)} (${describeMaxUnhealthy(maxUnhealthy)})`;
  const reset = resetAtMs === undefined ? '' : `, reset at ${formatTime(resetAtMs)}`;
  if (openedAtMs === undefined) return `${limit}, breaker closed${reset}`;
  const end = Number.isFinite(untilMs) ? `, closes at ${formatTime(untilMs)}` : '';
  return `${limit}, breaker open since ${formatTime(openedAtMs)}${end}`;
}

/**
 * Nodes that wait and, in eviction mode, evicted nodes; nothing where this process does not run the node lifecycle
 * controller.
 */
function lifecycleRows({ runs, waiting, evictedNodes }: StatusOutlook): readonly Row[] {
  if (!runs.nodeLifecycle) return [];
  if (evictedNodes === null) return [['queues', `${waiting} nodes wait for a NoExecute taint`]];
  const { timed, evicted } = evictedNodes;
  return [
    ['queues', `${waiting} nodes wait for the deletion of their pods`],
    ['evictions', `${evicted} nodes are evicted; the timeout of ${timed} more has not ended`],
  ];
}

function informerText(informer: InformerFacts): string {
  const { name, state, synced, objects, lastFrame, consecutiveFailures, lastError } = informer;
  const activity = lastFrame === null ? 'no frame received' : `last frame ${secondsText(lastFrame.secondsAgo)} ago`;
  const trouble =
    consecutiveFailures === 0 ? '' : `; ${consecutiveFailures} failures in a row: ${lastError ?? 'unknown'}`;
  return `${name}: ${state}, ${synced ? 'in sync' : 'not in sync'}, ${objects} objects, ${activity}${trouble}`;
}
