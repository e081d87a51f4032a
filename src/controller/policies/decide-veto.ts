// Whether another tool says of a node that it is not to be repaired, where its policy lets that hold evictions.
import { ownValue } from '../../machinery/api/json-map.ts';
import { isHealthTaint } from '../../machinery/api/taints.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import { type KnownVeto, knownVetoes } from '../../machinery/api/vetoes.ts';
import type { NodePolicy, Veto, VetoRule } from '../model/policy.ts';

type Marked = Pick<NodeView, 'labels' | 'taints' | 'vetoes'>;

/**
 * Of all vetoes that count by these policies the one that holds longest. A veto holds a node that is unhealthy, for the maximum of the policy
 * since then: the marks of other tools have no time. `unhealthySinceMs`: undefined if it is Ready, which needs no hold yet.
 */
export function decideVeto(
  claims: readonly Pick<NodePolicy, 'name' | 'vetoes'>[],
  node: Marked,
  { unhealthySinceMs = Infinity, wallMs }: { readonly unhealthySinceMs: number | undefined; readonly wallMs: number },
): Veto | undefined {
  const all = claims.flatMap(({ name, vetoes: rule }) => {
    const untilMs = unhealthySinceMs + (rule?.maxDurationMs ?? 0);
    const [first] = rule === undefined || untilMs <= wallMs ? [] : listVetoes(rule, node);
    return first === undefined ? [] : [{ ...first, policy: name, untilMs }];
  });
  return all.toSorted((a, b) => b.untilMs - a.untilMs)[0];
}

/** What is on the node of what this rule lets hold: known marks first, in the order of their table. */
export function listVetoes(rule: VetoRule, node: Marked): readonly Pick<Veto, 'kind' | 'name' | 'owner'>[] {
  const known = knownVetoes.filter((veto) => rule.of.includes(veto.of) && isOn(node, veto));
  const labels = rule.labels.filter((name) => isSet(ownValue(node.labels, name)));
  const taints = rule.taints.filter((name) => node.taints.some(({ key }) => key === name && !isHealthTaint({ key })));
  return [
    ...known.map(({ kind, name, owner }) => ({ kind, name, owner })),
    ...labels.map((name) => ({ kind: 'label' as const, name, owner: null })),
    ...taints.map((name) => ({ kind: 'taint' as const, name, owner: null })),
  ];
}

function isOn({ labels, vetoes = [] }: Marked, { kind, name }: KnownVeto): boolean {
  return kind === 'label' ? isSet(ownValue(labels, name)) : vetoes.includes(name);
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== 'false';
}
