// The summary of the controller as text: the same values as the JSON.
import { formatTime } from '../../../machinery/api/timestamps.ts';
import { describeBreakerCount } from '../../model/decisions.ts';
import { controllerNames } from '../../model/options.ts';
import { describeMaxUnhealthy, describeOverflow } from '../../model/policy.ts';
import { holdRows } from './describe-holds.ts';
import { describeZones, keptText } from './describe-outlooks.ts';
import type {
  BreakerOutlook,
  InformerReport,
  PodGcReport,
  PolicyObjectsReport,
  PolicyStatus,
  StatusOutlook,
} from '../pages.ts';
import { ending, estimateText, line, type Row, rows, secondsText } from './format-page.ts';

export function describeStatus(status: StatusOutlook): string {
  const { at, mode, runs, shadow, leading, leader, holds, informers, zones, evictions, podGc, history } = status;
  const leadership = `${leading ? 'leading' : 'standing by'}; leader: ${leader ?? 'unknown'}`;
  const parts = (['nodeLifecycle', 'taintEviction', 'podGc'] as const).filter((part) => runs[part]);
  const first = evictions.first === null ? '' : `, the first ${estimateText(evictions.first)}`;
  return [
    line(`${shadow ? 'shadow mode: nothing is written, no leader election' : leadership} (${at})`),
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

function podGcText(podGc: PodGcReport): string {
  const { nextRound, missingNodes } = podGc;
  const missing = missingNodes === 0 ? '' : `; ${missingNodes} nodes that pods are bound to do not exist`;
  return `next round ${estimateText(nextRound)}; ${keptText(podGc)}${missing}`;
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
      return ['invalid', `${object}: ${problems.join('; ')}; ${meanwhileText(generation)}`];
    }),
    ...annotations.map(({ object, problem }): Row => ['invalid', `${object}: ${problem}`]),
  ];
}

function meanwhileText(generation: PolicyObjectsReport['refused'][number]['generation']): string {
  if (generation === null) return 'it is not in force';
  return generation === 'paused' ? 'the nodes that it selects are paused' : `generation ${generation} stays in force`;
}

function policyCountText(status: PolicyStatus): string {
  const { policy, mode, nodes, conflicts, breaker, flapping, emptying, overdue = 0, stuck, windows = [] } = status;
  const parts = [
    `${policy}: mode ${mode}, applies to ${nodes} nodes`,
    ...windows.map((window) => `in the window ${window}`),
    ...(conflicts === 0 ? [] : [`${conflicts} nodes are claimed equally by another policy`]),
    ...(breaker === undefined ? [] : [breakerText(breaker)]),
    ...(flapping === undefined ? [] : [`${flapping.kept} flapping nodes kept of at most ${flapping.limit}`]),
    ...(overdue === 0 ? [] : [`heartbeats of ${overdue} nodes are overdue`]),
    ...(emptying === undefined ? [] : [`${emptying.nodes.length} of at most ${emptying.max} nodes are being emptied`]),
    ...(stuck === undefined || stuck.pods === 0
      ? []
      : [`${stuck.pods} pods are terminating for too long, one for ${secondsText(stuck.overdueSeconds)}`]),
  ];
  return parts.join('; ');
}

function breakerText(breaker: BreakerOutlook): string {
  const { maxUnhealthy, openedAtMs, untilMs = null, resetAtMs } = breaker;
  const share = maxUnhealthy.percent === undefined ? '' : ` (${describeMaxUnhealthy(maxUnhealthy)})`;
  const limit = `${describeBreakerCount(breaker)}${share}`;
  const reset = resetAtMs === undefined ? '' : `, reset at ${formatTime(resetAtMs)}`;
  if (openedAtMs === undefined) return `${limit}, breaker closed${reset}`;
  const end = untilMs === null ? '' : `, closes at ${formatTime(untilMs)}`;
  const overflow = breaker.overflow === undefined ? '' : `; ${describeOverflow(breaker.overflow)}`;
  return `${limit}, breaker open since ${formatTime(openedAtMs)}${end}${overflow}`;
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

function informerText(informer: InformerReport): string {
  const { name, state, synced, objects, lastFrame, consecutiveFailures, lastError } = informer;
  const activity = lastFrame === null ? 'no frame received' : `last frame ${secondsText(lastFrame.secondsAgo)} ago`;
  const trouble =
    consecutiveFailures === 0 ? '' : `; ${consecutiveFailures} failures in a row: ${lastError ?? 'unknown'}`;
  return `${name}: ${state}, ${synced ? 'in sync' : 'not in sync'}, ${objects} objects, ${activity}${trouble}`;
}
