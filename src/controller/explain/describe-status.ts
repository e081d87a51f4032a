import { deriveRunningNames } from './derive-parts.ts';
import { describePodGc } from './describe-collection.ts';
import { describeEstimate, describeHistory, describeHolds, describeLine, describeSeconds } from './describe-values.ts';
import { describeZones } from './describe-zone-outlook.ts';
import type { InformerOutlook, StatusOutlook } from './outlook.ts';

/** The status as a page for people: the same values, in words. */
export function describeStatus(status: StatusOutlook): string {
  const { mode, runs, holds, informers, zones, history } = status;
  return [
    `${describeStanding(status)} (${status.at})\n`,
    describeHolds(holds),
    describeLine('runs', `${deriveRunningNames(runs).join(', ')}; ${mode} mode`),
    ...configFileLines(status),
    ...lifecycleLines(status),
    ...(runs.taintEviction ? [describeLine('evictions', scheduledText(status))] : []),
    ...(status.podGc === null ? [] : [describePodGc(status.podGc)]),
    ...informers.map((informer) => describeLine('informer', informerText(informer))),
    describeZones(zones),
    describeHistory(history),
  ].join('');
}

function describeStanding({ shadow, leading, leader }: StatusOutlook): string {
  if (shadow) return 'in shadow: nothing is written, and nobody leads';
  return `${leading ? 'leading' : 'standing by'}; leader: ${leader ?? 'unknown'}`;
}

function configFileLines({ configFile }: StatusOutlook): readonly string[] {
  if (configFile === null) return [];
  const { path, problems, waiting } = configFile;
  return [
    describeLine('config', `${path}${problems.length === 0 ? '' : ' is refused: older settings are in force'}`),
    ...problems.map((problem) => describeLine('refused', problem)),
    ...waiting.map(({ setting, from, to }) => describeLine('restart', `${setting} ${from} -> ${to} needs one`)),
  ];
}

/** Who waits, and in eviction mode who lost its pods; nothing where nodes are not this process's business. */
function lifecycleLines({ runs, waiting, evictedNodes }: StatusOutlook): readonly string[] {
  if (!runs.nodeLifecycle) return [];
  if (evictedNodes === null) return [describeLine('lines', `${waiting} nodes wait for a NoExecute taint`)];
  const { timed, evicted } = evictedNodes;
  return [
    describeLine('lines', `${waiting} nodes wait for their turn to lose their pods`),
    describeLine('evictions', `${evicted} nodes are evicted; the time of ${timed} more is not up yet`),
  ];
}

function scheduledText({ evictions }: StatusOutlook): string {
  const first = evictions.first === null ? '' : `, the first ${describeEstimate(evictions.first)}`;
  return `${evictions.scheduled} scheduled${first}`;
}

function informerText(informer: InformerOutlook): string {
  const { name, state, synced, objects, lastFrame, consecutiveFailures, lastError } = informer;
  const heard = lastFrame === null ? 'never heard' : `heard ${describeSeconds(lastFrame.secondsAgo)} ago`;
  const trouble =
    consecutiveFailures === 0 ? '' : `; ${consecutiveFailures} failures in a row: ${lastError ?? 'unknown'}`;
  return `${name}: ${state}, ${synced ? 'in sync' : 'not in sync'}, ${objects} objects, ${heard}${trouble}`;
}
