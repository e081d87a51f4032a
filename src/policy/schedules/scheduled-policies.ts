import type { SettingChange } from '../../controller/model/decisions.ts';
import type { NodePolicy } from '../../controller/model/policy.ts';
import type { Clock } from '../../machinery/ports/clock.ts';
import type { Live } from '../../machinery/ports/live.ts';
import { Alarm } from '../../machinery/supervision/alarm.ts';
import { diffPolicies } from '../schema/describe-policy.ts';
import { readScheduleTimes } from '../schema/schedule-times.ts';
import { decideWindows } from './decide-windows.ts';

/** A step of the wall clock, or the end of a suspend, changes what holds without any timer that ends. */
const checkEveryMs = 10_000;

/** The policies with the settings of the windows that have begun at this wall time. Without schedules they are the same value. */
export function policiesAt(
  policies: readonly NodePolicy[],
  wallMs: number,
): { readonly policies: readonly NodePolicy[]; readonly changesAtMs: number } {
  if (policies.every(({ schedules }) => schedules === undefined)) return { policies, changesAtMs: Infinity };
  const all = policies.map((each) => decideWindows(each, (schedule) => readScheduleTimes(schedule, wallMs), wallMs));
  return {
    policies: all.map(({ policy }) => policy),
    changesAtMs: Math.min(...all.map(({ changesAtMs }) => changesAtMs)),
  };
}

interface Derived<T> {
  readonly from: T;
  readonly config: T;
  /** Wall time within which it holds. */
  readonly sinceMs: number;
  readonly changesAtMs: number;
}

/**
 * Settings whose policies have what their schedules set. They follow the wall clock: each reader gets what holds at its time, and
 * {@link run} announces it. Without schedules they are the value given.
 */
export class ScheduledPolicies<T extends { readonly policies: readonly NodePolicy[] }> implements Live<T> {
  readonly #given: Live<T>;
  readonly #clock: Clock;
  readonly #alarm: Alarm;
  #derived: Derived<T>;
  #announced: readonly NodePolicy[];

  constructor(given: Live<T>, clock: Clock) {
    this.#given = given;
    this.#clock = clock;
    this.#alarm = new Alarm(clock);
    this.#derived = this.#derive();
    this.#announced = this.#derived.config.policies;
  }

  current(): T {
    const { from, sinceMs, changesAtMs } = this.#derived;
    const isCurrent =
      from === this.#given.current() && (changesAtMs === Infinity || this.#holdsNow(sinceMs, changesAtMs));
    if (!isCurrent) this.#derived = this.#derive();
    return this.#derived.config;
  }

  /** The given settings changed, and that is announced: only windows are announced by {@link run}. */
  noteGiven(): void {
    this.#announced = this.current().policies;
    this.#alarm.wakeUp();
  }

  /** Runs until the signal aborts. Returns the changes of each window that begins or ends. */
  async *run(signal: AbortSignal): AsyncGenerator<readonly SettingChange[]> {
    while (!signal.aborted) {
      await this.#alarm.wait(this.#dueInMs(), signal);
      const changes = signal.aborted ? [] : this.#takeChanges();
      if (changes.length > 0) yield changes;
    }
  }

  #takeChanges(): readonly SettingChange[] {
    const before = this.#announced;
    this.#announced = this.current().policies;
    return diffPolicies(before, this.#announced, (name) => `policies[${name}]`);
  }

  #dueInMs(): number {
    const { changesAtMs } = this.#derived;
    if (changesAtMs === Infinity) return Infinity;
    return Math.min(checkEveryMs, Math.max(1, changesAtMs - this.#clock.nowMs()));
  }

  #holdsNow(sinceMs: number, changesAtMs: number): boolean {
    const nowMs = this.#clock.nowMs();
    return nowMs >= sinceMs && nowMs < changesAtMs;
  }

  #derive(): Derived<T> {
    const from = this.#given.current();
    const sinceMs = this.#clock.nowMs();
    const { policies, changesAtMs } = policiesAt(from.policies, sinceMs);
    const config = policies === from.policies ? from : Object.freeze({ ...from, policies });
    return { from, config, sinceMs, changesAtMs };
  }
}
