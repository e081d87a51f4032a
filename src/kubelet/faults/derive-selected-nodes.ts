import type { Labels } from '../../api/topology.ts';
import { derivePhase } from '../derive-phase.ts';

/** Which nodes something is done to. All that is said must fit; who says nothing means every node. */
export interface NodeSelector {
  /** Patterns in which `*` stands for any text and `?` for one character; one of them must fit. */
  readonly names?: readonly string[] | undefined;
  /** A pattern for the value of the zone label. */
  readonly zone?: string | undefined;
  /** Patterns for the values of labels. */
  readonly labels?: Labels | undefined;
  /** Of those that fit, this share, from 0 to 1, rounded up; the seed chooses. */
  readonly share?: number | undefined;
  /** Of those that fit, so many; the seed chooses. */
  readonly count?: number | undefined;
}

export interface SelectableNode {
  readonly name: string;
  readonly labels: Labels;
}

const zoneLabel = 'topology.kubernetes.io/zone';

/**
 * The names of those whom the selector means. Where only a part is meant they come in the order in which the salt, which
 * should carry a seed, has drawn them; otherwise in the order of `nodes`. The same salt draws the same.
 */
export function deriveSelectedNodes(
  nodes: readonly SelectableNode[],
  selector: NodeSelector,
  salt: string,
): readonly string[] {
  const fits = deriveNodeFilter(selector);
  const fitting = nodes.filter(fits).map(({ name }) => name);
  const { share, count } = selector;
  if (share === undefined && count === undefined) return fitting;
  const wanted = Math.min(Math.ceil((share ?? 1) * fitting.length - 1e-9), count ?? fitting.length);
  return deriveDrawn(fitting, salt).slice(0, wanted);
}

/** Does a node fit, share and count left aside? */
export function deriveNodeFilter({ names, zone, labels = {} }: NodeSelector): (node: SelectableNode) => boolean {
  const namePatterns = names?.map(derivePattern);
  const labelPatterns = Object.entries({ ...labels, ...(zone === undefined ? {} : { [zoneLabel]: zone }) }).map(
    ([key, text]) => ({ key, pattern: derivePattern(text) }),
  );
  return (node) =>
    (namePatterns?.some((pattern) => pattern.test(node.name)) ?? true) &&
    labelPatterns.every(({ key, pattern }) => pattern.test(node.labels[key] ?? '') && node.labels[key] !== undefined);
}

/** The names in an order that follows from the salt alone. */
export function deriveDrawn(names: readonly string[], salt: string): readonly string[] {
  const lots = names.map((name) => ({ name, lot: derivePhase(`${salt}/${name}`) }));
  lots.sort((a, b) => a.lot - b.lot || (a.name < b.name ? -1 : 1));
  return lots.map(({ name }) => name);
}

function derivePattern(text: string): RegExp {
  const source = text
    .replaceAll(/[.+^${}()|[\]\\]/gu, String.raw`\$&`)
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, 'su');
}
