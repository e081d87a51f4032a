// The hold of a ControlPlanePathFailure: start, end and reason. Its end follows from when the first node became silent
// and from the configured maximum, so a changed maximum applies to a hold in force.
import type { EventRecorder } from '../../machinery/ports/event-recorder.ts';
import type { DecisionSink, OutageArithmetic } from '../model/decisions.ts';
import { failedTogether, type LastHeartbeat } from './classify-outage.ts';
import { actsHeld, actsResumed } from './events.ts';

interface PathFailureHoldOptions {
  /** The longest hold for this outage, in milliseconds from its first silence; 0 for none. Read at each call. */
  readonly holdMsMax: (why: OutageArithmetic) => number;
  /** How long the hold continues once its evidence is gone. */
  readonly windowMs: () => number;
  /** The health clock, on which all times here are. */
  readonly healthNowMs: () => number;
  readonly decisions: DecisionSink;
  readonly recorder: EventRecorder;
}

export interface OutageHold {
  readonly why: OutageArithmetic;
  readonly fromMs: number;
  readonly untilMs: number;
  /** The evidence is gone; the hold ends soon. */
  readonly recovering: boolean;
  /** Last heartbeat of the node for whose silence it was classified. */
  readonly silence: LastHeartbeat;
  /** Number of the hold in this process, from 1. */
  readonly serial: number;
}

/** The stored part of a hold. */
interface BegunHold extends Omit<OutageHold, 'untilMs' | 'recovering'> {
  /** When the hold ends because its evidence is gone, and what is there instead. */
  readonly recovered: { readonly byMs: number; readonly evidence: OutageArithmetic } | undefined;
}

/** What remains of a hold that ended, or whose time was over before it began: the same outage is not held for longer, whatever became of its first nodes. */
type EndedHold = Pick<OutageHold, 'fromMs' | 'silence'>;

/** So many ended holds are remembered. */
const endedMax = 8;

export class PathFailureHold {
  readonly #options: PathFailureHoldOptions;
  #begun: BegunHold | undefined;
  #ended: readonly EndedHold[] = [];
  #holds = 0;

  constructor(options: PathFailureHoldOptions) {
    this.#options = options;
  }

  /** The hold that has begun and was not ended by {@link review}; its time may be over. */
  last(): OutageHold | undefined {
    if (this.#begun === undefined) return undefined;
    const { recovered, ...hold } = this.#begun;
    const longestMs = hold.fromMs + this.#options.holdMsMax(hold.why);
    const untilMs = Math.min(longestMs, recovered?.byMs ?? Infinity);
    return { ...hold, untilMs, recovering: recovered !== undefined };
  }

  /** The hold whose time is not over. */
  inForce(): OutageHold | undefined {
    const hold = this.last();
    return hold !== undefined && this.#options.healthNowMs() < hold.untilMs ? hold : undefined;
  }

  /**
   * Begins a hold and returns it, unless one exists or its time would be over: that counts from the first silence,
   * however late it becomes known, so a restart does not extend it.
   */
  begin(why: OutageArithmetic, silence: LastHeartbeat, firstSilenceMs: () => number): OutageHold | undefined {
    if (this.#begun !== undefined) return undefined;
    const before = this.#ended.filter((ended) => failedTogether(ended.silence, silence));
    const beforeMs = Math.min(...before.map((ended) => ended.fromMs));
    const { decisions, recorder, holdMsMax, healthNowMs } = this.#options;
    const isOver = (fromMs: number): boolean => fromMs + holdMsMax(why) <= healthNowMs();
    // The search for the first silence costs time for each silent node, and thousands may be classified at once.
    if (isOver(beforeMs)) return undefined;
    const fromMs = Math.min(firstSilenceMs(), beforeMs);
    if (isOver(fromMs)) {
      this.#remember({ fromMs, silence });
      return undefined;
    }
    const holdMs = fromMs + holdMsMax(why) - healthNowMs();
    this.#holds += 1;
    this.#begun = { why, fromMs, recovered: undefined, silence, serial: this.#holds };
    decisions.note({ kind: 'acts-held', outage: why.outage, holdMs, why });
    recorder.record(actsHeld(why, holdMs));
    return this.last();
  }

  /**
   * Ends the hold when its time is over. Ends it soon when its evidence is gone: the same silence would now get
   * another class, because nodes renewed, were deleted or are in maintenance, or the evidence for a longer hold is gone and the shorter time is over.
   */
  review(classify: (silence: LastHeartbeat) => OutageArithmetic): void {
    const hold = this.last();
    if (hold === undefined || this.#begun === undefined) return;
    const nowMs = this.#options.healthNowMs();
    if (nowMs >= hold.untilMs) return this.#end(hold, nowMs);
    if (hold.recovering) return;
    const why = classify(hold.silence);
    const soonMs = nowMs + this.#options.windowMs();
    const untilMs = why.outage === hold.why.outage ? hold.fromMs + this.#options.holdMsMax(why) : -Infinity;
    if (untilMs < Math.min(soonMs, hold.untilMs))
      this.#begun = { ...this.#begun, recovered: { byMs: soonMs, evidence: why } };
    else if (untilMs !== hold.untilMs) this.#begun = { ...this.#begun, why };
  }

  #remember(ended: EndedHold): void {
    this.#ended = [...this.#ended, ended].slice(-endedMax);
  }

  #end({ fromMs, why, silence }: OutageHold, nowMs: number): void {
    const evidence = this.#begun?.recovered?.evidence ?? null;
    this.#remember({ fromMs, silence });
    this.#begun = undefined;
    const heldMs = nowMs - fromMs;
    this.#options.decisions.note({ kind: 'acts-resumed', outage: why.outage, heldMs, evidence });
    this.#options.recorder.record(actsResumed(why, heldMs, evidence));
  }
}
