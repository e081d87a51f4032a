import type { LogFields, Logger } from '../../machinery/ports/logger.ts';
import { counter, type Meter } from '../../machinery/ports/meter.ts';
import { LineLimit } from '../../machinery/queueing/line-limit.ts';
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
/** Lines about one node or pod in a minute: what its objects contain, and how often that changes, is up to their writers. */
export const linesPerSubject = 30;
const linesPeriodMs = 60_000;

export const decisionsTotal = counter('node_lifecycle_decisions_total', 'Number of decisions, by kind.', ['decision']);

export interface NotedDecision {
  readonly atMs: number;
  readonly decision: Decision;
  /** The uid of the pod of the decision; undefined for other decisions, and where it is not known. */
  readonly uid?: string;
}

interface SubjectHistory {
  readonly history: NotedDecision[];
  readonly limit: LineLimit;
}

/**
 * Counts every decision, logs at most {@link linesPerSubject} a minute about one node or pod, keeps the last ones of each
 * node, pod and zone, and notifies listeners.
 */
export class DecisionLog implements DecisionSink {
  readonly #logger: Logger;
  readonly #meter: Meter;
  readonly #nowMs: () => number;
  readonly #subjects = new Map<string, SubjectHistory>();
  readonly #listeners = new Set<(noted: NotedDecision) => void>();

  constructor(logger: Logger, meter: Meter, nowMs: () => number) {
    this.#logger = logger;
    this.#meter = meter;
    this.#nowMs = nowMs;
  }

  note(decision: Decision, uid?: string): void {
    const noted = { atMs: this.#nowMs(), decision, ...(uid === undefined ? {} : { uid }) };
    const { limit } = this.#store(subjectOfDecision(decision), noted);
    this.#meter.add(decisionsTotal, 1, { decision: decision.kind });
    const admitted = isAboutObject(decision) ? limit.admit(noted.atMs) : {};
    if (admitted !== undefined) this.#write(decision, admitted);
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
    return this.#subjects.get(subject)?.history ?? [];
  }

  onDecision(listener: (noted: NotedDecision) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #store(name: string, noted: NotedDecision): SubjectHistory {
    const known = this.#subjects.get(name);
    known?.history.push(noted);
    if (known !== undefined && known.history.length > historyPerSubjectMax) known.history.shift();
    // Most subjects have one decision, and an array that is pushed to has room for seventeen.
    const subject = known ?? { history: [noted], limit: new LineLimit(linesPerSubject, linesPeriodMs) };
    this.#subjects.delete(name); // most recently used last
    this.#subjects.set(name, subject);
    if (this.#subjects.size > subjectsMax) this.#forgetOldest();
    return subject;
  }

  #forgetOldest(): void {
    for (const oldest of this.#subjects.keys()) {
      if (this.#subjects.size <= subjectsLeft) return;
      this.#subjects.delete(oldest);
    }
  }

  #write(decision: Decision, admitted: LogFields): void {
    const { kind, ...fields } = decision;
    const line: LogFields = { decision: kind, ...fields, ...admitted };
    this.#logger[classifyLevel(decision)](line, decisionMessages[kind]);
  }
}

/** Decisions about zones, policies and the cluster follow from many objects. */
function isAboutObject(decision: Decision): boolean {
  return 'node' in decision || 'pod' in decision || 'subject' in decision;
}
