import { evidenceMsMax } from './list-fallback.ts';

/** Frames further apart may have lost contact between them: the count of `flowedMs` begins again. */
const flowGapMsMax = 30_000;

/**
 * Frames of a watch in place of frequent contact. In a cluster of one or two nodes the frames of leases are further
 * apart than contacts may be; where the probe that fills the gaps fails, each frame would start an observation that the
 * next frame starts again. A frame of an open watch proves what was stored before it, as a complete list does.
 */
export class FrameFallback {
  #sinceMs: number | undefined;
  #lastMs = -Infinity;
  #active = false;

  /** Frames are used as evidence now. */
  get active(): boolean {
    return this.#active;
  }

  /** Frames are used as evidence now, and the last one is recent. */
  isFresh(nowMs: number): boolean {
    return this.#active && nowMs - this.#lastMs <= flowGapMsMax;
  }

  /**
   * To be called often: with the time of the last frame, or undefined while the watches are closed or behind. A watch that
   * is open again soon delivers what was stored meanwhile, so that is a gap like any other.
   */
  take(frameAtMs: number | undefined, nowMs: number): void {
    const gapMsMax = this.#active && frameAtMs !== undefined ? evidenceMsMax : flowGapMsMax;
    if (nowMs - (frameAtMs ?? this.#lastMs) > gapMsMax) this.#sinceMs = undefined;
    else if (frameAtMs !== undefined) this.#note(Math.min(frameAtMs, nowMs));
  }

  #note(frameAtMs: number): void {
    this.#sinceMs ??= frameAtMs;
    this.#lastMs = frameAtMs;
  }

  /** Time for which frames have come since then without such a gap, in milliseconds, up to the last one. */
  flowedMs(fromMs: number): number {
    return this.#sinceMs === undefined ? 0 : Math.max(0, this.#lastMs - Math.max(this.#sinceMs, fromMs));
  }

  /** Frames are used as evidence from now on, until `end`. Returns the time that the last frame proves. */
  begin(): number {
    this.#active = true;
    return this.#lastMs;
  }

  /** The watches are fresh again, or closed. */
  end(): void {
    this.#active = false;
  }
}
