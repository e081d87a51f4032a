// Holds as text: why nothing is done now, and what would end it.
import { nodeLeaseNamespace } from '../../../machinery/api/resources.ts';
import { describeBreakerCount } from '../../model/decisions.ts';
import { describeHoldSource, describeVeto, type MaintenanceSignal } from '../../model/policy.ts';
import type { ExplainedHold, Unblocker } from '../pages.ts';
import { estimateText, type Row, secondsText, textOf, type Texts } from './format-page.ts';

export function describeHold(hold: ExplainedHold): string {
  const ways = hold.unblockedBy.map((way) => textOf(unblockers, 'kind', way));
  const end = ways.length === 0 ? '' : `; would end: ${ways.join(', or ')}`;
  return `${describeHoldReason(hold)}${end}`;
}

/** A hold as a sentence, without what would end it. */
export function describeHoldReason(hold: ExplainedHold): string {
  return 'words' in hold ? hold.words : textOf(holdReasons, 'kind', hold);
}

/** What ends a hold, without an expected time. */
export function describeUnblocker(unblocker: Unblocker): string {
  return timelessUnblockers[unblocker.kind] ?? textOf(unblockers, 'kind', unblocker);
}

export function holdRows(holds: readonly ExplainedHold[]): readonly Row[] {
  return holds.length === 0 ? [['holds', 'none']] : holds.map((hold) => ['held', describeHold(hold)]);
}

const holdReasons: Texts<'kind', Exclude<ExplainedHold, { readonly words: string }>> = {
  'not-leader': () => 'this replica is not the leader: it writes nothing and evaluates no zone',
  shadow: () => 'shadow mode: nothing is written, and what is shown here is what would be done',
  observed: ({ policy }) =>
    `policy ${policy} has mode Observe: nothing is written, and what is shown here is what would be done`,
  paused: ({ source }) => `paused by ${describeHoldSource(source)}: only recovery goes on`,
  'detect-only': ({ policy }) =>
    `policy ${policy} has mode Detect, so it gets no NoExecute taint and its pods are not evicted for its health`,
  'pods-kept-ready': ({ policy }) =>
    `policy ${policy} has mode Detect with markPods: false, so its pods are not marked NotReady`,
  maintenance: ({ policy }) =>
    `in planned maintenance${policy === null ? '' : ` (policy ${policy})`}, so it gets no NoExecute taint and its pods are not evicted for its health`,
  veto: ({ policy, mark }) =>
    `${describeVeto(mark)} says that it is not to be repaired, which policy ${policy} lets hold: it gets no NoExecute taint and its pods are not evicted for its health`,
  breaker: ({ policy, ...count }) =>
    `the breaker of policy ${policy} is open: ${describeBreakerCount(count)}; its nodes get no NoExecute taint, and no pod is evicted for the health of its node`,
  stale: ({ reason }) => `watch streams are stale (${reason}), so node health evaluation is paused`,
  'stale-pods': () => 'the watch of pods is not open, so none is deleted because of the taints of its node',
  unclassified: () =>
    'it is not known yet whether most nodes failed with it, so its pods stay ready and it gets no NoExecute taint',
  awaited: ({ nodes, count }) =>
    `no heartbeat has come from ${count} more nodes of its zone since it stopped (${nodes.join(', ')}${count > nodes.length ? ', ...' : ''}): if they failed with it, the zone is slower or stops, so it gets no NoExecute taint until that is known`,
  concurrency: ({ policy, max }) =>
    `at most ${max} of the nodes of policy ${policy} are emptied at once (maxConcurrentEvictions), so this one gets no NoExecute taint now`,
  refused: ({ why, message, since }) =>
    `waits for ${why === 'budget' ? 'a PodDisruptionBudget' : `the Eviction API (${why})`} since ${since.at}: ${message}`,
  responder: ({ name, eviction, heartbeat }) =>
    `waits for responder ${name} of Eviction ${eviction}, last heartbeat ${secondsText(heartbeat.secondsAgo)} ago`,
  'deletion-rate': ({ policy, ratePerSecond, ahead }) =>
    `waits for a token of policy ${policy} (podDeletionsPerSecond ${ratePerSecond}), ${ahead} ahead`,
  unconfirmed: () => 'it looks silent, and a live read of its lease does not confirm it',
  'not-run': ({ part }) => `this process does not run the ${part}, so its actions are not predicted here`,
  'node-unanswered': ({ node }) => `node ${node} could not be read from the API server`,
  'full-disruption': () => 'all zones are fully disrupted, so no node is tainted and no pod is evicted',
  outage: ({ why }) =>
    `${why.outage}: ${why.together} of ${why.of} nodes in ${why.zonesStruck} of ${why.zones} zones became silent together, so their pods stay ready, and they are not tainted NoExecute or evicted`,
  'zone-stopped': ({ zone, rule }) => `the eviction rate of zone ${zone} is 0 (${rule})`,
};

