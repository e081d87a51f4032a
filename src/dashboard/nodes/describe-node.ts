import { describeState } from '../describe-state.ts';
import { formatCount, formatCounted } from '../page/format-number.ts';
import { formatClock, formatCountdown, formatDuration } from '../page/format-time.ts';
import type { NodeCell, ZoneRow } from '../protocol.ts';

/** What happens next and when: `NoExecute taint in 0:42`. */
export function describeNext({ next }: NodeCell, nowMs: number): string {
  if (next === null) return 'nothing';
  if (next.at === null) return next.what;
  const left = formatCountdown((Date.parse(next.at) - nowMs) / 1_000);
  return left === 'now' ? `${next.what} now` : `${next.what} in ${left}`;
}

/** One sentence for a screen reader. */
export function describeNode(node: NodeCell, nowMs: number): string {
  const parts = [
    `${node.name}, zone ${node.zone}`,
    `${describeState(node.state).label} since ${formatClock(node.since, nowMs)}`,
    formatCounted(node.pods, 'pod'),
    ...(node.held === null ? [] : [`held: ${node.held}`]),
    `next: ${describeNext(node, nowMs)}`,
  ];
  return `${parts.join('; ')}.`;
}

/** What waits in the queue of a zone, and until when; null if nothing waits. */
export function describeQueue(zone: ZoneRow | undefined): string | null {
  if (zone === undefined || zone.waiting === null || zone.waiting === 0) return null;
  const drained = zone.drainSeconds === null ? '' : `, drains in ${formatDuration(zone.drainSeconds)}`;
  return `${formatCount(zone.waiting)} waiting${drained}`;
}
