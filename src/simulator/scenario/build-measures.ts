// The figures by which two runs of a scenario are compared.
import type { NodeOutcome, ScenarioResult } from './scenario-result.ts';

const briefMs = 60_000;

export interface Measure {
  readonly name: string;
  /** Undefined: it did not happen. */
  readonly value: number | undefined;
  readonly unit: 'seconds' | 'count';
}

/** In the order of a report. Times are from the fault of a node, as median and maximum over the nodes. */
export function buildMeasures(result: ScenarioResult): readonly Measure[] {
  const { outcomes, intervals, intervalMs } = result;
  const requestsMax = intervals.reduce((most, { requests }) => Math.max(most, requests), 0);
  return [
    ...delays('fault to not ready', outcomes, ({ notReadyAtMs }) => notReadyAtMs),
    ...delays('fault to NoExecute', outcomes, ({ noExecuteAtMs }) => noExecuteAtMs),
    ...delays('fault to the first deleted pod', outcomes, ({ firstDeletionAtMs }) => firstDeletionAtMs),
    ...delays('fault to the last deleted pod', outcomes, ({ lastDeletionAtMs }) => lastDeletionAtMs),
    count('episodes of nodes not ready', outcomes.filter(({ notReadyAtMs }) => notReadyAtMs !== undefined).length),
    count('episodes that ended within a minute', outcomes.filter(isBrief).length),
    count('NoExecute taints of nodes', outcomes.filter(({ noExecuteAtMs }) => noExecuteAtMs !== undefined).length),
    count('healthy nodes marked Unknown', result.falseAssessments),
    count('pods deleted', result.podsDeleted),
    count('pods moved needlessly', result.podsMovedNeedlessly),
    count('recoveries of flapping nodes that were kept', result.flappingKept),
    count('pods deleted within a minute, at most', result.podsDeletedWithinMinuteMax),
    count('requests of the controller', sum(Object.values(result.requests))),
    count(`requests per second, mean of the busiest ${intervalMs / 1_000}s`, requestsMax / (intervalMs / 1_000)),
  ];
}

function delays(
  name: string,
  outcomes: readonly NodeOutcome[],
  end: (outcome: NodeOutcome) => number | undefined,
): readonly Measure[] {
  const seconds = outcomes
    .flatMap((outcome) => {
      const [from, to] = [outcome.faultAtMs, end(outcome)];
      return from === undefined || to === undefined || to < from ? [] : [(to - from) / 1_000];
    })
    .sort((a, b) => a - b);
  return [
    { name: `${name}, median`, value: median(seconds), unit: 'seconds' },
    { name: `${name}, maximum`, value: seconds.at(-1), unit: 'seconds' },
  ];
}

/** Median of sorted numbers; of an even number of them the mean of the two in the middle. */
function median(sorted: readonly number[]): number | undefined {
  const [low, high] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[Math.floor(sorted.length / 2)]];
  return low === undefined || high === undefined ? undefined : (low + high) / 2;
}

/** The node was ready again soon: a longer grace period would not have marked it. */
function isBrief({ notReadyAtMs, readyAtMs }: NodeOutcome): boolean {
  return notReadyAtMs !== undefined && readyAtMs !== undefined && readyAtMs - notReadyAtMs <= briefMs;
}

function count(name: string, value: number): Measure {
  return { name, value, unit: 'count' };
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
