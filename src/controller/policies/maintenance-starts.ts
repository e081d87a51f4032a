import type { NodeView } from '../../machinery/api/node.ts';
import type { Now } from '../model/node-state.ts';
import type { MaintenanceSignal } from '../model/policy.ts';
import { parseSignalTime, type StartedSignal } from './decide-maintenance.ts';

type SignalNode = Pick<NodeView, 'name' | 'uid'>;

/**
 * Since when each signal of maintenance counts: the time in it, which every replica reads alike. One without a usable
 * time (`kubectl taint` writes none) counts from when this process first saw it. Only those are remembered, as long as
 * they exist.
 */
export class MaintenanceStarts {
  /** Monotonic time at which each signal without a usable time was first seen, by node. */
  readonly #seen = new Map<string, ReadonlyMap<string, number>>();

  /** Records when signals without a usable time are first seen. `signals`: all of this node; others of it are forgotten. */
  note(node: SignalNode, signals: readonly MaintenanceSignal[], now: Now): void {
    const known = this.#seen.get(node.name);
    const unstamped = signals.filter((signal) => this.#stampOf(node, signal, now) === undefined);
    const seen = unstamped.map((signal) => {
      const key = keyOf(node, signal);
      return [key, known?.get(key) ?? now.monotonicMs] as const;
    });
    if (seen.length > 0) this.#seen.set(node.name, new Map(seen));
    else if (known !== undefined) this.#seen.delete(node.name);
  }

  /** Start of each signal; a signal that is not noted yet starts now if it has no usable time. */
  startsOf(node: SignalNode, signals: readonly MaintenanceSignal[], now: Now): readonly StartedSignal[] {
    const known = this.#seen.get(node.name);
    return signals.map((signal) => {
      const stampMs = this.#stampOf(node, signal, now);
      if (stampMs !== undefined) return { signal, sinceMs: stampMs };
      const seenMs = known?.get(keyOf(node, signal)) ?? now.monotonicMs;
      return { signal, sinceMs: now.wallMs - (now.monotonicMs - seenMs) };
    });
  }

  /** The usable time in a signal. A time in the future that has come meanwhile does not begin a second maximum. */
  #stampOf(node: SignalNode, signal: MaintenanceSignal, { wallMs }: Now): number | undefined {
    const isSeen = this.#seen.get(node.name)?.has(keyOf(node, signal)) === true;
    return isSeen ? undefined : parseSignalTime(signal.at, wallMs);
  }

  forget(node: string): void {
    this.#seen.delete(node);
  }

  /** Number of nodes with a signal without a usable time. */
  get size(): number {
    return this.#seen.size;
  }
}

function keyOf({ uid }: SignalNode, { kind, name, at }: MaintenanceSignal): string {
  return [uid, kind, name, at].join(' ');
}
