import { ownValue } from '../../../machinery/api/json-map.ts';
import type { Labels } from '../../../machinery/api/topology.ts';
import { planPhase } from '../loops/plan-phase.ts';
import { parsePattern } from '../parse-pattern.ts';

/** Selects nodes. All criteria must match; an empty selector matches every node. */
export interface NodeSelector {
  /** Patterns in which `*` matches any text and `?` one character; at least one must match. */
  readonly names?: readonly string[] | undefined;
  /** Only nodes with one of these names. */
  readonly among?: readonly string[] | undefined;
  /** A pattern for the value of the zone label. */
  readonly zone?: string | undefined;
  /** Patterns for the values of labels. */
  readonly labels?: Labels | undefined;
  /** Share of the matching nodes, from 0 to 1, rounded up; the seed selects them. */
  readonly share?: number | undefined;
  /** Number of the matching nodes; the seed selects them. */
  readonly count?: number | undefined;
}

/** A node of a fleet, by name. */
export interface FleetNode {
  readonly name: string;
  readonly labels: Labels;
}

const zoneLabel = 'topology.kubernetes.io/zone';

/**
 * The names of the selected nodes. With `share` or `count` they are in the pseudo-random order that the salt, which
 * should contain a seed, determines; otherwise in the order of `nodes`. The same salt gives the same order.
 */
export function selectNodes(nodes: readonly FleetNode[], selector: NodeSelector, salt: string): readonly string[] {
  const fits = buildNodeFilter(selector);
  const fitting = nodes.filter(fits).map(({ name }) => name);
  const { share, count } = selector;
  if (share === undefined && count === undefined) return fitting;
  const wanted = Math.min(Math.ceil((share ?? 1) * fitting.length - 1e-9), count ?? fitting.length);
  return shuffleNodes(fitting, salt).slice(0, wanted);
}

/** The predicate of the selector without `share` and `count`. */
export function buildNodeFilter({ names, among, zone, labels = {} }: NodeSelector): (node: FleetNode) => boolean {
  const namePatterns = names?.map(parsePattern);
  const allowed = among === undefined ? undefined : new Set(among);
  const labelPatterns = Object.entries({ ...labels, ...(zone === undefined ? {} : { [zoneLabel]: zone }) }).map(
    ([key, text]) => ({ key, pattern: parsePattern(text) }),
  );
  return (node) =>
    (allowed?.has(node.name) ?? true) &&
    (namePatterns?.some((pattern) => pattern.matches(node.name)) ?? true) &&
    labelPatterns.every(
      ({ key, pattern }) =>
        pattern.matches(ownValue(node.labels, key) ?? '') && ownValue(node.labels, key) !== undefined,
    );
}

/** The names in an order that depends on the salt only. */
export function shuffleNodes(names: readonly string[], salt: string): readonly string[] {
  const ranked = names.map((name) => ({ name, rank: planPhase(`${salt}/${name}`) }));
  ranked.sort((a, b) => a.rank - b.rank || (a.name < b.name ? -1 : 1));
  return ranked.map(({ name }) => name);
}
