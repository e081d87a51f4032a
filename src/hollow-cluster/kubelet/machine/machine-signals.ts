import type { Machine } from '../profile.ts';
import type { EvictionSignal, Observation, Observations } from './plan-eviction-pass.ts';

const bytesPerMiB = 1_024 * 1_024;

/** The available resources of a machine, in bytes: half of each capacity unless overridden. */
export class MachineSignals {
  readonly #describe: () => Machine;
  #available: Map<EvictionSignal, number> | undefined;
  #listeners: readonly (() => void)[] = [];

  constructor(describe: () => Machine) {
    this.#describe = describe;
  }

  /** Overrides what is available from now on. */
  set(signal: EvictionSignal, available: number): void {
    this.#available ??= new Map();
    this.#available.set(signal, available);
    for (const listener of this.#listeners) listener();
  }

  /** Like {@link set}, for a share of the capacity: 0.09 is 9 %. */
  setShare(signal: EvictionSignal, share: number): void {
    this.set(signal, Math.trunc(this.#capacityOf(signal) * share));
  }

  /** Removes the override: nothing is short. */
  clear(signal: EvictionSignal): void {
    this.#available?.delete(signal);
    for (const listener of this.#listeners) listener();
  }

  read(): Observations {
    return new Map([this.#readOne('memory.available'), this.#readOne('nodefs.available')]);
  }

  /** Called after each override or its removal. Returns the function that unsubscribes. */
  onChange(listener: () => void): () => void {
    this.#listeners = [...this.#listeners, listener];
    return () => {
      this.#listeners = this.#listeners.filter((each) => each !== listener);
    };
  }

  #readOne(signal: EvictionSignal): readonly [EvictionSignal, Observation] {
    const capacity = this.#capacityOf(signal);
    return [signal, { available: this.#available?.get(signal) ?? Math.trunc(capacity / 2), capacity }];
  }

  #capacityOf(signal: EvictionSignal): number {
    const { memoryMiB, ephemeralStorageMiB } = this.#describe();
    return (signal === 'memory.available' ? memoryMiB : ephemeralStorageMiB) * bytesPerMiB;
  }
}
