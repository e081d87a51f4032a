/** Why acts on nodes are held back. The words are those of `explain` and `status`. */
export type HeldReason = 'unconfirmed' | 'every-zone-dark' | 'outage' | 'blind' | 'zone-stopped';

export interface WaitingFacts {
  /** Nodes that look silent, and about which the API server itself said nothing yet, or otherwise. */
  readonly withheld: number;
  readonly everyZoneDark: boolean;
  /** Of all zones: nodes that count there and are not ready. */
  readonly unready: number;
  readonly outageHeld: boolean;
  readonly blind: boolean;
  /** Lines for NoExecute taints, or in eviction mode for the deletion of pods. */
  readonly lines: readonly { readonly nodes: number; readonly ratePerSecond: number }[];
  /** How many wait in those, or to have their pods marked. A node may wait for both. */
  readonly waitingForAny: () => number;
}

/** How many nodes are held back, each under the first reason that keeps it. */
export function deriveHeldNodes(facts: WaitingFacts): Readonly<Record<HeldReason, number>> {
  const held = { unconfirmed: facts.withheld, 'every-zone-dark': 0, outage: 0, blind: 0, 'zone-stopped': 0 };
  if (facts.everyZoneDark) return { ...held, 'every-zone-dark': facts.unready };
  if (facts.outageHeld) return { ...held, outage: facts.waitingForAny() };
  if (facts.blind) return { ...held, blind: sum(facts.lines) };
  return { ...held, 'zone-stopped': sum(facts.lines.filter(({ ratePerSecond }) => ratePerSecond === 0)) };
}

function sum(lines: WaitingFacts['lines']): number {
  return lines.reduce((total, { nodes }) => total + nodes, 0);
}
