// The data of a report of `nlc simulate`, embedded in its page: types only. Times are virtual milliseconds since the beginning
// of the scenario.
import type { NodeState, TimelineLine } from '../protocol.ts';

/** A node that was deleted has no cell. */
export type ReportState = NodeState | 'gone';

/** A node from one moment on: its index in `nodes`, the index of its state in `states`, the number of its pods. */
type ReportChange = readonly [atMs: number, node: number, state: number, pods: number];

/** A zone from one moment on. */
type ReportZoneChange = readonly [atMs: number, zone: string, condition: string, nodesPerSecond: number];

/** In the interval that begins at `atMs`: nodes not ready at its end, NoExecute taints, deleted pods, requests. */
type ReportSample = readonly [atMs: number, notReady: number, noExecute: number, deletions: number, requests: number];

export interface ReportLine extends Omit<TimelineLine, 'id' | 'at'> {
  readonly atMs: number;
}

export interface ReportRun {
  /** `A` or `B`; empty if there is one run. */
  readonly label: string;
  readonly settings: string;
  /** Name and zone. */
  readonly nodes: readonly (readonly [name: string, zone: string])[];
  readonly states: readonly ReportState[];
  /** Changes in the order of time. */
  readonly changes: readonly ReportChange[];
  readonly zoneChanges: readonly ReportZoneChange[];
  readonly sampleMs: number;
  readonly samples: readonly ReportSample[];
  readonly timeline: readonly ReportLine[];
  /** What was left out to limit the size. */
  readonly limits: readonly string[];
}

interface ReportMeasure {
  readonly name: string;
  /** Values as text, one for each run. */
  readonly values: readonly string[];
}

export interface Report {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly seed: number;
  readonly durationMs: number;
  readonly runs: readonly ReportRun[];
  readonly measures: readonly ReportMeasure[];
  /** The report as text. */
  readonly text: string;
}
