// The report of `nlc whatif` as text: the same values as the JSON.
import { escapeLine } from '../../machinery/api/format-safe-text.ts';
import { formatGoDuration } from '../../machinery/api/go-duration.ts';
import type { PreviewChange, Effects, WhatifReport } from './compare-previews.ts';
import type { NodePreview, PolicyPreview, ZonePreview } from './preview.ts';

const namesShownMax = 10;
const nodesShownMax = 50;
const notPredicted =
  'not predicted: a taint that is added waits, for 5 minutes at most, until it is known which nodes failed with its node';

export function describeWhatif(report: WhatifReport): string {
  const { nodes, zones, policies } = report;
  const shown = nodes.toSorted((a, b) => Number(hasEffect(b)) - Number(hasEffect(a))).slice(0, nodesShownMax);
  const left = nodes.length - shown.length;
  const lines = [
    describeSummary(report),
    ...section('effects', describeEffects(report)),
    ...section(
      'policies',
      policies.map((change) => describeChange(change, describePolicy)),
    ),
    ...section(
      'zones',
      zones.map((change) => describeChange(change, describeZone)),
    ),
    ...section('nodes', [
      ...shown.map((change) => describeChange(change, describeNode)),
      ...(left === 0 ? [] : [`and ${left} more: --output=json has all`]),
    ]),
  ];
  return `${lines.map(escapeLine).join('\n')}\n`;
}

/** More changes than its settings, which come first where not all nodes are shown. */
function hasEffect({ before, after }: PreviewChange<NodePreview>): boolean {
  return JSON.stringify(before && effectsOn(before)) !== JSON.stringify(after && effectsOn(after));
}

function effectsOn({ markedUnknown, noExecute, outOfService, flapping, ...node }: NodePreview): readonly unknown[] {
  return [markedUnknown, noExecute, outOfService, flapping, node.podsEvicted, node.podsHeld, node.podsMarked];
}

function describeSummary({ total, changedNodes, effects, at }: WhatifReport): string {
  const { markedUnknown, taintsAdded, taintsHeld, podsMarked, podsEvicted, podsHeld, breakersOpen, conflicts } =
    effects;
  const parts = [
    `${markedUnknown.length} marked Unknown`,
    `${taintsAdded.length} NoExecute taints added, ${taintsHeld.length} held`,
    `pods marked NotReady ${podsMarked.before} -> ${podsMarked.after}`,
    `pods evicted ${podsEvicted.before} -> ${podsEvicted.after}, held ${podsHeld.before} -> ${podsHeld.after}`,
    `${breakersOpen.length} breakers open`,
    `${conflicts.length} conflicts`,
  ];
  return `${changedNodes} of ${total} nodes change at ${at}: ${parts.join('; ')}`;
}

function describeEffects({ effects, fullDisruption, nodes }: WhatifReport): readonly string[] {
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ['marked Unknown at once', effects.markedUnknown],
    ['no longer marked Unknown', effects.notMarkedUnknown],
    ['Unknown sooner, without a heartbeat', effects.unknownSooner],
    ['Unknown later, without a heartbeat', effects.unknownLater],
    ['pods marked NotReady', effects.marksBegin],
    ['pods no longer marked NotReady', effects.marksEnd],
    ['NoExecute taint added', effects.taintsAdded],
    ['NoExecute taint held or stopped', effects.taintsHeld],
    ['taint out-of-service added', effects.outOfServiceAdded],
    ['evictions begin or are released', effects.evictionsBegin],
    ['evictions held', effects.evictionsHeld],
    ['flapping, kept from new pods', effects.flappingKept],
    ['flapping, released', effects.flappingReleased],
    ['recoveries so far are not known, of policy', effects.recoveriesNotKnown],
    ['breaker opens', effects.breakersOpen],
    ['breaker closes', effects.breakersClose],
    ['no policy, because of a conflict', effects.conflicts.map((name) => withConflict(name, nodes))],
    ['policy matches no node', effects.policiesWithoutNodes],
  ];
  const lines = rows.flatMap(([what, names]) => (names.length === 0 ? [] : [`${what}: ${listNames(names)}`]));
  const { before, after } = fullDisruption;
  const disruption = before || after ? [`full disruption: ${yes(before)} -> ${yes(after)}`] : [];
  const { before: deleted, after: alsoDeleted } = effects.podsNotKept;
  const collected =
    deleted === alsoDeleted ? [] : [`completed pods deleted: ${deleted ?? 'none'} -> ${alsoDeleted ?? 'none'}`];
  return [...lines, ...disruption, ...collected, ...(effects.taintsAdded.length === 0 ? [] : [notPredicted])];
}

