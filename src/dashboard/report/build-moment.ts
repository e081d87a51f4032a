// What the dashboard would show at one moment of a simulated run. Virtual time 0 is the epoch.
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
  return { nodes, zones: buildZones(run, nodes, atMs), timeline: buildLines(run.timeline, atMs) };
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

const unreadyStates: ReadonlySet<string> = new Set(['not-ready', 'unreachable', 'tainted', 'emptying']);

/** The controller reports a zone when it changes; before that it is normal, because the scenario begins with ready nodes. */
function buildZones(
  { zoneChanges }: ReportRun,
  nodes: ReadonlyMap<string, NodeCell>,
  atMs: number,
): readonly ZoneRow[] {
  const reported = new Map<string, { readonly condition: string; readonly rate: number }>();
  for (const [changedAtMs, zone, condition, rate] of zoneChanges) {
    if (changedAtMs <= atMs) reported.set(zone, { condition, rate });
  }
  const counts = new Map<string, { nodes: number; unready: number }>();
  for (const zone of reported.keys()) counts.set(zone, { nodes: 0, unready: 0 });
  for (const { zone, state } of nodes.values()) {
    const count = counts.get(zone) ?? { nodes: 0, unready: 0 };
    count.nodes += 1;
    if (unreadyStates.has(state)) count.unready += 1;
    counts.set(zone, count);
  }
  return [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, count]) => ({
      name,
      outer: null,
      condition: reported.get(name)?.condition ?? 'normal',
      ...count,
      ratePerSecond: reported.get(name)?.rate ?? null,
      tokens: null,
      waiting: null,
      drainSeconds: null,
    }));
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
