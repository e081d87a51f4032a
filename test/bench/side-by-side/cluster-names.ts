// Names of the nodes and pods of the bench.

export const zones = ['a', 'b', 'c'] as const;
type Zone = (typeof zones)[number];
/** A node without pods that is prepared before each start of a controller: see `measure-start.ts`. */
export const startNode = 'node-start';
export const podNamespace = 'default';

export function nodeNames(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `node-${String(index).padStart(5, '0')}`);
}

/** Nodes are spread over the zones in turn. */
export function zoneOf(node: string): Zone {
  const index = node === startNode ? 0 : Number(node.slice('node-'.length));
  return zones[index % zones.length] ?? zones[0];
}

export function podNames(node: string, podsPerNode: number): readonly string[] {
  if (node === startNode) return [];
  return Array.from({ length: podsPerNode }, (_, index) => `pod-${node.slice('node-'.length)}-${index}`);
}