const unblockers: Texts<'kind', Unblocker> = {
  'ask-leader': ({ holder }) => (holder === null ? 'a leader is elected' : `ask the leader, ${holder}`),
  'contact-with-api': () => 'the API server is reachable again and nodes had time to renew their leases',
  'leases-exist': () =>
    `it posts its status, its lease exists again, or most leases do: the namespace ${nodeLeaseNamespace} may have been deleted`,
  'pods-watched': () => 'the watch of pods is open again, or --stale-watch-hold is over',
  heartbeats: () => 'enough of the others send a heartbeat',
  'failure-known': ({ when }) => `the others have sent one, or are silent too, ${estimateText(when)}`,
  time: ({ when }) => `the maximum hold ends ${estimateText(when)}`,
  ends: ({ when }) => `it ends ${estimateText(when)}`,
  setting: ({ setting, wanted }) => `${setting} set to ${wanted} in the config file`,
  field: ({ object, field, wanted }) => `${field} of ${object} set to ${wanted}`,
  annotation: ({ annotation }) => `annotation ${annotation} removed from the node`,
  'maintenance-cleared': ({ signals }) => signals.map(clearedText).join(' and '),
  'maintenance-maximum': ({ when }) => `the maximum of the maintenance is over ${estimateText(when)}`,
  silence: () => 'its heartbeats end',
  'cooldown-ends': ({ when }) => `the cooldown ends ${estimateText(when)}`,
  'nodes-healthy': ({ policy, count, cooldownSeconds }) =>
    `${count} of the unhealthy nodes of policy ${policy} healthy again, and then a cooldown of ${secondsText(cooldownSeconds)}`,
  'eviction-allowed': () => 'the eviction is allowed',
  'refusal-timeout': ({ when }) => `it is deleted ${estimateText(when)}`,
  'responder-ends': () => 'the responder completes or sends no more heartbeats',
  token: ({ when }) => `its token is there ${estimateText(when)}`,
  'node-emptied': ({ nodes }) => `${anyOf(nodes)} emptied or recovered`,
  'pause-ends': ({ when }) => `the pause ends ${estimateText(when)}`,
  'window-ends': ({ when }) => `the window of its schedule ends ${estimateText(when)}`,
  'overflow-place': ({ when }) =>
    `it is the next one that limits.overflow empties, ${estimateText(when)} for one of them`,
  'mark-removed': ({ mark }) => `${mark.kind} ${mark.name} removed`,
  'veto-maximum': ({ when }) => `it is unhealthy for longer than vetoes.maxDuration ${estimateText(when)}`,
  'evict-after': ({ when }) => `it is unhealthy for longer than detect.evictAfter ${estimateText(when)}`,
  permission: ({ needed }) => `RBAC grants ${needed}`,
  'nodes-ready': ({ zone, count }) =>
    `${count} of the unready nodes of ${zone === null ? 'any zone' : `zone ${zone}`} ready again`,
  'api-answers': () => 'the API server answers',
  'live-read': () => 'a live read of the node, before anything is done',
  counted: () => 'the next pass, which counts it again',
  flag: ({ flag, wanted }) => `--${flag} ${wanted}`,
};

const timelessUnblockers: Readonly<Partial<Record<Unblocker['kind'], string>>> = {
  time: 'the maximum hold ends',
  ends: 'it ends',
  'maintenance-maximum': 'the maximum of the maintenance is over',
  'cooldown-ends': 'the cooldown ends',
  'refusal-timeout': 'it is deleted',
  token: 'its token is there',
  'pause-ends': 'the pause ends',
  'window-ends': 'the window of its schedule ends',
  'overflow-place': 'it is the next one that limits.overflow empties',
  'veto-maximum': 'it is unhealthy for longer than vetoes.maxDuration',
  'evict-after': 'it is unhealthy for longer than detect.evictAfter',
};

const namesShownMax = 5;

function anyOf(names: readonly string[]): string {
  const more = names.length > namesShownMax ? ` or ${names.length - namesShownMax} more` : '';
  return `${names.length === 1 ? '' : 'one of '}${names.slice(0, namesShownMax).join(', ')}${more}`;
}

function clearedText({ kind, name }: MaintenanceSignal): string {
  return kind === 'condition' ? `condition ${name} no longer True` : `taint ${name} removed`;
}
