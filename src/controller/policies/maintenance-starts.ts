import { findCondition } from '../../machinery/api/conditions.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import type { Now } from '../model/node-state.ts';
import type { MaintenanceRule, MaintenanceSignal } from '../model/policy.ts';
import { parseSignalTime, type StartedSignal } from './decide-maintenance.ts';

type SignalNode = Pick<NodeView, 'name' | 'uid' | 'conditions'>;

/** Conditions and taints that mean maintenance. */
export type SignalNames = Pick<MaintenanceRule, 'conditions' | 'taints'>;

interface SeenSignal {
  readonly signal: MaintenanceSignal;
  /** Monotonic. */
  readonly seenMs: number;
}

/** A node that is not Ready, and had a signal since. */
interface Outage {
  readonly uid: string;
  /** Monotonic. */
  readonly sinceMs: number;
}

/**
 * Since when each signal of maintenance counts: the time in it, which every replica reads alike. One without a usable
 * time (`kubectl taint` writes none) counts from when this process first saw it. Of one with a time nothing is remembered, except
 * since when a node that is not Ready has had some: a later time in them gains nothing.
 */
export class MaintenanceStarts {
  /** When each signal without a usable time was first seen, by node. */
  readonly #seen = new Map<string, ReadonlyMap<string, SeenSignal>>();
  readonly #outages = new Map<string, Outage>();

  /** Records when signals without a usable time are first seen. `signals`: all of this node; others of it are forgotten. */
  note(node: SignalNode, signals: readonly MaintenanceSignal[], now: Now): void {
    const known = this.#seen.get(node.name);
    const seen = signals.flatMap((signal) => {
      const key = keyOf(node, signal);
      const first = known?.get(key);
      if (first === undefined && parseSignalTime(signal.at, now.wallMs) !== undefined) return [];
      return [[key, first ?? { signal, seenMs: now.monotonicMs }] as const];
    });
    if (seen.length > 0) this.#seen.set(node.name, new Map(seen));
    else if (known !== undefined) this.#seen.delete(node.name);
    this.#noteOutage(node, signals, now);
  }

  /** An outage ends when the node is Ready, whatever its signals are meanwhile. */
  #noteOutage(node: SignalNode, signals: readonly MaintenanceSignal[], now: Now): void {
    const sinceMs = this.outageSince(node, this.startsOf(node, signals, now), now);
    if (isReady(node)) this.#outages.delete(node.name);
    else if (sinceMs !== undefined)
      this.#outages.set(node.name, { uid: node.uid, sinceMs: sinceMs - now.wallMs + now.monotonicMs });
  }

  /**
   * Wall time from which all signals of this node together count: since when it is not Ready, or has had the first of them; undefined: it
   * is Ready, or has had none. A time in its Ready condition that is missing or in the future counts as now.
   */
  outageSince(node: SignalNode, started: readonly StartedSignal[], now: Now): number | undefined {
    if (isReady(node)) return undefined;
    const known = this.#outages.get(node.name);
    if (known?.uid === node.uid) return now.wallMs - (now.monotonicMs - known.sinceMs);
    if (started.length === 0) return undefined;
    const changedAt = findCondition(node.conditions, 'Ready')?.lastTransitionTime;
    const unreadyMs = parseSignalTime(changedAt, now.wallMs) ?? now.wallMs;
    return Math.max(unreadyMs, Math.min(...started.map(({ sinceMs }) => sinceMs)));
  }

  /** What is remembered of this node, for {@link note}; undefined: nothing. */
  notedOn(node: string): SignalNames | undefined {
    const seen = this.#seen.get(node);
    if (seen === undefined) return this.#outages.has(node) ? { conditions: [], taints: [] } : undefined;
    const signals = [...seen.values()].map(({ signal }) => signal);
    const namesOf = (kind: MaintenanceSignal['kind']): readonly string[] =>
      signals.filter((signal) => signal.kind === kind).map(({ name }) => name);
    return { conditions: namesOf('condition'), taints: namesOf('taint') };
  }

  /** Start of each signal; a signal that is not noted yet starts now if it has no usable time. */
  startsOf(node: SignalNode, signals: readonly MaintenanceSignal[], now: Now): readonly StartedSignal[] {
    const known = this.#seen.get(node.name);
    return signals.map((signal) => {
      const seen = known?.get(keyOf(node, signal));
      // A time in the future that has come meanwhile does not begin a second maximum.
      const stampMs = seen === undefined ? parseSignalTime(signal.at, now.wallMs) : undefined;
      const seenMs = seen?.seenMs ?? now.monotonicMs;
      return { signal, sinceMs: stampMs ?? now.wallMs - (now.monotonicMs - seenMs) };
    });
  }

  forget(node: string): void {
    this.#seen.delete(node);
    this.#outages.delete(node);
  }

  /** Number of nodes of which something is remembered. */
  get size(): number {
    return Math.max(this.#seen.size, this.#outages.size);
  }
}

function isReady({ conditions }: SignalNode): boolean {
  return findCondition(conditions, 'Ready')?.status === 'True';
}

function keyOf({ uid }: SignalNode, { kind, name, at }: MaintenanceSignal): string {
  return `${uid} ${kind} ${name} ${at}`;
}
