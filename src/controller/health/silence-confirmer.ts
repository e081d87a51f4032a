import { ApiError } from '../../api/api-error.ts';
import type { LeaseView } from '../../api/lease.ts';
import type { NewerAnswers } from '../../informer/newer-answers.ts';
import type { LiveLeases } from '../../ports/sight.ts';
import type { DecisionSink, UnconfirmedReason } from '../decisions.ts';
import type { HealthTable } from './health-table.ts';
import type { VerdictBook } from './verdict-book.ts';

export interface SilenceConfirmerOptions {
  readonly live: LiveLeases;
  readonly leases: NewerAnswers<LeaseView>;
  readonly health: HealthTable;
  readonly verdicts: Pick<VerdictBook, 'withhold'>;
  readonly decisions: DecisionSink;
  /** The API server has a renewal that our stream has not brought. */
  readonly foundBehind: () => void;
  /** The node is to be judged again: at once, or when the next pass comes by itself. */
  readonly judgeAgain: (node: string, when: 'now' | 'next-pass') => void;
}

/**
 * Before a node is called silent the API server itself is asked for its lease: our stream may be behind, or dead without
 * a word. No answer is no evidence: the verdict waits.
 */
export class SilenceConfirmer {
  readonly #options: SilenceConfirmerOptions;
  readonly #waiting = new Set<string>();
  #asking: Promise<void> | undefined;

  constructor(options: SilenceConfirmerOptions) {
    this.#options = options;
  }

  confirm(nodes: readonly string[]): void {
    for (const node of nodes) this.#waiting.add(node);
    this.#asking ??= this.#askAll().finally(() => {
      this.#asking = undefined;
    });
  }

  /** Resolves when nobody waits for an answer. */
  async settled(): Promise<void> {
    await this.#asking;
  }

  async #askAll(): Promise<void> {
    while (this.#waiting.size > 0) {
      const nodes = [...this.#waiting].sort();
      this.#waiting.clear();
      await this.#ask(nodes);
    }
  }

  async #ask(nodes: readonly string[]): Promise<void> {
    try {
      const live = await this.#options.live.read(nodes);
      for (const node of nodes) this.#weigh(node, live.get(node));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const why = isRefusal(error) ? 'not-permitted' : 'api-not-answering';
      for (const node of nodes) this.#hold(node, why);
    }
  }

  #weigh(node: string, live: LeaseView | undefined): void {
    const { leases, health, decisions, judgeAgain } = this.#options;
    const known = leases.get(node);
    if (live !== undefined && live.renewTime !== known?.renewTime) {
      leases.remember(known, live);
      this.#options.verdicts.withhold(node);
      decisions.note({ kind: 'verdict-held', node, why: 'lease-renewed' });
      this.#options.foundBehind();
    } else health.confirmSilence(node);
    judgeAgain(node, 'now');
  }

  #hold(node: string, why: UnconfirmedReason): void {
    this.#options.verdicts.withhold(node);
    this.#options.decisions.note({ kind: 'verdict-held', node, why });
    this.#options.judgeAgain(node, 'next-pass');
  }
}

/** Missing permissions do not go away by themselves: people must hear of them by their name. */
function isRefusal({ reason }: ApiError): boolean {
  return reason === 'forbidden' || reason === 'unauthorized';
}
