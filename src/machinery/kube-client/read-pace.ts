/** A stream with more arrivals in a pause than this is busy: with fewer a pause costs more than it saves. */
const busyArrivalsPerPause = 3;
/** A busy stream is read once in this time, so an event waits that long at most. */
export const readEveryMs = 100;
/** The same while there is nothing that an event could stop. */
export const quietReadEveryMs = 250;
/**
 * A read of this size may have left something behind: libuv reads 64 KiB at once. Nor does a pause bring more: the kernel's
 * buffer holds little more, and when it is full the sender waits, so that a pause would limit the rate of the stream.
 */
export const fullReadBytes = 48 * 1024;
/** A longer pause brings less at most: it saves little for a stream that is this fast, and the buffer may be smaller. */
const quietReadBytes = 32 * 1024;
/** A shorter pause saves nothing, and an initial list takes the longer for it. */
const pauseMsMin = 5;
const measureMs = 1_000;

/** What acts on the events of a stream. */
export interface Receiver {
  /** It decides on what it has read at this monotonic time or before. */
  readonly decidesBy: (monotonicMs: number) => boolean;
  /** There is nothing that an event could stop. */
  readonly isQuiet: () => boolean;
}

/** A receiver that decides nothing. */
export const undeciding: Receiver = { decidesBy: () => false, isQuiet: () => false };

/**
 * Decides when a stream is read next. An event that arrives alone costs a wake-up of the process, which is most of its cost;
 * so a busy stream is read in intervals, as network drivers coalesce interrupts. A stream with few events is read at once,
 * and so is the rest of a large read, and what may arrive before its receiver decides.
 */
export class ReadPace {
  readonly #receiver: Receiver;
  #measuredAtMs = -Infinity;
  #measuredBytes = 0;
  #reads = 0;
  #isBusy = false;
  /** Mean of the last measurement of a stream that was not busy. */
  #bytesPerArrival = 1;
  #readAtMs = -Infinity;
  #readFromByte = 0;
  /** Time of the last pause. */
  #pausedAtMs = -Infinity;
  #pausedAtByte = 0;

  constructor(receiver: Receiver) {
    this.#receiver = receiver;
  }

  /** Whether the next read may have to wait. To be called before each; `bytes`: number of bytes read so far. */
  isBusy(nowMs: number, bytes: number): boolean {
    this.#reads += 1;
    if (nowMs - this.#measuredAtMs >= measureMs) this.#measure(nowMs, bytes);
    return this.#isBusy;
  }

  /** A busy stream is being read, after `bytes` bytes. */
  noteRead(nowMs: number, bytes: number): void {
    this.#readAtMs = nowMs;
    this.#readFromByte = bytes;
  }

  /** Milliseconds until a busy stream is read next; 0 or less: at once. To be called once after each read. */
  waitMs(nowMs: number, bytes: number): number {
    if (bytes - this.#readFromByte >= fullReadBytes) return 0;
    const dueMs = this.#readAtMs + this.#pauseMs(nowMs, bytes);
    return this.#receiver.decidesBy(dueMs) ? 0 : dueMs - nowMs;
  }

  /** Time that the stream takes for what a pause may bring, at the rate since the last pause; 0: no pause. */
  #pauseMs(nowMs: number, bytes: number): number {
    const bytesPerMs = (bytes - this.#pausedAtByte) / Math.max(1, nowMs - this.#pausedAtMs);
    this.#pausedAtMs = nowMs;
    this.#pausedAtByte = bytes;
    const timeFor = (size: number): number => size / Math.max(1, bytesPerMs);
    const quietMs = this.#receiver.isQuiet() ? Math.min(quietReadEveryMs, timeFor(quietReadBytes)) : 0;
    const pauseMs = Math.max(Math.min(readEveryMs, timeFor(fullReadBytes)), quietMs);
    return pauseMs < pauseMsMin ? 0 : pauseMs;
  }

  /** One read of a busy stream brings many arrivals, whose number is estimated from their size. */
  #measure(nowMs: number, bytes: number): void {
    const elapsedMs = nowMs - this.#measuredAtMs;
    const bytesSince = bytes - this.#measuredBytes;
    if (!this.#isBusy) this.#bytesPerArrival = Math.max(1, bytesSince / this.#reads);
    const arrivals = this.#isBusy ? bytesSince / this.#bytesPerArrival : this.#reads;
    const everyMs = this.#receiver.isQuiet() ? quietReadEveryMs : readEveryMs;
    this.#isBusy = arrivals * everyMs > busyArrivalsPerPause * elapsedMs;
    this.#measuredAtMs = nowMs;
    this.#measuredBytes = bytes;
    this.#reads = 0;
  }
}