function withConflict(name: string, nodes: WhatifReport['nodes']): string {
  const conflict = nodes.find((change) => change.name === name)?.after?.conflict ?? [];
  return conflict.length === 0 ? name : `${name} (${conflict.join(' and ')})`;
}

function listNames(names: Effects['conflicts']): string {
  const left = names.length - namesShownMax;
  return `${names.slice(0, namesShownMax).join(', ')}${left > 0 ? ` and ${left} more` : ''}`;
}

function yes(is: boolean): string {
  return is ? 'yes' : 'no';
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', `${title}:`, ...lines.map((line) => `  ${line}`)];
}

type ReportFields = readonly (readonly [name: string, value: string])[];

/** The fields that differ, with both values; all of them if nothing does, or if it exists under one configuration only. */
function describeChange<T>({ name, before, after }: PreviewChange<T>, fieldsOf: (value: T) => ReportFields): string {
  const [was, is] = [before, after].map((value) => (value === null ? undefined : fieldsOf(value)));
  if (was === undefined || is === undefined)
    return `${name}: ${is === undefined ? 'removed' : 'new'}: ${joinFields(was ?? is ?? [])}`;
  const changes = is.flatMap(([field, value], index): ReportFields => {
    const old = was[index]?.[1] ?? '';
    return old === value ? [] : [[field, `${old} -> ${value}`]];
  });
  return `${name}: ${joinFields(changes.length === 0 ? is : changes)}`;
}

function joinFields(fields: ReportFields): string {
  return fields.map(([name, value]) => `${name} ${value}`).join('; ');
}

function describePolicy({ mode, nodes, conflicts, breaker, flapping }: PolicyPreview): ReportFields {
  const counts = breaker === null ? '' : ` (${breaker.unhealthy} unhealthy, limit ${breaker.limit})`;
  return [
    ['mode', mode],
    ['nodes', String(nodes)],
    ['conflicts', String(conflicts)],
    ['breaker', breaker === null ? 'none' : `${breaker.open ? 'open' : 'closed'}${counts}`],
    ['flapping', flapping === null ? 'none' : `${flapping.kept} kept of at most ${flapping.limit}`],
  ];
}

function describeZone({ nodes, notReady, state, ratePerSecond }: ZonePreview): ReportFields {
  return [
    ['not ready', `${notReady}/${nodes}`],
    ['state', state],
    ['rate', `${ratePerSecond} nodes/s`],
  ];
}

function describeNode(node: NodePreview): ReportFields {
  const { policy, mode, gracePeriodSeconds, earlyFromSeconds, zone, ready, markedUnknown, noExecute, hold, conflict } =
    node;
  const default_ = conflict.length === 0 ? 'default' : `default (${conflict.join(' and ')} claim it equally)`;
  return [
    ['policy', policy ?? default_],
    ['mode', mode],
    ['grace period', formatGoDuration(gracePeriodSeconds * 1_000)],
    ['early detection', earlyFromSeconds === null ? 'none' : `from ${formatGoDuration(earlyFromSeconds * 1_000)} on`],
    ['zone', zone],
    ['Ready', ready],
    ['marked Unknown', markedUnknown],
    ['NoExecute taint', noExecute],
    ['taint out-of-service', node.outOfService],
    ['flapping', node.keptUntil === null ? node.flapping : `${node.flapping} until ${node.keptUntil}`],
    ['held by', hold === null ? 'nothing' : `${hold.what}${hold.until === null ? '' : ` until ${hold.until}`}`],
    ['pods marked NotReady', String(node.podsMarked)],
    ['pods evicted', String(node.podsEvicted)],
    ['pods held', String(node.podsHeld)],
  ];
}
