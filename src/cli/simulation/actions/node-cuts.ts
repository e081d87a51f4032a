// Cuts nodes off from the API server, and connects them again.
import type { FaultInjector } from '../../../hollow-cluster/kubelet/faults/fault-injector.ts';
import { buildNodeFilter, type FleetNode } from '../../../hollow-cluster/kubelet/faults/select-nodes.ts';
import { type CutAction, isPattern } from './action-schema.ts';
import type { ActionResult } from './actions.ts';

interface NodeCutsOptions {
  readonly faults: Pick<FaultInjector, 'post' | 'list'>;
  readonly nodes: readonly FleetNode[];
  /** The zone of a node as the dashboard shows it. */
  readonly zoneOf: (node: FleetNode) => string;
}

const cutsMax = 100;
const cable = { kind: 'partition', direction: 'all', manner: 'silent' } as const;

export class NodeCuts {
  readonly #options: NodeCutsOptions;

  constructor(options: NodeCutsOptions) {
    this.#options = options;
  }

  /** None of their requests reaches the API server, and their watches stall. */
  cut(action: CutAction): ActionResult {
    const { faults } = this.#options;
    if (faults.list().length >= cutsMax) return { conflict: `${cutsMax} faults are active: undo them first` };
    const among = this.#select(action);
    if (among.length === 0) return { conflict: `no node ${describeSelection(action)}` };
    const { share, seconds } = action;
    const forMs = seconds === undefined ? undefined : seconds * 1_000;
    const { nodes } = faults.post({ selector: { among, share }, fault: cable, forMs });
    const until = seconds === undefined ? 'until it is undone' : `for ${seconds} s`;
    const what = nodes.length === 1 ? (nodes[0] ?? '') : `${nodes.length} nodes`;
    return { text: `cut ${what} off from the API server ${until}` };
  }

  #select({ nodes, zone }: CutAction): readonly string[] {
    const exact = new Set(nodes?.filter((name) => !isPattern(name)));
    const patterns = nodes?.filter(isPattern) ?? [];
    const matches = patterns.length === 0 ? () => false : buildNodeFilter({ names: patterns });
    return this.#options.nodes
      .filter((node) => nodes === undefined || exact.has(node.name) || matches(node))
      .filter((node) => zone === undefined || this.#options.zoneOf(node) === zone)
      .map(({ name }) => name);
  }
}

function describeSelection({ nodes, zone }: CutAction): string {
  const parts = [
    ...(nodes === undefined
      ? []
      : [`has the name ${nodes.slice(0, 3).join(' or ')}${nodes.length > 3 ? ' or ...' : ''}`]),
    ...(zone === undefined ? [] : [`is in zone ${JSON.stringify(zone)}`]),
  ];
  return parts.length === 0 ? 'exists' : parts.join(' and ');
}
