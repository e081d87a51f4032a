import type { Pod } from '../../machinery/api/pod.ts';
import { decideFit, scoreNode } from './decide-fit.ts';
import type { NodeLoad, PodDemand } from './node-loads.ts';

export type Placement =
  | { readonly kind: 'node'; readonly name: string }
  /** No node fits; the message is that of kube-scheduler, without what it tries by preemption. */
  | { readonly kind: 'unschedulable'; readonly message: string };

/** The node with the best score among those that fit. `draw`, from 0 to below 1, decides between equal ones. */
export function selectNode(pod: Pod, demand: PodDemand, loads: readonly NodeLoad[], draw: number): Placement {
  if (loads.length === 0) return { kind: 'unschedulable', message: 'no nodes available to schedule pods' };
  const reasons = new Map<string, number>();
  let best: { readonly score: number; readonly names: string[] } = { score: -1, names: [] };
  for (const load of loads) {
    const unfit = decideFit(pod, demand, load);
    for (const reason of unfit) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    if (unfit.length > 0) continue;
    const score = scoreNode(demand, load);
    if (score > best.score) best = { score, names: [load.name] };
    else if (score === best.score) best.names.push(load.name);
  }
  const name = best.names[Math.floor(draw * best.names.length)];
  if (name !== undefined) return { kind: 'node', name };
  return { kind: 'unschedulable', message: describeReasons(loads.length, reasons) };
}

function describeReasons(nodes: number, reasons: ReadonlyMap<string, number>): string {
  const counted = [...reasons].map(([reason, count]) => `${count} ${reason}`).toSorted(compareText);
  return `0/${nodes} nodes are available: ${counted.join(', ')}.`;
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
