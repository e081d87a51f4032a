// What `nlc top` draws, as lines. Names come from the cluster: whatever is not printable ASCII is drawn as a question mark,
// so that no control character reaches the terminal and every character has one column.
import { formatColumns } from '../io/format-columns.ts';
import type { TopState } from './decide-key.ts';
import type { TopEviction, TopNode, TopView, TopZone } from './parse-top-view.ts';

export type LineStyle = 'plain' | 'title' | 'head' | 'good' | 'warn' | 'bad' | 'dim';

export interface Line {
  readonly text: string;
  readonly style: LineStyle;
}

interface FrameSize {
  readonly columns: number;
  readonly rows: number;
}

/** Time since the pages were read, by which countdowns have advanced; a message instead of fresh pages. */
interface FrameTime {
  readonly elapsedSeconds: number;
  readonly problem?: string;
}

const holdsMax = 3;
/** Share of the rows for zones, and for pods, at most. */
const sideShare = 0.22;
/** With fewer rows only nodes are shown. */
const rowsForAll = 14;
const keysHelp = 'q quit  / filter  t n s z a sort  r reverse  up/down scroll';

/** One screen: exactly as many lines as it has rows, at most, each cut to its columns. */
export function buildTopFrame(view: TopView, state: TopState, size: FrameSize, time: FrameTime): readonly Line[] {
  const head = buildHead(view, state, time);
  const bodyRows = Math.max(0, size.rows - head.length - 1);
  const body = bodyRows < rowsForAll ? buildNodes(view, state, bodyRows, time) : buildBody(view, state, bodyRows, time);
  const lines = [...head, ...body.slice(0, bodyRows)];
  const filling = Array.from({ length: Math.max(0, size.rows - lines.length - 1) }, () => plain(''));
  return [...lines, ...filling, buildPrompt(state)].slice(-size.rows).map((line) => cut(line, size.columns));
}

/** All tables, for output that is no terminal. */
export function buildTopTables(view: TopView, state: TopState, time: FrameTime): readonly Line[] {
  const all = Number.MAX_SAFE_INTEGER;
  return [
    ...buildHead(view, state, time, all),
    plain(''),
    ...buildZones(view, state, all),
    plain(''),
    ...buildNodes(view, state, all, time),
    plain(''),
    ...buildPods(view, state, all, time),
  ];
}

function buildBody(view: TopView, state: TopState, rows: number, time: FrameTime): readonly Line[] {
  const sideRows = Math.floor(rows * sideShare);
  const zones = buildZones(view, state, sideRows);
  const pods = buildPods(view, state, sideRows, time);
  const nodes = buildNodes(view, state, rows - zones.length - pods.length - 3, time);
  return [plain(''), ...zones, plain(''), ...nodes, plain(''), ...pods];
}

function buildHead(view: TopView, { sort, reversed }: TopState, time: FrameTime, holdRows = holdsMax): readonly Line[] {
  const leader = view.leader === '' ? 'no leader known' : `leader ${view.leader}`;
  const order = `by ${sort}${reversed ? ' reversed' : ''}`;
  const title = `${view.at.slice(0, 19)}Z  ${view.role}  ${leader}  ${view.mode} mode  ${order}`;
  const shown = view.holds.slice(0, holdRows).map((hold): Line => ({ text: `held: ${safe(hold)}`, style: 'warn' }));
  const more = view.holds.length - shown.length;
  return [
    { text: safe(title), style: 'title' },
    ...(time.problem === undefined ? [] : [{ text: safe(time.problem), style: 'bad' } as const]),
    ...shown,
    ...(more > 0 ? [{ text: `held: ${more} more`, style: 'warn' } as const] : []),
  ];
}

function buildPrompt({ editing, filter }: TopState): Line {
  if (editing) return { text: `/${safe(filter)}_`, style: 'title' };
  return { text: filter === '' ? keysHelp : `filter: ${safe(filter)}  (Esc clears)  ${keysHelp}`, style: 'dim' };
}

function buildZones({ zones }: TopView, state: TopState, rows: number): readonly Line[] {
  const matching = zones.filter((zone) => isShown(state, zone.name, zone.condition));
  const cells = matching.map((zone) => [
    zone.name,
    zone.condition,
    `${zone.unready}/${zone.size}`,
    String(zone.ratePerSecond),
    zone.tokens.toFixed(1),
    String(zone.waiting),
    drainText(zone),
  ]);
  const styles = matching.map(({ condition }): LineStyle => (condition === 'normal' ? 'plain' : 'warn'));
  return table(['ZONE', 'CONDITION', 'NOT READY', 'RATE/S', 'TOKENS', 'QUEUE', 'DRAINS IN'], { cells, styles, rows });
}

/** Until the queue is empty at this rate. */
function drainText({ waiting, tokens, ratePerSecond }: TopZone): string {
  if (waiting === 0) return '-';
  return ratePerSecond === 0 ? 'stopped' : ageText(Math.max(0, waiting - tokens) / ratePerSecond);
}

