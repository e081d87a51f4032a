import { fencedAnnotation, type NodeView } from '../../machinery/api/node.ts';
import { parseTimestamp } from '../../machinery/api/timestamps.ts';
import type { OutOfServiceRule } from '../model/policy.ts';

/** Something on a node that says that its boot was ended. */
export interface FencingEvidence {
  /** Source of the evidence, such as `taint node.cloudprovider.kubernetes.io/shutdown`. */
  readonly source: string;
  /** Identity while it stays on the node, whatever its time: a time that alone changes is not another appearance. */
  readonly id: string;
  /** Its time as text; empty: none. */
  readonly at: string;
  /** The time that it contains, by the clock of the client that set it; undefined: none. */
  readonly atMs: number | undefined;
}

/** The evidence on this node that the rule accepts, and the annotation that names its boot. */
export function selectEvidence(
  node: Pick<NodeView, 'taints' | 'conditions' | 'bootID' | 'fenced'>,
  rule: OutOfServiceRule,
): readonly FencingEvidence[] {
  const conditions = node.conditions.filter(({ type, status }) => status === 'True' && rule.conditions.includes(type));
  const taints = node.taints.filter(({ key }) => rule.taints.includes(key));
  return [
    // Evidence of an earlier outage that was not removed names another boot.
    ...(node.bootID !== '' && node.fenced === node.bootID ? [evidenceOf(`annotation ${fencedAnnotation}`)] : []),
    ...conditions.map(({ type, lastTransitionTime }) => evidenceOf(`condition ${type}`, lastTransitionTime)),
    ...taints.map(({ key, effect, timeAdded }) => ({
      ...evidenceOf(`taint ${key}`, timeAdded),
      id: `taint ${key}:${effect}`,
    })),
  ];
}

function evidenceOf(source: string, at?: string | null): FencingEvidence {
  return { source, id: source, at: at ?? '', atMs: parseTimestamp(at) };
}
