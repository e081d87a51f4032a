import { evictedByTaint } from '../../machinery/api/conditions.ts';
import { podKey, type PodView } from '../../machinery/api/pod.ts';
import type { Clock } from '../../machinery/ports/clock.ts';
import type { EventRecorder } from '../../machinery/ports/event-recorder.ts';
import { callWhile } from '../../machinery/supervision/call-within.ts';
import {
  type CommandWriter,
  isUnpatchable,
  mayHaveBeenDone,
  type PodSource,
  type StillWanted,
  type WriteOutcome,
} from '../model/commands.ts';
import type { EvictAt } from './decide-eviction.ts';
import { markingForDeletion } from './events.ts';
import type { Removal, RemovalPace } from './removal-pace.ts';
import type { TimedEviction } from './timed-eviction.ts';

const reasonRecheckMs = 1_000;
/** A pod that changed between its evaluation and so many requests in a row is removed in whatever version it is. */
const conflictsMax = 5;

interface RemovalRequestsOptions {
  readonly pods: PodSource;
  readonly writer: CommandWriter;
  readonly recorder: EventRecorder;
  readonly clock: Clock;
  readonly pace: Pick<RemovalPace, 'answered' | 'conclude' | 'methodOf'>;
  /** Whether the eviction was cancelled or moved, or a hold applies now. */
  readonly reasonGone: (pod: PodView, eviction: TimedEviction, evictAt: EvictAt) => boolean;
}

/** Removes one pod at a time of its caller: announces it, marks it, and deletes it or requests its eviction. */
export class RemovalRequests {
  readonly #options: RemovalRequestsOptions;

  constructor(options: RemovalRequestsOptions) {
    this.#options = options;
  }

  /**
   * Removes a pod as decided. The token is spent only if that may have been done. `reason-gone`: the request was given up because
   * its reason ended meanwhile. The writer asks for the reason again immediately before it sends.
   */
  async send(pod: PodView, eviction: TimedEviction, removal: Removal): Promise<WriteOutcome | 'reason-gone'> {
    const { pace, clock } = this.#options;
    const startedMs = clock.monotonicMs();
    let isDone = false;
    eviction.isSending = true;
    try {
      const unmarked = removal.by === 'delete' ? await this.#mark(pod, eviction, removal) : undefined;
      if (unmarked !== undefined) return noteConflict(eviction, pod, unmarked);
      const outcome = noteConflict(eviction, pod, await this.#remove(pod, eviction, removal));
      isDone = outcome.result === 'written' || mayHaveBeenDone(outcome);
      pace.conclude(pod, eviction, removal, outcome);
      const isAborted = outcome.result === 'failed' && outcome.reason === 'aborted';
      return isAborted && !this.#isReasonThere(pod, eviction, removal) ? 'reason-gone' : outcome;
    } finally {
      eviction.isSending = false;
      if (!isDone) removal.returnToken();
      pace.answered(pod, clock.monotonicMs() - startedMs);
    }
  }

  /**
   * Marks a pod before its deletion. The API server itself marks a pod that it evicts. Undefined: it is marked, or
   * cannot be.
   */
  async #mark(pod: PodView, eviction: TimedEviction, removal: Removal): Promise<WriteOutcome | undefined> {
    const { writer, clock } = this.#options;
    this.#announce(pod, eviction);
    if (pod.disruptionReason === evictedByTaint.reason) return undefined;
    const { forHealth } = removal.evictAt;
    const command = { kind: 'mark-pod-disrupted', pod, atMs: clock.nowMs(), forHealth } as const;
    const marked = await writer.carryOut(command, () => this.#isStillWanted(pod, eviction, removal));
    const isContested = isConflict(marked) && changesWithoutEnd(eviction);
    return marked.result === 'written' || isUnpatchable(marked) || isContested ? undefined : marked;
  }

  #remove(pod: PodView, eviction: TimedEviction, removal: Removal): Promise<WriteOutcome> {
    const stillWanted: StillWanted = () => this.#isStillWanted(pod, eviction, removal);
    this.#announce(pod, eviction);
    if (removal.by === 'evict')
      return this.#requestEviction(pod, () => this.#isReasonThere(pod, eviction, removal), stillWanted);
    const { forHealth } = removal.evictAt;
    const onlyThisVersion = !changesWithoutEnd(eviction);
    return this.#options.writer.carryOut({ kind: 'delete-pod', pod, forHealth, onlyThisVersion }, stillWanted);
  }

  /**
   * A request that hangs is given up when its reason ends, as when the node becomes unreachable. The API server may still evict
   * the pod; what follows has the uid of the pod as a precondition too.
   */
  #requestEviction(pod: PodView, isWanted: () => boolean, stillWanted: StillWanted): Promise<WriteOutcome> {
    const { writer, clock } = this.#options;
    return callWhile({ clock, everyMs: reasonRecheckMs, isWanted }, (signal) =>
      writer.carryOut({ kind: 'evict-pod', pod, forHealth: true }, stillWanted, signal),
    );
  }

  #announce(pod: PodView, eviction: TimedEviction): void {
    if (!eviction.announced) this.#options.recorder.record(markingForDeletion(pod));
    eviction.announced = true;
  }

  /** Whether the reason of the eviction is there, and the pod is not terminating. */
  #isStillWanted(pod: PodView, eviction: TimedEviction, removal: Removal): boolean {
    if (!this.#isReasonThere(pod, eviction, removal)) return false;
    const current = this.#options.pods.get(podKey(pod));
    return current?.uid === pod.uid && !current.terminating;
  }

  /** Whether the reason lasts, and the pod is still to be removed in this way. */
  #isReasonThere(pod: PodView, eviction: TimedEviction, { by, evictAt }: Removal): boolean {
    const { reasonGone, pace } = this.#options;
    return !reasonGone(pod, eviction, evictAt) && pace.methodOf(podKey(pod), eviction, evictAt) === by;
  }
}

/** Counts the conflicts in a row. One about a version that was evaluated before says nothing new: the newest could not be read. */
function noteConflict(
  eviction: TimedEviction,
  { resourceVersion: version }: PodView,
  outcome: WriteOutcome,
): WriteOutcome {
  const { count = 0, version: before } = eviction.conflicts ?? {};
  if (!isConflict(outcome)) eviction.conflicts = undefined;
  else if (version !== before) eviction.conflicts = { count: count + 1, version };
  return outcome;
}

function isConflict(outcome: WriteOutcome): boolean {
  return outcome.result === 'failed' && outcome.reason === 'conflict';
}

/** Another client changes the pod again and again, which any that may patch it could do to keep it on a failed node. */
function changesWithoutEnd({ conflicts }: TimedEviction): boolean {
  return conflicts !== undefined && conflicts.count >= conflictsMax;
}
