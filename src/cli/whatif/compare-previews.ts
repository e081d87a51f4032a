// What is different between two previews of one cluster.
import { formatTime } from '../../machinery/api/timestamps.ts';
import type { ClusterPreview, NodePreview, PolicyPreview, ZonePreview } from './preview.ts';

/** Null: it does not exist under this configuration. */
export interface PreviewChange<T> {
  readonly name: string;
  readonly before: T | null;
  readonly after: T | null;
  readonly changed: boolean;
}

export interface WhatifReport {
  /** RFC 3339: when the cluster was read. */
  readonly at: string;
  readonly total: number;
  readonly changedNodes: number;
  readonly effects: Effects;
  readonly fullDisruption: { readonly before: boolean; readonly after: boolean };
  /** Only those that change, unless all are wanted. By name. */
  readonly policies: readonly PreviewChange<PolicyPreview>[];
  readonly zones: readonly PreviewChange<ZonePreview>[];
  readonly nodes: readonly PreviewChange<NodePreview>[];
}

/** Names of nodes or policies, and numbers of pods. */
export interface Effects {
  /** Marked at once because of the new configuration, or no longer; of the others, those that are due sooner or later. */
  readonly markedUnknown: readonly string[];
  readonly notMarkedUnknown: readonly string[];
  readonly unknownSooner: readonly string[];
  readonly unknownLater: readonly string[];
  readonly taintsAdded: readonly string[];
  /** Added before, and held or stopped after it. */
  readonly taintsHeld: readonly string[];
  /** The taint out-of-service, which has pods deleted by force. */
  readonly outOfServiceAdded: readonly string[];
  readonly podsEvicted: { readonly before: number; readonly after: number };
  readonly podsHeld: { readonly before: number; readonly after: number };
  readonly podsMarked: { readonly before: number; readonly after: number };
  /** Completed pods that the pod garbage collector does not keep; null: it does not run. */
  readonly podsNotKept: { readonly before: number | null; readonly after: number | null };
  readonly evictionsBegin: readonly string[];
  readonly evictionsHeld: readonly string[];
  /** More of their pods are marked NotReady, or fewer. */
  readonly marksBegin: readonly string[];
  readonly marksEnd: readonly string[];
  /** Kept from new pods because they recover often, and not before; kept before, and released after it. */
  readonly flappingKept: readonly string[];
  readonly flappingReleased: readonly string[];
  /** Policies that keep flapping nodes: a controller counts the recoveries, and these are not known here. */
  readonly recoveriesNotKnown: readonly string[];
  readonly breakersOpen: readonly string[];
  readonly breakersClose: readonly string[];
  /** Nodes that policies claim equally. */
  readonly conflicts: readonly string[];
  readonly policiesWithoutNodes: readonly string[];
}

interface CompareOptions {
  /** Wall time for which the schedules of policies are evaluated. */
  readonly atMs: number;
  /** Unchanged ones too. */
  readonly all: boolean;
}

export function comparePreviews(
  before: ClusterPreview,
  after: ClusterPreview,
  { atMs, all }: CompareOptions,
): WhatifReport {
  const nodes = changesOf(before.nodes, after.nodes);
  const shown = <T>(changes: readonly PreviewChange<T>[]): readonly PreviewChange<T>[] =>
    changes.filter(({ changed }) => all || changed);
  return {
    at: formatTime(atMs),
    total: nodes.length,
    changedNodes: nodes.filter(({ changed }) => changed).length,
    effects: effectsOf(before, after),
    fullDisruption: { before: before.fullDisruption, after: after.fullDisruption },
    policies: shown(changesOf(before.policies, after.policies)),
    zones: shown(changesOf(before.zones, after.zones)),
    nodes: shown(nodes),
  };
}

function changesOf<T>(before: ReadonlyMap<string, T>, after: ReadonlyMap<string, T>): readonly PreviewChange<T>[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  return names.map((name) => {
    const [was, is] = [before.get(name) ?? null, after.get(name) ?? null];
    return { name, before: was, after: is, changed: JSON.stringify(was) !== JSON.stringify(is) };
  });
}

function effectsOf(before: ClusterPreview, after: ClusterPreview): Effects {
  const where = (holds: (was: NodePreview, is: NodePreview) => boolean): readonly string[] =>
    [...after.nodes].flatMap(([name, is]) => {
      const was = before.nodes.get(name);
      return was !== undefined && holds(was, is) ? [name] : [];
    });
  return {
    markedUnknown: where((was, is) => !isMarked(was) && is.markedUnknown === 'now'),
    notMarkedUnknown: where((was, is) => was.markedUnknown === 'now' && !isMarked(is)),
    unknownSooner: where((was, is) => dueOf(is) < dueOf(was)),
    unknownLater: where((was, is) => dueOf(is) > dueOf(was)),
    taintsAdded: where((before, after) => before.noExecute !== 'added' && after.noExecute === 'added'),
    taintsHeld: where((was, is) => was.noExecute === 'added' && isWaiting(is)),
    outOfServiceAdded: where((was, is) => was.outOfService !== 'added' && is.outOfService === 'added'),
    podsEvicted: totals(before, after, 'podsEvicted'),
    podsHeld: totals(before, after, 'podsHeld'),
    podsMarked: totals(before, after, 'podsMarked'),
    podsNotKept: { before: before.podsNotKept, after: after.podsNotKept },
    evictionsBegin: where((before, after) => after.podsEvicted > before.podsEvicted),
    evictionsHeld: where((before, after) => after.podsHeld > before.podsHeld),
    marksBegin: where((before, after) => after.podsMarked > before.podsMarked),
    marksEnd: where((before, after) => after.podsMarked < before.podsMarked),
    flappingKept: where((was, is) => was.flapping !== 'kept' && is.flapping === 'kept'),
    flappingReleased: where((was, is) => was.flapping === 'kept' && is.flapping === 'released'),
    recoveriesNotKnown: [...after.policies].flatMap(([name, { flapping }]) => (flapping === null ? [] : [name])),
    breakersOpen: openBreakers(after).filter((policy) => !openBreakers(before).includes(policy)),
    breakersClose: openBreakers(before).filter((policy) => !openBreakers(after).includes(policy)),
    conflicts: where((_was, after) => after.conflict.length > 0),
    policiesWithoutNodes: [...after.policies].flatMap(([name, { nodes }]) => (nodes === 0 ? [name] : [])),
  };
}

function isMarked({ markedUnknown }: NodePreview): boolean {
  return markedUnknown === 'now' || markedUnknown === 'already';
}

/** Only of nodes that are not due yet. */
function dueOf({ markedUnknown, unknownFrom }: NodePreview): number {
  return markedUnknown === 'later' ? Date.parse(unknownFrom ?? '') : NaN;
}

function isWaiting({ noExecute }: NodePreview): boolean {
  return noExecute === 'held' || noExecute === 'stopped';
}

function totals(
  before: ClusterPreview,
  after: ClusterPreview,
  field: 'podsEvicted' | 'podsHeld' | 'podsMarked',
): { readonly before: number; readonly after: number } {
  const sum = ({ nodes }: ClusterPreview): number =>
    [...nodes.values()].reduce((total, node) => total + node[field], 0);
  return { before: sum(before), after: sum(after) };
}

function openBreakers({ policies }: ClusterPreview): readonly string[] {
  return [...policies].flatMap(([name, { breaker }]) => (breaker?.open === true ? [name] : []));
}
