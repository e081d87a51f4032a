import { KeyedHeap } from '../../machinery/queueing/keyed-heap.ts';
import type { Clock } from '../../machinery/ports/clock.ts';
import type { DecisionSink } from '../model/decisions.ts';
import { describeSignal, type Maintenance, type MaintenanceHold } from '../model/policy.ts';

interface MaintenanceWatchOptions {
  /** Planned maintenance of a node, from current state. */
  readonly maintenanceOf: (node: string) => Maintenance | undefined;
  readonly decisions: DecisionSink;
  readonly clock: Pick<Clock, 'nowMs'>;
}

interface Episode {
  /** Undefined: it was not held, and only did not count. */
  readonly hold: MaintenanceHold | undefined;
  readonly isReady: boolean;
}

/**
 * The nodes that the last evaluation found in planned maintenance, and when that ends for each: the end is no event, so
 * the nodes are to be evaluated then. Records each begin and end of a hold once. Nothing is held because a node is in here.
 */
export class MaintenanceWatch {
  readonly #options: MaintenanceWatchOptions;
  readonly #episodes = new Map<string, Episode>();
  /** Ends in wall time; each is taken once, and set again if the node is still in maintenance. */
  readonly #ends = new KeyedHeap();

  constructor(options: MaintenanceWatchOptions) {
    this.#options = options;
  }

  /** The node is evaluated. Returns its maintenance: what is counted and what is remembered are then the same. */
  observe(node: string, isReady: boolean): Maintenance | undefined {
    const maintenance = this.#options.maintenanceOf(node);
    const before = this.#episodes.get(node);
    if (maintenance === undefined) this.forget(node);
    else this.#remember(node, maintenance, isReady);
    this.#note(node, before?.hold, maintenance);
    return maintenance;
  }

  /** Whether the last evaluation found it in maintenance. */
  has(node: string): boolean {
    return this.#episodes.has(node);
  }

  /** Whether the last evaluation found another answer: what holds and what is counted differ until the next one. */
  isOutdated(node: string): boolean {
    const known = this.#episodes.get(node);
    const maintenance = this.#options.maintenanceOf(node);
    if ((known === undefined) !== (maintenance === undefined)) return true;
    return (known?.hold === undefined) !== (maintenance?.hold === undefined);
  }

  /** Nodes that were held, and not Ready, at their last evaluation. */
  unready(): readonly string[] {
    return [...this.#episodes].flatMap(([node, { isReady, hold }]) => (isReady || hold === undefined ? [] : [node]));
  }

  /** Milliseconds until the first end by the wall clock as it is now, which may be stepped; Infinity without one. */
  endsInMs(): number {
    return this.#ends.dueInMs(this.#options.clock.nowMs());
  }

  /**
   * Nodes whose maintenance is over: each is to be evaluated. Also before its end, as where a live read showed it that no longer
   * overlays the cache, which is no event.
   */
  takeEnded(): readonly string[] {
    const outdated = [...this.#episodes.keys()].filter((node) => this.isOutdated(node));
    return [...this.#ends.takeDue(this.#options.clock.nowMs()), ...outdated];
  }

  forget(node: string): void {
    this.#episodes.delete(node);
    this.#ends.remove(node);
  }

  /** Number of nodes in maintenance. */
  get size(): number {
    return this.#episodes.size;
  }

  #remember(node: string, { untilMs, hold }: Maintenance, isReady: boolean): void {
    this.#episodes.set(node, { hold, isReady });
    this.#ends.set(node, hold?.untilMs ?? untilMs);
  }

  #note(node: string, before: MaintenanceHold | undefined, maintenance: Maintenance | undefined): void {
    const { decisions, clock } = this.#options;
    const { policy = '', hold } = maintenance ?? {};
    if (hold !== undefined && before === undefined) {
      const signals = hold.by.map(describeSignal);
      decisions.note({ kind: 'maintenance-began', node, policy, signals, untilMs: hold.untilMs });
    }
    if (hold !== undefined || before === undefined) return;
    const isOver = clock.nowMs() >= before.untilMs;
    const early = maintenance === undefined ? 'cleared' : 'released';
    decisions.note({ kind: 'maintenance-ended', node, why: isOver ? 'maximum' : early });
  }
}
