import type { NodeView } from '../../machinery/api/node.ts';
import type { Now } from '../model/node-state.ts';
import type { MaintenanceSignal } from '../model/policy.ts';
import { parseSignalTime, type StartedSignal } from './decide-maintenance.ts';

/**
 * Since when each signal of maintenance counts: the time in it, which every replica reads alike. One without a usable
 * time (`kubectl taint` writes none) counts from when this process first saw it. Only those are remembered, as long as
 * they exist.
 */
export class MaintenanceStarts {
  /** By node: the monotonic time at which each signal without a usable time was first seen. */
  readonly #seen = new Map<string, ReadonlyMap<string, number>>();

  /** `signals`: all of this node; others of it are forgotten. */
  startsOf(
    { name, uid }: Pick<NodeView, 'name' | 'uid'>,
    signals: readonly MaintenanceSignal[],
    now: Now,
  ): readonly StartedSignal[] {
    const known = this.#seen.get(name);
    const seen = new Map<string, number>();
    const started = signals.map((signal) => {
      const key = [uid, signal.kind, signal.name, signal.at].join(' ');
      // A time in the future that has come meanwhile does not begin a second maximum.
      const stampMs = known?.has(key) === true ? undefined : parseSignalTime(signal.at, now.wallMs);
      if (stampMs !== undefined) return { signal, sinceMs: stampMs };
      const seenMs = known?.get(key) ?? now.monotonicMs;
      seen.set(key, seenMs);
      return { signal, sinceMs: now.wallMs - (now.monotonicMs - seenMs) };
    });
    if (seen.size > 0) this.#seen.set(name, seen);
    else if (known !== undefined) this.#seen.delete(name);
    return started;
  }

  forget(node: string): void {
    this.#seen.delete(node);
  }

  /** Number of nodes with a signal without a usable time. */
  get size(): number {
    return this.#seen.size;
  }
}
