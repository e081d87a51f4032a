import { flappingTaintKey, healthTaintKeys, outOfServiceTaintKey } from '../../machinery/api/taints.ts';
import type { Command } from '../model/commands.ts';
import type { Act } from '../model/holds.ts';

/** A write because of a node, as holds see it. */
export interface NodeWrite {
  readonly node: string;
  readonly act: Act;
}

/** The node that a write is about, and its kind; undefined: not because of a node, so no hold applies. */
export function classifyAct(command: Command): NodeWrite | undefined {
  if ('node' in command) return { node: command.node.name, act: nodeActOf(command) };
  if ('regardlessOfNode' in command && command.regardlessOfNode) return undefined;
  return { node: command.pod.nodeName, act: podActOf(command) };
}

type PodCommand = Exclude<Command, { readonly node: unknown }>;

function podActOf(command: PodCommand): Act {
  if (command.kind === 'mark-pod-not-ready') return 'mark-pods';
  if ('forHealth' in command && command.forHealth) return 'delete-for-health';
  // Only the garbage collector says of its writes whether a node is their reason.
  return 'regardlessOfNode' in command ? 'collect-pods' : 'delete-for-taint';
}

const healthKeys: ReadonlySet<string> = new Set(healthTaintKeys);

function nodeActOf(command: Extract<Command, { readonly node: unknown }>): Act {
  switch (command.kind) {
    case 'set-node-conditions':
      return 'mark-unknown';
    case 'set-node-metadata':
      return 'set-labels';
    case 'change-taints':
      return taintActOf(command);
  }
}

/** The strictest where a request adds several: one with a NoExecute taint evicts pods. */
function taintActOf({ add }: Extract<Command, { readonly kind: 'change-taints' }>): Act {
  const adds = (isMeant: (key: string) => boolean): boolean =>
    add.some(({ key, effect }) => effect === 'NoExecute' && isMeant(key));
  if (add.length === 0) return 'remove-taints';
  if (adds((key) => key === outOfServiceTaintKey)) return 'add-out-of-service';
  if (adds((key) => healthKeys.has(key))) return 'add-no-execute';
  return add.some(({ key }) => key === flappingTaintKey) ? 'add-flapping-taint' : 'add-no-schedule';
}
