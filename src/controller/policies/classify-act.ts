import { healthTaintKeys, outOfServiceTaintKey } from '../../machinery/api/taints.ts';
import type { Command } from '../model/commands.ts';
import type { NodeAct } from '../model/policy.ts';

/** A write because of a node, as holds of the node see it. */
export interface NodeWrite {
  readonly node: string;
  readonly act: NodeAct;
  /** The write evicts pods for the health of the node, or is the NoExecute taint that does. */
  readonly evicts: boolean;
}

/** The node that a write is about, and its kind; undefined: not because of a node, so no hold of a node applies. */
export function classifyAct(command: Command): NodeWrite | undefined {
  if ('node' in command) return { node: command.node.name, act: nodeActOf(command), evicts: addsHealthTaint(command) };
  if ('regardlessOfNode' in command && command.regardlessOfNode) return undefined;
  const act = command.kind === 'mark-pod-not-ready' ? 'mark-pods-not-ready' : 'delete-pods';
  return { node: command.pod.nodeName, act, evicts: 'forHealth' in command && command.forHealth };
}

const evictingKeys: ReadonlySet<string> = new Set([...healthTaintKeys, outOfServiceTaintKey]);

function addsHealthTaint(command: Command): boolean {
  if (command.kind !== 'change-taints') return false;
  return command.add.some(({ key, effect }) => effect === 'NoExecute' && evictingKeys.has(key));
}

function nodeActOf(command: Extract<Command, { readonly node: unknown }>): NodeAct {
  switch (command.kind) {
    case 'set-node-conditions':
      return 'mark-unknown';
    case 'set-node-labels':
      return 'set-labels';
    case 'change-taints':
      return command.add.length === 0 ? 'remove-taints' : 'add-taints';
  }
}
