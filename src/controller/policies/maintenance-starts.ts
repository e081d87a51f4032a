import type { NodeView } from '../../machinery/api/node.ts';
import type { Now } from '../model/node-state.ts';
import type { MaintenanceRule, MaintenanceSignal } from '../model/policy.ts';
import { parseSignalTime, type StartedSignal } from './decide-maintenance.ts';

type SignalNode = Pick<NodeView, 'name' | 'uid'>;

/** Conditions and taints that mean maintenance. */
export type SignalNames = Pick<MaintenanceRule, 'conditions' | 'taints'>;

interface SeenSignal {
  readonly signal: MaintenanceSignal;
  /** Monotonic. */
  readonly seenMs: number;
}

/**
 * Since when each signal of maintenance counts: the time in it, which every replica reads alike. One without a usable
 * time (`kubectl taint` writes none) counts from when this process first saw it. Only those are remembered, as long as
 * they exist.
 */
export class MaintenanceStarts {
  /** When each signal without a usable time was first seen, by node. */
  readonly #seen = new Map<string, ReadonlyMap<string, SeenSignal>>();

  /** Records when signals without a usable time are first seen. `signals`: all of this node; others of it are forgotten. */
  note(node: SignalNode, signals: readonly MaintenanceSignal[], now: Now): void {
    const known = this.#seen.get(node.name);
    const unstamped = signals.filter((signal) => this.#stampOf(node, signal, now) === undefined);
    const seen = unstamped.map((signal) => {
      const key = keyOf(node, signal);
      return [key, known?.get(key) ?? { signal, seenMs: now.monotonicMs }] as const;
    });
    if (seen.length > 0) this.#seen.set(node.name, new Map(seen));
    else if (known !== undefined) this.#seen.delete(node.name);
  }

  /** What is remembered of this node, for {@link note}; undefined: nothing. */
  notedOn(node: string): SignalNames | undefined {
    const seen = this.#seen.get(node);
    if (seen === undefined) return undefined;
    const signals = [...seen.values()].map(({ signal }) => signal);
    const namesOf = (kind: MaintenanceSignal['kind']): readonly string[] =>
      signals.filter((signal) => signal.kind === kind).map(({ name }) => name);
    return { conditions: namesOf('condition'), taints: namesOf('taint') };
  }

  /** Start of each signal; a signal that is not noted yet starts now if it has no usable time. */
  startsOf(node: SignalNode, signals: readonly MaintenanceSignal[], now: Now): readonly StartedSignal[] {
    const known = this.#seen.get(node.name);
    return signals.map((signal) => {
      const stampMs = this.#stampOf(node, signal, now);
      if (stampMs !== undefined) return { signal, sinceMs: stampMs };
      const { seenMs } = known?.get(keyOf(node, signal)) ?? { seenMs: now.monotonicMs };
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
