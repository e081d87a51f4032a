// The report of a simulation as text.
import { escapeLine } from '../../machinery/api/format-safe-text.ts';
import { formatGoDuration } from '../../machinery/api/go-duration.ts';
import { buildMeasures, type Measure } from './build-measures.ts';
import type { NodeOutcome, ScenarioResult } from './scenario-result.ts';

const nodesShownMax = 20;

/** One run, or two side by side. The limits of what it says are its last lines. */
export function describeResult(result: ScenarioResult, against: ScenarioResult | undefined): string {
  const { name, nodes, zones, pods, durationMs } = result;
  const zoneText = zones.length === 1 ? '1 zone' : `${zones.length || 'no'} zones`;
  const lines = [
    `${name}: ${nodes} nodes in ${zoneText}, ${pods} pods, ${formatGoDuration(durationMs)} simulated`,
    ...(against === undefined
      ? [`settings: ${describeSettings(result)}`]
      : [`A: ${describeSettings(result)}`, `B: ${describeSettings(against)}`]),
    '',
    ...describeMeasures(result, against),
    '',
    ...describeNodes(result),
    ...describeZones(result),
    'Detection, tainting and eviction are simulated with the code of the controller; the behaviour of workloads and the load',
    'on a real API server are not.',
  ];
  return `${lines.map(escapeLine).join('\n')}\n`;
}

/** Settings that differ from the defaults. */
export function describeSettings({ settings }: ScenarioResult): string {
  return settings.length === 0 ? 'defaults' : settings.join(' ');
}

function describeMeasures(result: ScenarioResult, against: ScenarioResult | undefined): readonly string[] {
  const measures = buildMeasures(result);
  const others = against === undefined ? [] : buildMeasures(against);
  const head = against === undefined ? [] : [['', 'A', 'B']];
  return table([
    ...head,
    ...measures.map((measure, index) => {
      const other = others[index];
      return [measure.name, describeMeasure(measure), ...(other === undefined ? [] : [describeMeasure(other)])];
    }),
  ]);
}

export function describeMeasure({ value, unit }: Measure): string {
  if (value === undefined) return '-';
  return unit === 'seconds' ? `${value.toFixed(1)}s` : String(Math.round(value * 10) / 10);
}

function describeNodes({ outcomes }: ScenarioResult): readonly string[] {
  if (outcomes.length === 0) return ['nothing happened to any node', ''];
  const shown = outcomes.slice(0, nodesShownMax);
  const left = outcomes.length - shown.length;
  return [
    ...table([['NODE', 'FAULT', 'NOT READY', 'NOEXECUTE', 'PODS DELETED', 'READY', 'CLEAN'], ...shown.map(rowOf)]),
    ...(left === 0 ? [] : [`and ${left} more episodes: --output=json has all`]),
    '',
  ];
}

function rowOf(outcome: NodeOutcome): readonly string[] {
  const { node, podsDeleted, firstDeletionAtMs, lastDeletionAtMs } = outcome;
  const span =
    firstDeletionAtMs === lastDeletionAtMs
      ? timeOf(firstDeletionAtMs)
      : `${timeOf(firstDeletionAtMs)}..${timeOf(lastDeletionAtMs)}`;
  return [
    node,
    timeOf(outcome.faultAtMs),
    `${timeOf(outcome.notReadyAtMs)}${outcome.isFalse ? ' (false)' : ''}`,
    timeOf(outcome.noExecuteAtMs),
    podsDeleted === 0 ? '-' : `${podsDeleted} at ${span}`,
    timeOf(outcome.readyAtMs),
    timeOf(outcome.cleanAtMs),
  ];
}

function describeZones({ zoneStates }: ScenarioResult): readonly string[] {
  if (zoneStates.length === 0) return [];
  const rows = zoneStates.map(({ atMs, zone, state, nodesPerSecond }) => [
    timeOf(atMs),
    zone,
    state,
    `${nodesPerSecond} nodes/s`,
  ]);
  return [...table([['TIME', 'ZONE', 'DISRUPTION', 'RATE'], ...rows]), ''];
}

/** Time as minutes and seconds, `1m52.3s`. */
function timeOf(ms: number | undefined): string {
  if (ms === undefined) return '-';
  const tenths = Math.round(ms / 100) / 10;
  const minutes = Math.floor(tenths / 60);
  const seconds = (tenths - minutes * 60).toFixed(1);
  return minutes === 0 ? `${seconds}s` : `${minutes}m${seconds}s`;
}

function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  }
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
