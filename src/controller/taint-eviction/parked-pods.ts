// Pods whose deletion is due and held by something that ends for all pods of their node together: they cost nothing until it
// ends or something else holds them, and one question for each node a second finds that, whatever events were missed.
import type { Clock } from '../../machinery/ports/clock.ts';
import { Alarm } from '../../machinery/supervision/alarm.ts';
import type { EvictionHold } from '../model/decisions.ts';

const askEveryMs = 1_000;

interface ParkedPodsOptions {
  /** What holds all pods of this node now. */
  readonly holdOf: (node: string) => EvictionHold | undefined;
  /** The pod (`namespace/name`) is to be checked now. */
  readonly wake: (key: string) => void;
  readonly clock: Clock;
}

interface ParkedNode {
  readonly hold: EvictionHold;
  readonly keys: Set<string>;
}

export class ParkedPods {
  readonly #options: ParkedPodsOptions;
  readonly #byNode = new Map<string, ParkedNode>();
  readonly #nodeOf = new Map<string, string>();
  readonly #firstParked: Alarm;

  constructor(options: ParkedPodsOptions) {
    this.#options = options;
    this.#firstParked = new Alarm(options.clock);
  }

  /** Asks until the signal aborts; wakes for nothing while no pod is parked. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (this.size === 0) await this.#firstParked.wait(Infinity, signal);
      await this.#options.clock.sleep(askEveryMs, signal);
      if (!signal.aborted) this.wakeReleased();
    }
  }

  /** This holds the pod: nothing is to be done for it until that ends. */
  park(key: string, node: string, hold: EvictionHold): void {
    this.remove(key);
    const known = this.#byNode.get(node);
    if (known !== undefined && known.hold !== hold) this.#wake(node, known);
    const parked = this.#byNode.get(node) ?? { hold, keys: new Set<string>() };
    this.#byNode.set(node, parked);
    parked.keys.add(key);
    this.#nodeOf.set(key, node);
    if (this.size === 1) this.#firstParked.wakeUp();
  }

  has(key: string): boolean {
    return this.#nodeOf.has(key);
  }

  /** The pod is no longer to be deleted, or is on another node. */
  remove(key: string): void {
    const node = this.#nodeOf.get(key);
    if (node === undefined) return;
    this.#nodeOf.delete(key);
    const parked = this.#byNode.get(node);
    parked?.keys.delete(key);
    if (parked?.keys.size === 0) this.#byNode.delete(node);
  }

  /** Wakes the pods of which something else, or nothing, holds the node now; of one node, or of all. */
  wakeReleased(node?: string): void {
    for (const [name, parked] of this.#byNode) {
      const isMeant = node === undefined || name === node;
      if (isMeant && this.#options.holdOf(name) !== parked.hold) this.#wake(name, parked);
    }
  }

  /** Wakes all pods of a node. */
  wakeAll(node: string): void {
    const parked = this.#byNode.get(node);
    if (parked !== undefined) this.#wake(node, parked);
  }

  #wake(node: string, { keys }: ParkedNode): void {
    this.#byNode.delete(node);
    for (const key of keys) {
      this.#nodeOf.delete(key);
      this.#options.wake(key);
    }
  }

  /** The nodes of these pods, each with what holds them. */
  *nodes(): Iterable<readonly [node: string, hold: EvictionHold]> {
    for (const [node, { hold }] of this.#byNode) yield [node, hold];
  }

  /** Number of pods. */
  get size(): number {
    return this.#nodeOf.size;
  }
}
