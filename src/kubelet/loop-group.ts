/** Hears how a loop ended. */
export interface LoopWatcher {
  /** Called once, when nothing of the loop runs any more. `failure` is there when that was its end. */
  ended(failure?: { readonly cause: unknown }): void;
}

/** A loop that needs no promise of its own: thousands of them rest at once. */
export interface GroupLoop {
  /** Runs until it has come to its end, at the latest when the signal aborts and {@link release} was called. */
  start(signal: AbortSignal, watcher: LoopWatcher): void;
  /** The signal has aborted: whoever rests ends now. */
  release(): void;
}

/** A function's loop may name the one that follows it. */
export type Loop = GroupLoop | ((signal: AbortSignal) => Promise<GroupLoop | void>);

/** Loops that live and end together. When one fails the others are ended too. */
export class LoopGroup implements LoopWatcher {
  readonly #stop = new AbortController();
  #started: readonly GroupLoop[] = [];
  #running = 0;
  #failure: { readonly cause: unknown } | undefined;
  #settle: (() => void) | undefined;

  /**
   * Runs all of them until the signal aborts. Resolves, or rejects with what the first failure was, only when none of
   * them runs any more. A group runs once.
   */
  async run(signal: AbortSignal, loops: readonly Loop[]): Promise<void> {
    const over = new Promise<void>((resolve, reject) => {
      this.#settle = () => {
        signal.removeEventListener('abort', this.stop);
        if (this.#failure === undefined) resolve();
        else reject(this.#failure.cause);
      };
    });
    signal.addEventListener('abort', this.stop);
    if (signal.aborted) this.stop();
    // As if one more ran: who ends at once does not end the group before all have begun.
    this.#running = 1;
    for (const loop of loops) this.#start(loop);
    this.ended();
    return over;
  }

  /** Ends all of them. */
  readonly stop = (): void => {
    this.#stop.abort();
    for (const loop of this.#started) loop.release();
  };

  ended(failure?: { readonly cause: unknown }): void {
    this.#running -= 1;
    if (failure !== undefined) {
      this.#failure ??= failure;
      this.stop();
    }
    if (this.#running === 0) this.#settle?.();
  }

  #start(loop: Loop): void {
    this.#running += 1;
    if (typeof loop === 'function') {
      loop(this.#stop.signal).then(this.#follow, this.#fail);
      return;
    }
    this.#started = [...this.#started, loop];
    loop.start(this.#stop.signal, this);
  }

  readonly #follow = (next: GroupLoop | void): void => {
    if (next !== undefined) this.#start(next);
    this.ended();
  };

  readonly #fail = (cause: unknown): void => {
    this.ended({ cause });
  };
}