function buildNodes(view: TopView, state: TopState, rows: number, time: FrameTime): readonly Line[] {
  const nodes = selectNodes(view, state);
  const offset = Math.min(state.offset, Math.max(0, nodes.length - 1));
  const visible = nodes.slice(offset);
  const cells = visible.map((node) => nodeCells(node, time));
  const styles = visible.map((node) => nodeStyle(node));
  const unread = view.nodesTotal - view.nodes.length;
  const title = `NODE (${nodes.length}${unread > 0 ? `, ${unread} not read` : ''})`;
  const head = [title, 'ZONE', 'STATE', 'SINCE', 'PODS', 'NEXT', 'IN', 'HELD BY'];
  return table(head, { cells, styles, rows });
}

/** Nodes that match the filter, in the chosen order. */
export function selectNodes({ nodes }: TopView, state: TopState): readonly TopNode[] {
  const matching = nodes.filter(({ name, zone, state: nodeState, act, holds }) =>
    isShown(state, name, zone, nodeState, act, ...holds),
  );
  const sorted = matching.sort((a, b) => compareBy(state.sort, a, b) || compare(a.name, b.name));
  return state.reversed ? sorted.reverse() : sorted;
}

function compareBy(sort: TopState['sort'], a: TopNode, b: TopNode): number {
  if (sort === 'next') return compare(a.inSeconds ?? Infinity, b.inSeconds ?? Infinity);
  if (sort === 'since') return compare(b.sinceSeconds ?? -1, a.sinceSeconds ?? -1);
  return compare(a[sort], b[sort]);
}

function compare<T extends number | string>(a: T, b: T): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function nodeCells(node: TopNode, { elapsedSeconds }: FrameTime): readonly string[] {
  const { name, zone, state, sinceSeconds, pods, act, inSeconds, holds } = node;
  return [
    name,
    zone,
    state,
    sinceSeconds === undefined ? '-' : ageText(sinceSeconds + elapsedSeconds),
    String(pods),
    act === '' ? '-' : act,
    act === '' ? '-' : dueText(inSeconds, elapsedSeconds),
    holds.length === 0 ? '-' : holds.join(','),
  ];
}

function nodeStyle({ state, holds }: TopNode): LineStyle {
  if (state === 'maintenance' || state === 'paused' || holds.length > 0) return 'dim';
  return state === 'tainted' || state === 'emptying' || state === 'unreachable' ? 'bad' : 'warn';
}

function buildPods(view: TopView, state: TopState, rows: number, { elapsedSeconds }: FrameTime): readonly Line[] {
  const evictions = view.evictions.filter(({ pod, node }) => isShown(state, pod, node));
  const cells = evictions.map(({ pod, node, inSeconds }: TopEviction) => [
    pod,
    node,
    dueText(inSeconds, elapsedSeconds),
  ]);
  return table([`POD (${view.evictionsTotal} due)`, 'NODE', 'IN'], { cells, styles: [], rows });
}

function isShown({ filter }: TopState, ...texts: readonly string[]): boolean {
  const wanted = filter.toLowerCase();
  return texts.some((text) => text.toLowerCase().includes(wanted));
}

function dueText(inSeconds: number | undefined, elapsedSeconds: number): string {
  if (inSeconds === undefined) return 'held';
  const left = inSeconds - elapsedSeconds;
  return left <= 0 ? 'now' : ageText(left);
}

/** Age as kubectl prints it, with seconds up to ten minutes: `45s`, `2m10s`, `12m`, `3h`, `2d`. */
function ageText(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 120) return `${whole}s`;
  if (whole < 600) return `${Math.floor(whole / 60)}m${whole % 60}s`;
  if (whole < 7_200) return `${Math.floor(whole / 60)}m`;
  return whole < 172_800 ? `${Math.floor(whole / 3_600)}h` : `${Math.floor(whole / 86_400)}d`;
}

interface Table {
  readonly cells: readonly (readonly string[])[];
  readonly styles: readonly LineStyle[];
  /** The head included. */
  readonly rows: number;
}

function table(head: readonly string[], { cells, styles, rows }: Table): readonly Line[] {
  const shown = cells.slice(0, Math.max(0, rows - 1)).map((row) => row.map(safe));
  const [first = '', ...lines] = formatColumns([head, ...shown]);
  return [
    { text: first, style: 'head' } as const,
    ...lines.map((text, index): Line => ({ text, style: styles[index] ?? 'plain' })),
  ].slice(0, Math.max(0, rows));
}

function safe(text: string): string {
  return text.replace(/[^\x20-\x7e]/gu, '?');
}

function plain(text: string): Line {
  return { text, style: 'plain' };
}

function cut({ text, style }: Line, columns: number): Line {
  return { text: text.slice(0, columns), style };
}
