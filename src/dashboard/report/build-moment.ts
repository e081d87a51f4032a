// What the dashboard would show at one moment of a simulated run. Virtual time 0 is the epoch.
import { buildZoneRows } from '../build-zone-rows.ts';
import { describeReady } from '../cluster/describe-situation.ts';
import type { NodeCell, TimelineLine, ZoneRow } from '../protocol.ts';
import type { ReportLine, ReportRun, ReportState } from './report-data.ts';

/** The state of a run at one moment. */
export interface Moment {
  readonly nodes: ReadonlyMap<string, NodeCell>;
  readonly zones: readonly ZoneRow[];
  /** Decisions until then, oldest first. */
  readonly timeline: readonly TimelineLine[];
}

/** RFC 3339. */
function formatVirtual(ms: number): string {
  return new Date(ms).toISOString();
}

export function buildMoment(run: ReportRun, atMs: number): Moment {
  const nodes = buildCells(run, atMs);
  return { nodes, zones: buildZones(run, nodes.values(), atMs), timeline: buildLines(run.timeline, atMs) };
}

interface NodeMoment {
  state: ReportState;
  sinceMs: number;
  pods: number;
}

function buildCells({ nodes, states, changes }: ReportRun, atMs: number): ReadonlyMap<string, NodeCell> {
  const moments: (NodeMoment | undefined)[] = [];
  for (const [changedAtMs, node, stateIndex, pods] of changes) {
    if (changedAtMs > atMs) break;
    const state = states[stateIndex] ?? 'ready';
    const known = moments[node];
    const sinceMs = known?.state === state ? known.sinceMs : changedAtMs;
    moments[node] = { state, sinceMs, pods };
  }
  const cells = new Map<string, NodeCell>();
  nodes.forEach(([name, zone], index) => {
    const moment = moments[index];
    if (moment === undefined || moment.state === 'gone') return;
    const { state, sinceMs, pods } = moment;
    cells.set(name, { name, zone, policy: null, state, since: formatVirtual(sinceMs), pods, held: null, next: null });
  });
  return cells;
}

/** The controller reports a zone when it changes; before that it is normal, because the scenario begins with ready nodes. */
function buildZones({ zoneChanges }: ReportRun, cells: Iterable<NodeCell>, atMs: number): readonly ZoneRow[] {
  const changes = zoneChanges.filter(([changedAtMs]) => changedAtMs <= atMs);
  const reported = new Map(changes.map(([, zone, condition, ratePerSecond]) => [zone, { condition, ratePerSecond }]));
  return buildZoneRows(cells, 'normal', reported);
}

function buildLines(lines: readonly ReportLine[], atMs: number): readonly TimelineLine[] {
  return lines
    .filter((line) => line.atMs <= atMs)
    .map(({ atMs: lineMs, ...line }, id) => ({ id, at: formatVirtual(lineMs), ...line }));
}

/** The moments at which a node, a zone or the controller did something, ascending and each once. */
export function selectEventTimes({ changes, timeline }: ReportRun): readonly number[] {
  const times = new Set([...changes.map(([atMs]) => atMs), ...timeline.map(({ atMs }) => atMs)]);
  return [...times].sort((a, b) => a - b);
}

/** One sentence. */
export function describeMoment({ nodes }: Moment): string {
  return describeReady([...nodes.values()]);
}

/** The states of one node, oldest first, each from when to when; undefined: until the end. */
export function buildHistory(run: ReportRun, name: string): readonly StateSpan[] {
  const index = run.nodes.findIndex(([known]) => known === name);
  const spans: StateSpan[] = [];
  for (const [atMs, node, stateIndex] of run.changes) {
    const state = run.states[stateIndex];
    if (node !== index || state === undefined || spans.at(-1)?.state === state) continue;
    const last = spans.at(-1);
    if (last !== undefined) spans[spans.length - 1] = { ...last, untilMs: atMs };
    spans.push({ state, fromMs: atMs, untilMs: undefined });
  }
  return spans;
}

interface StateSpan {
  readonly state: ReportState;
  readonly fromMs: number;
  readonly untilMs: number | undefined;
}
