import type { Machine } from '../profile.ts';
import { MachineSignals } from './machine-signals.ts';

/**
 * The machine of a hollow kubelet: its hardware, its available resources, and its injected faults. It may be changed at
 * any time; the kubelet observes the change at its next poll.
 */
export class FakeMachine {
  readonly name: string;
  /** While set, the node is not ready, for this reason. */
  fault: string | undefined;
  #description: Machine;
  #boots = 1;
  // Most machines are never changed: optional state is created on first use.
  #signals: MachineSignals | undefined;
  #forced: Map<string, boolean> | undefined;

  /** `description` may be shared by many machines. */
  constructor(name: string, description: Machine) {
    this.name = name;
    this.#description = description;
  }

  describe(): Machine {
    return this.#description;
  }

  /** Changes the hardware from the next status on. */
  change(changes: Partial<Machine>): void {
    this.#description = { ...this.#description, ...changes };
  }

  /** Changes with each reboot; a restart of the kubelet alone does not change it. */
  get bootId(): string {
    return this.#boots === 1 ? `boot-${this.name}` : `boot-${this.name}-${this.#boots}`;
  }

  reboot(): void {
    this.#boots += 1;
  }

  get signals(): MachineSignals {
    this.#signals ??= new MachineSignals(() => this.#description);
    return this.#signals;
  }

  /**
   * Forces a condition regardless of the signals, until {@link releaseCondition}. A custom condition, once set, is
   * reported permanently: the status patch never removes a condition.
   */
  setCondition(type: string, holds: boolean): void {
    this.#forced ??= new Map();
    this.#forced.set(type, holds);
  }

  /** Undoes {@link setCondition}: the condition follows from the signals again. */
  releaseCondition(type: string): void {
    this.#forced?.delete(type);
  }

  get forcedConditions(): ReadonlyMap<string, boolean> {
    return this.#forced ?? noConditions;
  }
}

const noConditions: ReadonlyMap<string, boolean> = new Map();
