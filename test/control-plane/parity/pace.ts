// Durations of a step, from watch events: no act may be early, and nlc may not be much later than kube-controller-manager.
import type { WatchFrame } from '../rest-client.ts';
import { conditionOf, taintsOf } from './observation.ts';
import type { StepOutcome } from './side.ts';
import type { Sighting, Watched } from './witness.ts';

/** One duration of a step. */
export interface Pace {
  readonly what: string;
  readonly atLeastMs: number;
  /** NaN if its start or its end was not observed. */
  readonly tookMs: (outcome: StepOutcome) => number;
}

type Sees = (sighting: Sighting) => boolean;

/** From the last heartbeat of a node to the first matching watch event of the step. */
export function sinceHeartbeat(node: string, sees: Sees): Pace['tookMs'] {
  return ({ sightings, renewedAtMs }) => (firstAtMs(sightings, sees) ?? NaN) - (renewedAtMs(node) ?? NaN);
}

/** From the first matching watch event of all steps to the first one matching `sees` in the step. */
export function sinceFirst(begins: Sees, sees: Sees): Pace['tookMs'] {
  return ({ history, sightings }) => (firstAtMs(sightings, sees) ?? NaN) - (firstAtMs(history, begins) ?? NaN);
}

export function matching(
  of: Watched,
  name: string,
  sees: (object: unknown, type: string) => boolean = () => true,
): Sees {
  return ({ of: seen, frame }) => seen === of && frame.object.metadata?.name === name && sees(frame.object, frame.type);
}

export const isUnknown = (node: unknown): boolean => conditionOf(node, 'Ready') === 'Unknown';

export const carries =
  (taint: string) =>
  (node: unknown): boolean =>
    taintsOf(node).includes(taint);

export const isDeleted = (_object: unknown, type: string): boolean => type === 'DELETED';

/** The shortest silence after which a node was marked Unknown in this step; Infinity if none was. */
export function shortestSilenceMs({ history, sightings, renewedAtMs }: StepOutcome): number {
  const earlier = history.slice(0, history.length - sightings.length).filter(({ of }) => of === 'nodes');
  const unknown = new Map(earlier.map(({ frame }) => [nameOf(frame), isUnknown(frame.object)]));
  const silences = sightings
    .filter(({ of }) => of === 'nodes')
    .flatMap(({ atMs, frame }) => {
      const becomesUnknown = isUnknown(frame.object) && unknown.get(nameOf(frame)) !== true;
      unknown.set(nameOf(frame), isUnknown(frame.object));
      return becomesUnknown ? [atMs - (renewedAtMs(nameOf(frame)) ?? -Infinity)] : [];
    });
  return Math.min(Infinity, ...silences);
}

function nameOf({ object }: WatchFrame): string {
  return object.metadata?.name ?? '';
}

function firstAtMs(sightings: readonly Sighting[], sees: Sees): number | undefined {
  return sightings.find(sees)?.atMs;
}
