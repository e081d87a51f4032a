/** Most urgent first: taking a taint back, telling the truth about a node, evicting, everything else. */
export type WriteLane = 'untaint' | 'status' | 'no-execute' | 'other';

/** Bounded concurrency with priorities: of the writes that wait, one of the most urgent lane goes next. */
export interface WriteLanes {
  run<T>(lane: WriteLane, write: () => Promise<T>): Promise<T>;
  /** Writes that wait or are under way. */
  readonly pending: number;
  /** Resolves when nothing waits or is under way. */
  drained(): Promise<void>;
}
