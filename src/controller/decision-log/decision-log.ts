import type { LogFields, Logger } from '../../ports/logger.ts';
import { counter, type Meter } from '../../ports/meter.ts';
import { decisionMessages } from './decision-messages.ts';
import type { Decision, DecisionSink } from '../model/decisions.ts';
import { classifyLevel } from './classify-level.ts';
import { subjectOfDecision } from './describe-decision.ts';

const historyPerSubjectMax = 50;
const subjectsMax = 20_000;
/**
 * Size after a cleanup: removing many at once is cheaper, because the oldest key of a Map is slow to find after
 * deletions.
 */
const subjectsLeft = 19_000;

export const decisionsTotal = counter('node_lifecycle_decisions_total', 'Number of decisions, by kind.', ['decision']);

export interface NotedDecision {
  readonly atMs: number;
  readonly decision: Decision;
  /** Of the pod that it is about; undefined for other decisions, and where it is not known. */
  readonly uid?: string;
}

/** Logs and counts every decision, keeps the last ones of each node, pod and zone, and notifies listeners. */
export class DecisionLog implements DecisionSink {
  readonly #logger: Logger;
  readonly #meter: Meter;
  readonly #nowMs: () => number;
  readonly #history = new Map<string, NotedDecision[]>();
  readonly #listeners = new Set<(noted: NotedDecision) => void>();

  constructor(logger: Logger, meter: Meter, nowMs: () => number) {
    this.#logger = logger;
    this.#meter = meter;
    this.#nowMs = nowMs;
  }

  note(decision: Decision, uid?: string): void {
    const noted = { atMs: this.#nowMs(), decision, ...(uid === undefined ? {} : { uid }) };
    this.#keep(subjectOfDecision(decision), noted);
    this.#meter.add(decisionsTotal, 1, { decision: decision.kind });
    this.#write(decision);
    for (const listener of this.#listeners) this.#notify(listener, noted);
  }

  /** The caller has decided something: an exception of a listener is not its exception. */
  #notify(listener: (noted: NotedDecision) => void, noted: NotedDecision): void {
    try {
      listener(noted);
    } catch (error) {
      this.#logger.error({ decision: noted.decision.kind, err: error }, 'listener of decisions failed');
    }
  }

  /** The last decisions about one node (`n1`), pod (`ns/p`) or zone, oldest first. */
  of(subject: string): readonly NotedDecision[] {
    return this.#history.get(subject) ?? [];
  }

  onDecision(listener: (noted: NotedDecision) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #keep(subject: string, noted: NotedDecision): void {
    const known = this.#history.get(subject);
    known?.push(noted);
    if (known !== undefined && known.length > historyPerSubjectMax) known.shift();
    // Most subjects have one decision, and an array that is pushed to has room for seventeen.
    const history = known ?? [noted];
    this.#history.delete(subject); // most recently used last
    this.#history.set(subject, history);
    if (this.#history.size > subjectsMax) this.#forgetOldest();
  }

  #forgetOldest(): void {
    for (const oldest of this.#history.keys()) {
      if (this.#history.size <= subjectsLeft) return;
      this.#history.delete(oldest);
    }
  }

  #write(decision: Decision): void {
    const { kind, ...fields } = decision;
    const line: LogFields = { decision: kind, ...fields };
    this.#logger[classifyLevel(decision)](line, decisionMessages[kind]);
  }
}
