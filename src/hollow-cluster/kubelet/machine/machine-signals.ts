import type { Machine } from '../profile.ts';
import { type EvictionSignal, evictionSignals } from './classify-signal.ts';
import type { Observation } from './plan-eviction-pass.ts';

const bytesPerMiB = 1_024 * 1_024;
/** Default ratio of an ext4 file system. */
const bytesPerInode = 16_384;
const pidsMax = 32_768;

/** An overridden value of a signal. */
interface SignalReading {
  readonly available: number;
  /** The machine's own when absent. */
  readonly capacity?: number;
  /** Monotonic time of the measurement, to simulate a stale one; the time of the read when absent. */
  readonly measuredAtMs?: number;
}

/**
 * The available resources of a machine: half of each capacity unless overridden. Amounts are bytes, inodes or process
 * ids.
 */
export class MachineSignals {
  readonly #describe: () => Machine;
  #scripted: Map<EvictionSignal, SignalReading> | undefined;
  #reclaimable: Map<EvictionSignal, number> | undefined;
  #listeners: readonly (() => void)[] = [];

  constructor(describe: () => Machine) {
    this.#describe = describe;
  }

  /** Overrides the signal from now on. */
  set(signal: EvictionSignal, reading: SignalReading): void {
    this.#scripted ??= new Map();
    this.#scripted.set(signal, reading);
    for (const listener of this.#listeners) listener();
  }

  /** Like {@link set}, for a share of the capacity: 0.09 is 9 %. */
  setShare(signal: EvictionSignal, share: number): void {
    const capacity = capacityOf(this.#describe(), signal);
    this.set(signal, { available: Math.trunc(capacity * share), capacity });
  }

  /** Removes the override: nothing is short. */
  clear(signal: EvictionSignal): void {
    this.#scripted?.delete(signal);
    for (const listener of this.#listeners) listener();
  }

  /** The amount that becomes available once when the kubelet deletes images and dead containers. */
  setReclaimable(signal: EvictionSignal, amount: number): void {
    this.#reclaimable ??= new Map();
    this.#reclaimable.set(signal, amount);
  }

  /** Deletes what can be reclaimed. False if there is nothing to reclaim, and then nothing changes. */
  reclaim(signal: EvictionSignal): boolean {
    const amount = this.#reclaimable?.get(signal);
    const reading = this.#scripted?.get(signal);
    this.#reclaimable?.delete(signal);
    if (amount === undefined || reading === undefined) return false;
    this.set(signal, { ...reading, available: reading.available + amount });
    return true;
  }

  /** All signals; `nowMs` is monotonic. */
  read(nowMs: number): ReadonlyMap<EvictionSignal, Observation> {
    return new Map(evictionSignals.map((signal) => [signal, this.#readOne(signal, nowMs)]));
  }

  /** Called after each override or its removal. Returns the function that unsubscribes. */
  onChange(listener: () => void): () => void {
    this.#listeners = [...this.#listeners, listener];
    return () => {
      this.#listeners = this.#listeners.filter((each) => each !== listener);
    };
  }

  #readOne(signal: EvictionSignal, nowMs: number): Observation {
    const scripted = this.#scripted?.get(signal);
    const capacity = scripted?.capacity ?? capacityOf(this.#describe(), signal);
    return {
      available: scripted?.available ?? Math.trunc(capacity / 2),
      capacity,
      atMs: scripted?.measuredAtMs ?? nowMs,
    };
  }
}

function capacityOf(machine: Machine, signal: EvictionSignal): number {
  const diskBytes = machine.ephemeralStorageMiB * bytesPerMiB;
  switch (signal) {
    case 'memory.available':
    case 'allocatableMemory.available':
      return machine.memoryMiB * bytesPerMiB;
    case 'nodefs.available':
    case 'imagefs.available':
      return diskBytes;
    case 'nodefs.inodesFree':
    case 'imagefs.inodesFree':
      return Math.trunc(diskBytes / bytesPerInode);
    case 'pid.available':
      return pidsMax;
  }
}
