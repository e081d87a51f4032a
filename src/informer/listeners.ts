import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { Meter } from '../ports/meter.ts';
import type { Change, Listener } from './informer.ts';
import { ListenerRecord } from './listener-record.ts';

/** Changes that one listener gets in a row before the next one has its turn. */
export const handOverMax = 1_024;

export interface ListenersOptions {
  readonly resource: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meter: Meter;
}

interface Member<T> {
  readonly hear: Listener<T>;
  readonly record: ListenerRecord;
  left: boolean;
}

/**
 * Those who want to hear of changes. Each hears of all of them in their order, and nobody else runs between the store and
 * its listeners. One that throws misses only the change it threw at, and nobody else misses any.
 */
export class Listeners<T> {
  readonly #options: ListenersOptions;
  /** Replaced when somebody comes or goes, so that whoever goes through it may keep it. */
  #members: readonly Member<T>[] = [];

  constructor(options: ListenersOptions) {
    this.#options = options;
  }

  /** Tells the newcomer what there is, then lets it in. Returns the way to leave. */
  join(name: string, hear: Listener<T>, past: Iterable<Change<T>>): () => void {
    const member = { hear, record: new ListenerRecord(name, this.#options), left: false };
    for (const changes of inParts(past)) this.#handOver(member, changes);
    this.#members = [...this.#members, member];
    return () => {
      member.left = true;
      this.#members = this.#members.filter((other) => other !== member);
    };
  }

  /**
   * Each change to every member, in order. Who joins meanwhile has been told of the state that these changes led to, so
   * it is left out; who leaves meanwhile hears no more.
   */
  announce(changes: Iterable<Change<T>>): void {
    const members = this.#members;
    if (members.length === 0) return;
    for (const part of inParts(changes)) {
      for (const member of members) this.#handOver(member, part);
    }
  }

  #handOver(member: Member<T>, changes: readonly Change<T>[]): void {
    const { clock } = this.#options;
    const sinceMs = clock.monotonicMs();
    for (const change of changes) {
      if (member.left) break;
      try {
        member.hear(change);
      } catch (error) {
        member.record.threw(error, change.key);
      }
    }
    member.record.took(clock.monotonicMs() - sinceMs, changes.length);
  }
}

/** What was gathered in one piece stays so; of what comes one by one there may be a million. */
function* inParts<C>(changes: Iterable<C>): Generator<readonly C[]> {
  if (Array.isArray(changes)) return yield changes;
  let part: C[] = [];
  for (const change of changes) {
    part.push(change);
    if (part.length < handOverMax) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}
