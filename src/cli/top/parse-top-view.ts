// What `nlc top` shows, from the JSON pages of a controller. Fields of the wrong type are read as empty: the controller may
// have another version.
import { type JsonMap, listOf, mapOf, mapsOf, textOf } from '../../machinery/api/json-map.ts';
import { describeHold } from '../../controller/report/text/describe-holds.ts';

export interface TopZone {
  readonly name: string;
  readonly condition: string;
  readonly unready: number;
  readonly size: number;
  readonly ratePerSecond: number;
  readonly tokens: number;
  readonly waiting: number;
}

export interface TopNode {
  readonly name: string;
  readonly zone: string;
  readonly state: string;
  /** When the pages were read. Undefined: not known. */
  readonly sinceSeconds: number | undefined;
  readonly pods: number;
  /** Empty: nothing. */
  readonly act: string;
  /** Undefined: not in the current state. */
  readonly inSeconds: number | undefined;
  readonly holds: readonly string[];
}

export interface TopEviction {
  readonly pod: string;
  readonly node: string;
  readonly inSeconds: number | undefined;
}

export interface TopView {
  readonly at: string;
  readonly leader: string;
  readonly role: 'leading' | 'standing by' | 'shadow mode';
  readonly mode: string;
  readonly holds: readonly string[];
  readonly zones: readonly TopZone[];
  readonly nodes: readonly TopNode[];
  /** Number of all such nodes, listed or not. */
  readonly nodesTotal: number;
  readonly evictions: readonly TopEviction[];
  readonly evictionsTotal: number;
}

interface TopPages {
  readonly status: unknown;
  readonly nodes: unknown;
  readonly evictions: unknown;
}

export function parseTopView(pages: TopPages): TopView {
  const [status, nodes, evictions] = [mapOf(pages.status), mapOf(pages.nodes), mapOf(pages.evictions)];
  return {
    at: textOf(status['at']),
    leader: textOf(status['leader']),
    role: parseRole(status),
    mode: textOf(status['mode']),
    holds: mapsOf(status['holds']).map(parseHold),
    zones: mapsOf(status['zones']).map(parseZone),
    nodes: mapsOf(nodes['nodes']).map(parseNode),
    nodesTotal: parseNumber(nodes['total']) ?? 0,
    evictions: mapsOf(evictions['evictions']).map(parseEviction),
    evictionsTotal: parseNumber(evictions['total']) ?? 0,
  };
}

function parseRole({ leading, shadow }: JsonMap): TopView['role'] {
  if (shadow === true) return 'shadow mode';
  return leading === true ? 'leading' : 'standing by';
}

/** Hold as a sentence; its kind if this version does not know it. */
function parseHold(hold: JsonMap): string {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what does not have this type throws, or is shown as undefined
    return describeHold(hold as unknown as Parameters<typeof describeHold>[0]);
  } catch {
    return textOf(hold['kind']);
  }
}

function parseZone(zone: JsonMap): TopZone {
  const arithmetic = mapOf(zone['arithmetic']);
  // Older controllers name it `line`.
  const queue = mapOf(zone['queue'] ?? zone['line']);
  return {
    name: textOf(zone['zone']),
    condition: textOf(zone['condition']),
    unready: parseNumber(arithmetic['unready']) ?? 0,
    size: parseNumber(arithmetic['size']) ?? 0,
    ratePerSecond: parseNumber(zone['ratePerSecond']) ?? 0,
    tokens: parseNumber(queue['tokens']) ?? 0,
    waiting: parseNumber(queue['waiting']) ?? 0,
  };
}

function parseNode(node: JsonMap): TopNode {
  const next = mapOf(node['next']);
  const act = textOf(next['act']);
  return {
    name: textOf(node['name']),
    zone: textOf(node['zone']),
    state: textOf(node['state']),
    sinceSeconds: parseNumber(mapOf(node['since'])['secondsAgo']),
    pods: parseNumber(node['pods']) ?? 0,
    act: act === 'none' ? '' : act,
    inSeconds: parseNumber(mapOf(next['when'])['inSeconds']),
    holds: listOf(node['holds']).map(textOf),
  };
}

function parseEviction(eviction: JsonMap): TopEviction {
  return {
    pod: textOf(eviction['pod']),
    node: textOf(eviction['node']),
    inSeconds: parseNumber(mapOf(eviction['when'])['inSeconds']),
  };
}

function parseNumber(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
