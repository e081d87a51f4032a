/**
 * Runs one controller inside the server: from current state, soon after each change of the tables that it reads and at
 * least once a minute. A failure is logged, and tried again after a delay that grows up to that minute.
 */
import type { Clock } from '../../../machinery/ports/clock.ts';
import type { Logger } from '../../../machinery/ports/logger.ts';
import type { StoreChange } from '../storage/store-change.ts';
import type { ObjectRegistry } from '../registry/object-registry.ts';
import type { ServedTargets } from '../registry/served-targets.ts';
import type { VersionedStore } from '../storage/versioned-store.ts';

/** What a controller reads and writes. */
export interface ControllerContext {
  readonly store: VersionedStore;
  readonly registry: ObjectRegistry;
  readonly clock: Clock;
  readonly targets: ServedTargets;
}

export interface ServerController {
  /** Name of the controller in kube-controller-manager. */
  readonly name: string;
  /** The tables whose changes it reacts to. */
  readonly tables: readonly string[];
  /** Whether a change of a table concerns it; default: each one does. Called inside the write. */
  concerns?(table: string, change: StoreChange): boolean;
  /** Called inside the write of each change that concerns it, its own included: must only note what changed. */
  observe?(change: StoreChange): void;
  /** Writes what its rules require. Returns when it must run again without a change, in milliseconds. */
  sync(): number | undefined;
}

interface LoopOptions {
  readonly store: VersionedStore;
  readonly clock: Clock;
  readonly logger: Logger;
}

const resyncMs = 60_000;
/** Changes within this time are handled together. */
const batchMs = 50;
const retryMsMin = 500;

export async function runController(
  controller: ServerController,
  { store, clock, logger }: LoopOptions,
  signal: AbortSignal,
): Promise<void> {
  const changes = new ChangeSignal();
  const unsubscribes = controller.tables.map((table) =>
    store.table(table).hub.add({
      bucket: '',
      deliver: (change) => {
        if (controller.concerns?.(table, change) === false) return;
        controller.observe?.(change);
        changes.raise();
      },
    }),
  );
  let failures = 0;
  while (!signal.aborted) {
    changes.clear();
    let delayMs = resyncMs;
    try {
      delayMs = Math.min(controller.sync() ?? resyncMs, resyncMs);
      failures = 0;
    } catch (error) {
      delayMs = Math.min(retryMsMin * 2 ** failures, resyncMs);
      failures += 1;
      logger.error({ error, controller: controller.name, retryMs: delayMs }, 'controller of the API server failed');
    }
    await clock.sleep(batchMs, signal);
    // After a failure a change does not shorten the backoff.
    await changes.wait(failures === 0, delayMs, { clock, signal });
  }
  for (const unsubscribe of unsubscribes) unsubscribe();
}

/** Remembers that something changed. */
class ChangeSignal {
  #raised = false;
  #wake: (() => void) | undefined;

  raise(): void {
    this.#raised = true;
    this.#wake?.();
  }

  clear(): void {
    this.#raised = false;
  }

  /** Resolves after the delay, or at the next change if changes count, also at one since {@link clear}. */
  async wait(
    onChange: boolean,
    delayMs: number,
    { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
  ): Promise<void> {
    if (signal.aborted || (onChange && this.#raised)) return;
    const done = new AbortController();
    const changed = new Promise<void>((resolve) => {
      if (onChange) this.#wake = resolve;
    });
    await Promise.race([clock.sleep(delayMs, AbortSignal.any([signal, done.signal])), changed]);
    done.abort();
    this.#wake = undefined;
  }
}
