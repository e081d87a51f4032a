import type { TimelineFilter } from '../page/parse-route.ts';
import type { TimelineLine } from '../protocol.ts';

/** Newest first. */
export function selectTimeline(
  lines: readonly TimelineLine[],
  { kind, text, warnings }: TimelineFilter,
): readonly TimelineLine[] {
  const wanted = text.toLowerCase();
  const isWanted = (line: TimelineLine): boolean =>
    (kind === null || line.kind === kind) &&
    (!warnings || line.warning) &&
    (wanted === '' || searchedText(line).toLowerCase().includes(wanted));
  return lines.filter(isWanted).reverse();
}

function searchedText({ kind, text, node, pod, zone }: TimelineLine): string {
  return [kind, text, node, pod, zone].join('\n');
}

export function selectKinds(lines: readonly TimelineLine[]): readonly string[] {
  return [...new Set(lines.map(({ kind }) => kind))].sort();
}
