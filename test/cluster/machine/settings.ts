// Names and addresses of one cluster. Two clusters run side by side if their prefixes differ.
import { createHash } from 'node:crypto';
import { join } from 'node:path';

export const nodeNames = ['n1', 'n2', 'n3'] as const;
export type NodeName = (typeof nodeNames)[number];

/** Zones of the nodes: one alone, two together. */
export const zones: Readonly<Record<NodeName, string>> = { n1: 'a', n2: 'b', n3: 'b' };

/** Controllers of kube-controller-manager beside the replaced ones, as kubeadm enables them. */
export const otherControllers = '*,bootstrapsigner,tokencleaner';
export const withoutReplaced = `${otherControllers},-node-lifecycle-controller,-taint-eviction-controller`;

export interface ClusterSettings {
  /** Of the names of network namespaces and control groups. */
  readonly prefix: string;
  /** Everything that the cluster writes. */
  readonly folder: string;
  /** Built programs. */
  readonly programs: string;
  /** First three bytes of the network of nodes and control plane, and first two of pods and Services. */
  readonly network: { readonly nodes: string; readonly pods: string; readonly services: string };
}

/** The prefix decides on the addresses too, though namespaces keep them apart: what is logged is then unmistakable. */
export function clusterSettings(prefix: string, folder: string, programs: string): ClusterSettings {
  const byte = createHash('sha256').update(prefix).digest().readUInt8(0);
  const network = { nodes: `10.89.${byte}`, pods: `10.${96 + (byte % 64)}`, services: '10.64' };
  return { prefix, folder, programs, network };
}

export function numberOf(node: NodeName): number {
  return nodeNames.indexOf(node) + 1;
}

export function addressOf({ network }: ClusterSettings, node: NodeName): string {
  return `${network.nodes}.${10 + numberOf(node)}`;
}

/** Of the API server. */
export function apiAddress({ network }: ClusterSettings): string {
  return `${network.nodes}.2`;
}

export function nodeFolder({ folder }: ClusterSettings, node: NodeName): string {
  return join(folder, node);
}

/** The network namespace of a node, of the control plane (`cp`), of the operator's desk (`ops`) or of the bridge (`lan`). */
export function namespaceOf({ prefix }: ClusterSettings, name: NodeName | 'cp' | 'ops' | 'lan'): string {
  return `${prefix}-${name}`;
}
