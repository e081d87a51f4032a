import { type RuntimeCondition, RuntimeFailure } from './pod-runtime.ts';

/** What a runtime has not come back from. */
export type HangingCall = 'listing' | 'inspection';

interface FaultState {
  /** Every call fails with this message. */
  readonly down: string | undefined;
  readonly listing: string | undefined;
  /** Inspections fail with this message: all, or those of one pod. */
  readonly inspection: { readonly message: string; readonly uid?: string } | undefined;
  readonly hangs: HangingCall | undefined;
  /** What the runtime says of itself, and of its network; `silent`: nothing of its network. */
  readonly runtime: RuntimeCondition;
  readonly network: RuntimeCondition | 'silent';
}

const well: FaultState = {
  down: undefined,
  listing: undefined,
  inspection: undefined,
  hangs: undefined,
  runtime: { ok: true },
  network: { ok: true },
};

/** What is the matter with a node's runtime. Break it here, and mend it. */
export class RuntimeFaults {
  #state = well;
  #listeners: readonly (() => void)[] = [];

  get state(): FaultState {
    return this.#state;
  }

  get isWell(): boolean {
    return this.#state === well;
  }

  /** Breaks what is named, in addition to what is broken already. */
  set(faults: Partial<FaultState>): void {
    this.#change({ ...this.#state, ...faults });
  }

  /** Mends everything: who was left hanging gets its answer. */
  clear(): void {
    this.#change(well);
  }

  /** Calls back when something breaks or is mended. Returns the way to leave. */
  onChange(listener: () => void): () => void {
    this.#listeners = [...this.#listeners, listener];
    return () => {
      this.#listeners = this.#listeners.filter((each) => each !== listener);
    };
  }

  /** Passes when this call may go on; rejects where it is to fail, or the signal aborts while it hangs. */
  async pass(call: HangingCall | 'other', signal: AbortSignal, uid?: string): Promise<void> {
    while (!signal.aborted && this.#state.hangs === call) await this.#changed(signal);
    const message = signal.aborted ? 'context canceled' : this.#failure(call, uid);
    if (message !== undefined) throw new RuntimeFailure(message);
  }

  #failure(call: HangingCall | 'other', uid: string | undefined): string | undefined {
    const { down, listing, inspection } = this.#state;
    if (down !== undefined) return down;
    if (call === 'listing') return listing;
    const hit = call === 'inspection' && (inspection?.uid ?? uid) === uid;
    return hit ? inspection?.message : undefined;
  }

  #change(state: FaultState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }

  #changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const go = (): void => {
        leave();
        signal.removeEventListener('abort', go);
        resolve();
      };
      const leave = this.onChange(go);
      signal.addEventListener('abort', go);
    });
  }
}
