import { describeEstimate, describeHistory, describeHolds, describeLine, describeSeconds } from './describe-values.ts';
import { describeZones } from './describe-zone-outlook.ts';
import type { InformerOutlook, StatusOutlook } from './outlook.ts';

/** The status as a page for people: the same values, in words. */
export function describeStatus(status: StatusOutlook): string {
  const { leading, leader, holds, informers, zones, waiting, evictions, history } = status;
  const first = evictions.first === null ? '' : `, the first ${describeEstimate(evictions.first)}`;
  return [
    `${leading ? 'leading' : 'standing by'}; leader: ${leader ?? 'unknown'} (${status.at})\n`,
    describeHolds(holds),
    describeLine('lines', `${waiting} nodes wait for a NoExecute taint`),
    describeLine('evictions', `${evictions.scheduled} scheduled${first}`),
    ...informers.map((informer) => describeLine('informer', informerText(informer))),
    describeZones(zones),
    describeHistory(history),
  ].join('');
}

function informerText(informer: InformerOutlook): string {
  const { name, state, synced, objects, lastFrame, consecutiveFailures, lastError } = informer;
  const heard = lastFrame === null ? 'never heard' : `heard ${describeSeconds(lastFrame.secondsAgo)} ago`;
  const trouble =
    consecutiveFailures === 0 ? '' : `; ${consecutiveFailures} failures in a row: ${lastError ?? 'unknown'}`;
  return `${name}: ${state}, ${synced ? 'in sync' : 'not in sync'}, ${objects} objects, ${heard}${trouble}`;
}
