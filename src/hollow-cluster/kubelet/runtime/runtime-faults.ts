import { type RuntimeCondition, RuntimeFailure } from './pod-runtime.ts';

/** A call that hangs. */
type HangingCall = 'listing' | 'inspection';

interface FaultState {
  /** Every call fails with this message. */
  readonly down: string | undefined;
  readonly listing: string | undefined;
  /** Inspections fail with this message: all, or those of one pod. */
  readonly inspection: { readonly message: string; readonly uid?: string } | undefined;
  readonly hangs: HangingCall | undefined;
  /** The conditions of the runtime and of its network; `silent`: the network is not reported. */
  readonly runtime: RuntimeCondition;
  readonly network: RuntimeCondition | 'silent';
}

const noFaults: FaultState = {
  down: undefined,
  listing: undefined,
  inspection: undefined,
  hangs: undefined,
  runtime: { ok: true },
  network: { ok: true },
};

/** Injects faults into a node's runtime. */
export class RuntimeFaults {
  #state = noFaults;
  #listeners: readonly (() => void)[] = [];

  get state(): FaultState {
    return this.#state;
  }

  /** Adds faults to those that are active. */
  set(faults: Partial<FaultState>): void {
    this.#change({ ...this.#state, ...faults });
  }

  /** Clears all faults: hanging calls return. */
  clear(): void {
    this.#change(noFaults);
  }

  /** Called when faults change. Returns the function that unsubscribes. */
  onChange(listener: () => void): () => void {
    this.#listeners = [...this.#listeners, listener];
    return () => {
      this.#listeners = this.#listeners.filter((each) => each !== listener);
    };
  }

  /** Resolves when this call may proceed; rejects if it is to fail, or if the signal aborts while it hangs. */
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
        unsubscribe();
        signal.removeEventListener('abort', go);
        resolve();
      };
      const unsubscribe = this.onChange(go);
      signal.addEventListener('abort', go);
    });
  }
}
