import { describeState } from '../describe-state.ts';
import { type NodeCell, nodeStates, type ZoneRow } from '../protocol.ts';
import { buildTally } from '../nodes/select-nodes.ts';
import { formatCount, formatCounted } from '../page/format-number.ts';
import { formatCountdown, formatDuration } from '../page/format-time.ts';
import type { DashboardState } from '../stream/merge-delta.ts';

const zonesShownMax = 3;

/** The state of the cluster in sentences: how many nodes are not ready and where, what waits, what is due next. */
export function describeSituation(state: DashboardState, nowMs: number): readonly string[] {
  const nodes = [...state.nodes.values()];
  if (nodes.length === 0) return ['The cluster has no nodes.'];
  return [
    describeReady(nodes),
    ...describeZones(state.zones),
    ...describeQueues(state.zones),
    describeDue(state, nowMs),
  ];
}

/** How many nodes are ready, and the states of the others: one sentence. */
export function describeReady(nodes: readonly NodeCell[]): string {
  const tally = buildTally(nodes);
  if (tally.ready === nodes.length) return `All ${formatCounted(nodes.length, 'node')} are ready.`;
  const others = nodeStates
    .filter((state) => state !== 'ready' && tally[state] > 0)
    .map((state) => `${formatCount(tally[state])} ${describeState(state).label.toLowerCase()}`);
  return `${formatCount(tally.ready)} of ${formatCounted(nodes.length, 'node')} are ready; ${others.join(', ')}.`;
}

function describeZones(zones: readonly ZoneRow[]): readonly string[] {
  const disrupted = zones.filter(({ condition }) => isDisrupted(condition));
  if (disrupted.length === 0) return [];
  const shown = disrupted.slice(0, zonesShownMax).map(({ name, condition }) => `${name} is ${condition ?? ''}`);
  const more = disrupted.length - shown.length;
  return [`Zones: ${shown.join(', ')}${more === 0 ? '' : ` and ${more} more`}.`];
}

/** Conditions are normal, or a kind of disruption. */
export function isDisrupted(condition: string | null): boolean {
  return condition !== null && /disrupt/iu.test(condition);
}

function describeQueues(zones: readonly ZoneRow[]): readonly string[] {
  const queues = zones.filter(({ waiting }) => waiting !== null && waiting > 0);
  if (queues.length === 0) return [];
  const waiting = queues.reduce((sum, zone) => sum + (zone.waiting ?? 0), 0);
  const stopped = queues.filter(({ ratePerSecond }) => ratePerSecond === 0).length;
  const drains = queues.flatMap(({ drainSeconds }) => drainSeconds ?? []);
  const drained =
    drains.length === 0 ? '' : `, the last queue is empty in about ${formatDuration(Math.max(...drains))}`;
  const stop = stopped === 0 ? '' : `, the rate of ${formatCounted(stopped, 'zone')} is 0`;
  return [`${formatCounted(waiting, 'node')} wait${waiting === 1 ? 's' : ''} in queues${drained}${stop}.`];
}

function describeDue({ cluster: { evictions, evictionsTotal } }: DashboardState, nowMs: number): string {
  const [first] = evictions;
  if (first === undefined) return 'No eviction is due.';
  const left = formatCountdown((Date.parse(first.at) - nowMs) / 1_000);
  return `${formatCounted(evictionsTotal, 'eviction')} due, the first ${left === 'now' ? 'now' : `in ${left}`}.`;
}
