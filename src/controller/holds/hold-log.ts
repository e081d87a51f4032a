import { describeHoldSource, type NodeAct, type NodeHold } from '../model/policy.ts';
import { withheldActs } from './metrics.ts';
import type { StageDependencies } from '../model/dependencies.ts';

type HoldLogOptions = Pick<StageDependencies, 'nodes' | 'decisions' | 'meter'>;

interface Withheld {
  /** Mode and source of the hold: another hold begins another episode. */
  readonly by: string;
  readonly acts: Set<NodeAct>;
}

/**
 * What modes and pauses withheld: each kind of act once, until the node recovers or the hold changes. Nothing is remembered of
 * nodes without one.
 */
export class HoldLog {
  readonly #options: HoldLogOptions;
  readonly #withheld = new Map<string, Withheld>();

  constructor(options: HoldLogOptions) {
    this.#options = options;
  }

  /** Records that an act is about to be done while this mode or pause, if any, is in force, and whether that holds it. */
  note(node: string, act: NodeAct, mode: NodeHold | undefined, isHeld: boolean): void {
    if (mode === undefined) {
      if (this.#withheld.size > 0) this.#withheld.delete(node);
    } else if (isHeld && this.#options.nodes.get(node) !== undefined) this.#note(node, act, mode);
  }

  /** The node is Ready and sends heartbeats: what was withheld because of its health is withheld no longer. */
  recovered(node: string): void {
    const known = this.#withheld.get(node);
    if (known === undefined) return;
    for (const act of known.acts) if (isNegative(act)) known.acts.delete(act);
  }

  forget(node: string): void {
    this.#withheld.delete(node);
  }

  /** Nodes of which anything is withheld, unless their hold ended without a further write. */
  nodes(): readonly string[] {
    return [...this.#withheld].flatMap(([node, { acts }]) => (acts.size > 0 ? [node] : []));
  }

  /** Number of nodes of which anything was withheld. */
  get size(): number {
    return this.#withheld.size;
  }

  #note(node: string, act: NodeAct, { mode, source }: NodeHold): void {
    const { decisions, meter } = this.#options;
    const { acts } = this.#episodeOf(node, `${mode} ${describeHoldSource(source)}`);
    if (acts.has(act)) return;
    // The end of a recovery is not observed; worse health is.
    if (isNegative(act)) acts.delete('remove-taints');
    acts.add(act);
    decisions.note({ kind: 'act-withheld', node, act, mode, source });
    if (mode !== 'Paused' && source.kind === 'policy') meter.add(withheldActs, 1, { policy: source.policy, act });
  }

  #episodeOf(node: string, by: string): Withheld {
    const known = this.#withheld.get(node);
    if (known?.by === by) return known;
    const begun = { by, acts: new Set<NodeAct>() };
    this.#withheld.set(node, begun);
    return begun;
  }
}

/** Whether an act makes the node or its pods worse. */
function isNegative(act: NodeAct): boolean {
  return act !== 'remove-taints' && act !== 'set-labels';
}
