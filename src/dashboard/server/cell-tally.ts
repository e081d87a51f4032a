/** What counts of a node. */
export interface CountedCell {
  readonly zone: string;
  readonly policy: string | null;
  readonly isHealthy: boolean;
  readonly isHeld: boolean;
}

export interface CellCounts {
  readonly nodes: number;
  readonly unhealthy: number;
  readonly held: number;
}

const none: CellCounts = { nodes: 0, unhealthy: 0, held: 0 };

/** Numbers of nodes by zone and by policy, updated with each change of a node. */
export class CellTally {
  readonly #zones = new Map<string, CellCounts>();
  readonly #policies = new Map<string, CellCounts>();

  /** Undefined: the node did not exist, or does not exist any more. */
  replace(before: CountedCell | undefined, after: CountedCell | undefined): void {
    if (before !== undefined) this.#count(before, -1);
    if (after !== undefined) this.#count(after, 1);
  }

  policy(name: string): CellCounts {
    return this.#policies.get(name) ?? none;
  }

  /** The zones that have nodes, by name. */
  zones(): readonly (readonly [zone: string, counts: CellCounts])[] {
    return [...this.#zones].toSorted(([a], [b]) => (a < b ? -1 : 1));
  }

  clear(): void {
    this.#zones.clear();
    this.#policies.clear();
  }

  #count(cell: CountedCell, by: 1 | -1): void {
    add(this.#zones, cell.zone, cell, by);
    if (cell.policy !== null) add(this.#policies, cell.policy, cell, by);
  }
}

function add(all: Map<string, CellCounts>, key: string, { isHealthy, isHeld }: CountedCell, by: 1 | -1): void {
  const { nodes, unhealthy, held } = all.get(key) ?? none;
  const counts = { nodes: nodes + by, unhealthy: unhealthy + (isHealthy ? 0 : by), held: held + (isHeld ? by : 0) };
  if (counts.nodes === 0) all.delete(key);
  else all.set(key, counts);
}
