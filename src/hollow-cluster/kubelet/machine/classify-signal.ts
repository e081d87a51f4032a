/** The three conditions that follow from a machine's signals. */
export type PressureType = 'MemoryPressure' | 'DiskPressure' | 'PIDPressure';

/** Resource that a machine reports as available (kubelet `eviction/api.Signal`). */
export type EvictionSignal =
  | 'memory.available'
  | 'allocatableMemory.available'
  | 'nodefs.available'
  | 'nodefs.inodesFree'
  | 'imagefs.available'
  | 'imagefs.inodesFree'
  | 'pid.available';

export interface SignalClass {
  readonly condition: PressureType;
  /** The resource that is short when the signal is low, as in messages. */
  readonly resource: 'memory' | 'ephemeral-storage' | 'inodes' | 'pids';
}

const memory: SignalClass = { condition: 'MemoryPressure', resource: 'memory' };
const disk: SignalClass = { condition: 'DiskPressure', resource: 'ephemeral-storage' };
const inodes: SignalClass = { condition: 'DiskPressure', resource: 'inodes' };

const classes: Readonly<Record<EvictionSignal, SignalClass>> = {
  'memory.available': memory,
  'allocatableMemory.available': memory,
  'nodefs.available': disk,
  'nodefs.inodesFree': inodes,
  'imagefs.available': disk,
  'imagefs.inodesFree': inodes,
  'pid.available': { condition: 'PIDPressure', resource: 'pids' },
};

export const evictionSignals: readonly EvictionSignal[] = Object.keys(classes).filter(isEvictionSignal);

/** The condition and the resource of a signal (kubelet `signalToNodeCondition`, `signalToResource`). */
export function classifySignal(signal: EvictionSignal): SignalClass {
  return classes[signal];
}

export function isEvictionSignal(text: string): text is EvictionSignal {
  return Object.hasOwn(classes, text);
}
