// What the watches showed of a set of nodes since they were silenced.
import type { LastHeartbeats } from './load-protocol.ts';

/** Names of nodes or pods, and when a change was first seen, in milliseconds of Unix time. */
type Times = Map<string, number>;

/** Filled by the observer. */
export class Episode {
  readonly nodes: ReadonlySet<string>;
  readonly unknownAtMs: Times = new Map();
  readonly noExecuteAtMs: Times = new Map();
  /** When pods of these nodes were seen NotReady. */
  readonly podAtMs: Times = new Map();
  readonly #podsPerNode: number;

  constructor(nodes: readonly string[], podsPerNode: number) {
    this.nodes = new Set(nodes);
    this.#podsPerNode = podsPerNode;
  }

  get pods(): number {
    return this.nodes.size * this.#podsPerNode;
  }

  /** All nodes are Unknown and have their NoExecute taint, and all their pods are NotReady. */
  get isComplete(): boolean {
    const { nodes, unknownAtMs, noExecuteAtMs, podAtMs } = this;
    return unknownAtMs.size === nodes.size && noExecuteAtMs.size === nodes.size && podAtMs.size >= this.pods;
  }

  /** From the expiry of each node's grace period to Unknown. */
  detectionMs(heartbeatAtMs: LastHeartbeats, graceMs: number): readonly number[] {
    return [...this.unknownAtMs].map(([node, atMs]) => atMs - ((heartbeatAtMs[node] ?? Number.NaN) + graceMs));
  }

  /** From Unknown to the NoExecute taint, for each node. */
  taintingMs(): readonly number[] {
    return [...this.noExecuteAtMs].map(([node, atMs]) => atMs - (this.unknownAtMs.get(node) ?? Number.NaN));
  }

  describe(): string {
    const { nodes, unknownAtMs, noExecuteAtMs, podAtMs } = this;
    return (
      `of ${nodes.size} nodes ${unknownAtMs.size} are Unknown and ${noExecuteAtMs.size} have the NoExecute taint, ` +
      `of ${this.pods} pods ${podAtMs.size} are NotReady`
    );
  }
}
