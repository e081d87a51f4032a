/** The only source of time and of timers. */
export interface Clock {
  /** Wall time, for timestamps that are sent or stored. May jump. */
  nowMs(): number;
  /** Never decreases. For durations and deadlines. */
  monotonicMs(): number;
  /** Resolves after `ms` of monotonic time, or at once when the signal aborts. Never rejects; leaves no listener. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** One moment on both clocks. */
export interface Instant {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

export function instantOf(clock: Pick<Clock, 'nowMs' | 'monotonicMs'>): Instant {
  return { monotonicMs: clock.monotonicMs(), wallMs: clock.nowMs() };
}

/** The longer of the times that both clocks show: while a machine is suspended only its wall clock advances. */
export function elapsedMs(from: Instant, to: Instant): number {
  return Math.max(to.monotonicMs - from.monotonicMs, to.wallMs - from.wallMs);
}
