// What `nlc top` shows, from the JSON pages of a controller. Fields of the wrong type are read as empty: the controller may
// have another version.
import type {
  Estimate,
  EvictionList,
  ExplainedHold,
  ListedEviction,
  ListedNode,
  NextAction,
  NodeList,
  Past,
  StatusOutlook,
  ZoneOutlook,
} from '../../controller/report/pages.ts';
import { listOf, mapOf, mapsOf, textOf, type Untrusted } from '../../machinery/api/json-map.ts';
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
  const status: Untrusted<StatusOutlook> = mapOf(pages.status);
  const nodes: Untrusted<NodeList> = mapOf(pages.nodes);
  const evictions: Untrusted<EvictionList> = mapOf(pages.evictions);
  return {
    at: textOf(status.at),
    leader: textOf(status.leader),
    role: parseRole(status),
    mode: textOf(status.mode),
    holds: mapsOf(status.holds).map(parseHold),
    zones: mapsOf(status.zones).map(parseZone),
    nodes: mapsOf(nodes.nodes).map(parseNode),
    nodesTotal: parseNumber(nodes.total) ?? 0,
    evictions: mapsOf(evictions.evictions).map(parseEviction),
    evictionsTotal: parseNumber(evictions.total) ?? 0,
  };
}

function parseRole({ leading, shadow }: Untrusted<StatusOutlook>): TopView['role'] {
  if (shadow === true) return 'shadow mode';
  return leading === true ? 'leading' : 'standing by';
}

/** Hold as a sentence; its kind if this version does not know it. */
function parseHold(hold: Untrusted<ExplainedHold>): string {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what does not have this type throws, or is shown as undefined
    return describeHold(hold as ExplainedHold);
  } catch {
    return textOf(hold.kind);
  }
}

function parseZone(zone: Untrusted<ZoneOutlook>): TopZone {
  const arithmetic: Untrusted<NonNullable<ZoneOutlook['arithmetic']>> = mapOf(zone.arithmetic);
  const queue: Untrusted<ZoneOutlook['queue']> = mapOf(zone.queue);
  return {
    name: textOf(zone.zone),
    condition: textOf(zone.condition),
    unready: parseNumber(arithmetic.unready) ?? 0,
    size: parseNumber(arithmetic.size) ?? 0,
    ratePerSecond: parseNumber(zone.ratePerSecond) ?? 0,
    tokens: parseNumber(queue.tokens) ?? 0,
    waiting: parseNumber(queue.waiting) ?? 0,
  };
}

function parseNode(node: Untrusted<ListedNode>): TopNode {
  const next: Untrusted<NextAction> = mapOf(node.next);
  const since: Untrusted<Past> = mapOf(node.since);
  const act = textOf(next.act);
  return {
    name: textOf(node.name),
    zone: textOf(node.zone),
    state: textOf(node.state),
    sinceSeconds: parseNumber(since.secondsAgo),
    pods: parseNumber(node.pods) ?? 0,
    act: act === 'none' ? '' : act,
    inSeconds: parseInSeconds(next.when),
    holds: listOf(node.holds).map(textOf),
  };
}

function parseEviction(eviction: Untrusted<ListedEviction>): TopEviction {
  return {
    pod: textOf(eviction.pod),
    node: textOf(eviction.node),
    inSeconds: parseInSeconds(eviction.when),
  };
}

function parseInSeconds(when: unknown): number | undefined {
  const estimate: Untrusted<Estimate> = mapOf(when);
  return parseNumber(estimate.inSeconds);
}

function parseNumber(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
