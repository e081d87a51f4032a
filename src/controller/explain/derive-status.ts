import { formatMicroTime } from '../../api/timestamps.ts';
import { deriveThreshold } from './derive-collection-forecast.ts';
import { deriveHolds } from './derive-holds.ts';
import { deriveEstimate, deriveHistory, derivePast } from './derive-time.ts';
import { deriveZoneOutlook } from './derive-zone-outlook.ts';
import type { Circumstances, InformerFacts, Moment, PodGcFacts, StatusFacts } from './facts.ts';
import type { InformerOutlook, PodGcOutlook, StatusOutlook } from './outlook.ts';

/** The whole controller at a glance: does it lead, does it see, what waits, what holds it. */
export function deriveStatus(facts: StatusFacts, circumstances: Circumstances): StatusOutlook {
  const { now, leading, shadow = false, holder, mode, runs } = circumstances;
  const zones = facts.zones.map((zone) => deriveZoneOutlook(zone, now));
  const { scheduled, firstAtMs } = facts.evictions;
  return {
    at: formatMicroTime(now.wallMs),
    mode,
    runs,
    leading,
    shadow,
    leader: holder ?? null,
    configFile: facts.configFile ?? null,
    holds: [...deriveHolds(circumstances), ...zones.flatMap(({ holds }) => holds)],
    informers: facts.informers.map((informer) => informerOutlook(informer, now)),
    zones,
    waiting: zones.reduce((sum, { line }) => sum + line.waiting, 0),
    evictions: { scheduled, first: firstAtMs === undefined ? null : deriveEstimate(firstAtMs, now) },
    evictedNodes: facts.evictedNodes ?? null,
    podGc: facts.podGc === undefined ? null : podGcOutlook(facts.podGc, circumstances),
    history: deriveHistory(facts.history),
  };
}

function podGcOutlook(
  { finished, threshold, nextRoundAtMs, missingNodes }: PodGcFacts,
  { leading, now }: Circumstances,
): PodGcOutlook {
  const nextRound = deriveEstimate(leading ? nextRoundAtMs : Infinity, now);
  return { finished, threshold: deriveThreshold(threshold), nextRound, missingNodes };
}

function informerOutlook({ lastFrameAtMs, lastError, ...rest }: InformerFacts, now: Moment): InformerOutlook {
  return {
    ...rest,
    lastFrame: lastFrameAtMs === undefined ? null : derivePast(lastFrameAtMs, now),
    lastError: lastError ?? null,
  };
}
