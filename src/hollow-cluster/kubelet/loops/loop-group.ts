/** Is notified when a loop has ended. */
export interface LoopWatcher {
  /** Called once, when nothing of the loop runs any more. `failure` is set if the loop failed. */
  ended(failure?: { readonly cause: unknown }): void;
}

/** A loop that needs no promise of its own: thousands of them wait at the same time. */
export interface GroupLoop {
  /** Runs until it has finished, at the latest when the signal aborts and {@link release} was called. */
  start(signal: AbortSignal, watcher: LoopWatcher): void;
  /** The signal has aborted: a waiting loop ends now. */
  release(): void;
}

/** A function may return the loop that follows it. */
export type Loop = GroupLoop | ((signal: AbortSignal) => Promise<GroupLoop | void>);

/** Loops that run and end together. When one fails the others are stopped too. */
export class LoopGroup implements LoopWatcher {
  readonly #stop = new AbortController();
  #started: readonly GroupLoop[] = [];
  #running = 0;
  #failure: { readonly cause: unknown } | undefined;
  #settle: (() => void) | undefined;

  /**
   * Runs all of them until the signal aborts. Resolves, or rejects with the first failure, only when none of them runs
   * any more. A group runs once.
   */
  async run(signal: AbortSignal, loops: readonly Loop[]): Promise<void> {
    const ended = new Promise<void>((resolve, reject) => {
      this.#settle = () => {
        signal.removeEventListener('abort', this.stop);
        if (this.#failure === undefined) resolve();
        else reject(this.#failure.cause);
      };
    });
    signal.addEventListener('abort', this.stop);
    if (signal.aborted) this.stop();
    // Counts one extra while starting: a loop that ends at once does not end the group before all have started.
    this.#running = 1;
    for (const loop of loops) this.#start(loop);
    this.ended();
    return ended;
  }

  /** Stops all of them. */
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

/**
 * Runs loops concurrently until the signal aborts. When one fails the others are stopped too. Resolves, or rejects with
 * the first failure as the cause, only when none of them runs any more.
 */
export async function runTogether(signal: AbortSignal, loops: readonly Loop[]): Promise<void> {
  try {
    await new LoopGroup().run(signal, loops);
  } catch (cause) {
    throw new Error('a loop of the hollow nodes failed', { cause });
  }
}
