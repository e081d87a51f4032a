/** The only way to know the time or to wait. */
export interface Clock {
  /** Wall time, for timestamps that others read. May jump. */
  nowMs(): number;
  /** Never goes back. For measuring how long something has been silent. */
  monotonicMs(): number;
  /** Resolves after `ms` of monotonic time, or at once when the signal aborts. Never rejects. Leaves no listener behind. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}
