// The data of the page that shows the runs of a simulation over virtual time.
import { nodeStates } from '../../dashboard/protocol.ts';
import type { Report, ReportRun, ReportState } from '../../dashboard/report/report-data.ts';
import { formatGoDuration } from '../../machinery/api/go-duration.ts';
import { buildMeasures } from '../../simulator/scenario/build-measures.ts';
import { describeMeasure, describeResult, describeSettings } from '../../simulator/scenario/describe-result.ts';
import type { Scenario } from '../../simulator/scenario/scenario.ts';
import type { ScenarioResult } from '../../simulator/scenario/scenario-result.ts';
import type { ScenarioRecording } from '../../simulator/scenario/state-recorder.ts';

/** A run and what was recorded of it. */
export interface RecordedRun {
  readonly result: ScenarioResult;
  readonly recording: ScenarioRecording;
}

const samplesMax = 5_000;
/** A recording has all states but the pause. */
const states: readonly ReportState[] = [...nodeStates.filter((state) => state !== 'paused'), 'gone'];

/** `runs`: one, or two that are compared. The same runs give the same report. */
export function buildReport(
  { name, description, seed, durationMs }: Scenario,
  runs: readonly [RecordedRun, ...RecordedRun[]],
  version: string,
): Report {
  const [first, second] = runs;
  return {
    name,
    description,
    version,
    seed,
    durationMs,
    runs: runs.map((run, index) => buildRun(run, second === undefined ? '' : index === 0 ? 'A' : 'B')),
    measures: buildRows(runs.map(({ result }) => result)),
    text: describeResult(first.result, second?.result),
  };
}

function buildRun({ result, recording }: RecordedRun, label: string): ReportRun {
  const sampleMs = selectSampleMs(result);
  return {
    label,
    settings: describeSettings(result),
    nodes: recording.nodes.map(({ name, zone }) => [name, zone]),
    states,
    changes: recording.changes.map(({ atMs, key, value }) => [
      Math.round(atMs),
      key,
      states.indexOf(value.state),
      value.pods,
    ]),
    zoneChanges: result.zoneStates.map(({ atMs, zone, state, nodesPerSecond }) => [
      Math.round(atMs),
      zone,
      state,
      nodesPerSecond,
    ]),
    sampleMs,
    samples: buildSamples(result, sampleMs),
    timeline: recording.decisions.map((line) => ({ ...line, atMs: Math.round(line.atMs) })),
    limits: describeLimits(recording),
  };
}

function describeLimits({ stepMs, decisionsLeftOut }: ScenarioRecording): readonly string[] {
  const limits: string[] = [];
  if (stepMs > 0)
    limits.push(
      `The states of nodes are sampled: those that lasted less than ${formatGoDuration(stepMs)} may be missing.`,
    );
  if (decisionsLeftOut > 0)
    limits.push(`The timeline leaves out ${decisionsLeftOut} decisions between its first and its last ones.`);
  return limits;
}

/** A multiple of the interval of the result, with which there are at most so many samples as the limit. */
function selectSampleMs({ intervals, intervalMs }: ScenarioResult): number {
  return intervalMs * Math.max(1, Math.ceil(intervals.length / samplesMax));
}

function buildSamples({ intervals, intervalMs }: ScenarioResult, sampleMs: number): ReportRun['samples'] {
  const each = sampleMs / intervalMs;
  const samples: ReportRun['samples'][number][] = [];
  for (let from = 0; from < intervals.length; from += each) {
    const part = intervals.slice(from, from + each);
    const total = (of: 'noExecute' | 'deletions' | 'requests'): number =>
      part.reduce((sum, interval) => sum + interval[of], 0);
    const notReady = Object.values(part.at(-1)?.notReady ?? {}).reduce((sum, count) => sum + count, 0);
    samples.push([from * intervalMs, notReady, total('noExecute'), total('deletions'), total('requests')]);
  }
  return samples;
}

function buildRows(results: readonly ScenarioResult[]): Report['measures'] {
  const all = results.map(buildMeasures);
  return (all[0] ?? []).map(({ name }, index) => ({
    name,
    values: all.map((measures) => {
      const measure = measures[index];
      return measure === undefined ? '-' : describeMeasure(measure);
    }),
  }));
}
