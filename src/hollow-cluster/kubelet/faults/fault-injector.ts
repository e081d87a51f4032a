import type { Clock } from '../../../machinery/ports/clock.ts';
import { KeyedHeap } from '../../../machinery/queueing/keyed-heap.ts';
import { Alarm } from '../../../machinery/supervision/alarm.ts';
import { planPhase } from '../loops/plan-phase.ts';
import { shuffleNodes, selectNodes, type NodeSelector } from './select-nodes.ts';
import { type Fault, isOneShot, type OneShotFault } from './fault.ts';
import type { GroundTruth } from './ground-truth.ts';
import { type FaultyNode, NodeFaults } from './node-faults.ts';

/** A request to inject a fault. */
export interface FaultOrder {
  /** A unique name, to withdraw it by; generated when absent. */
  readonly id?: string | undefined;
  readonly selector: NodeSelector;
  readonly fault: Fault;
  /** Duration per node; until it is withdrawn when absent. */
  readonly forMs?: number | undefined;
  /** Number of nodes per second, in an order that the seed determines; all at once when absent. */
  readonly nodesPerSecond?: number | undefined;
}

/** A fault that was injected, or is still to be injected into some nodes. */
export interface ActiveFault {
  readonly id: string;
  readonly order: FaultOrder;
  /** The selected nodes, in the order in which the fault reaches them. */
  readonly nodes: readonly string[];
  /** Number of nodes that have it now. */
  readonly active: number;
  /** Number of nodes that are still to get it. */
  readonly waiting: number;
}

interface FaultInjectorOptions {
  readonly nodes: readonly FaultyNode[];
  readonly clock: Clock;
  /** Determines which nodes a share selects, the order of a gradual fault, and the random choices of faults. */
  readonly seed: number;
  /** Called for each change that is made to a node, in order. */
  readonly onGroundTruth?: ((truth: GroundTruth) => void) | undefined;
}

interface InjectedFault {
  readonly order: FaultOrder;
  readonly nodes: readonly string[];
  readonly active: Set<string>;
  waiting: number;
}

/**
 * Injects faults into the nodes of a fleet. A fault lasts for a time or until it is withdrawn, and reaches its nodes at
 * once or one after the other. The same requests at the same times with the same seed have the same effect on the same
 * nodes.
 */
export class FaultInjector {
  readonly #options: FaultInjectorOptions;
  readonly #nodes: ReadonlyMap<string, FaultyNode>;
  readonly #faults = new Map<string, NodeFaults>();
  readonly #entries = new Map<string, InjectedFault>();
  readonly #dueTimes = new KeyedHeap();
  readonly #actions = new Map<string, () => void>();
  readonly #alarm: Alarm;
  readonly #pending = new Set<Promise<void>>();
  readonly #startedAtMs: number;
  #postCount = 0;

  constructor(options: FaultInjectorOptions) {
    this.#options = options;
    this.#nodes = new Map(options.nodes.map((node) => [node.name, node]));
    this.#alarm = new Alarm(options.clock);
    this.#startedAtMs = options.clock.monotonicMs();
  }

  /**
   * Injects a fault; the first nodes have it when this returns. Throws a RangeError, and changes nothing, for an id
   * that was used before and for a selector that matches no node.
   */
  post(order: FaultOrder): ActiveFault {
    const id = order.id ?? this.#nextId();
    if (this.#entries.has(id)) throw new RangeError(`id: must not have been used before (got ${JSON.stringify(id)})`);
    const salt = `${this.#options.seed}/${id}`;
    const selected = selectNodes(this.#options.nodes, order.selector, salt);
    if (selected.length === 0) throw new RangeError('selector: must match at least one node of the fleet');
    const nodes = order.nodesPerSecond === undefined ? selected : shuffleNodes(selected, salt);
    const entry: InjectedFault = { order, nodes, active: new Set(), waiting: nodes.length };
    this.#entries.set(id, entry);
    this.#plan(id, entry);
    this.#runDue();
    return this.#describe(id, entry);
  }

  /** Withdraws a fault from all nodes that have it or are still to get it. False if no fault has this id. */
  withdraw(id: string): boolean {
    const entry = this.#entries.get(id);
    if (entry === undefined) return false;
    for (const node of entry.nodes) this.#unschedule(id, node);
    entry.waiting = 0;
    for (const node of entry.active) this.#end(id, entry, node);
    return true;
  }

  /** Withdraws all faults. */
  clear(): void {
    for (const id of this.#entries.keys()) this.withdraw(id);
  }

  /** The faults that are active or pending, oldest first. */
  list(): readonly ActiveFault[] {
    return [...this.#entries]
      .filter(([, { active, waiting }]) => active.size + waiting > 0)
      .map(([id, entry]) => this.#describe(id, entry));
  }

  /** The ids of the faults that a node has now. */
  on(node: string): readonly string[] {
    return this.#faults.get(node)?.ids ?? [];
  }

  /** Starts and ends faults when they are due, until the signal aborts; then waits for what was started. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#runDue();
      const next = this.#dueTimes.peek()?.dueMs ?? Number.POSITIVE_INFINITY;
      await this.#alarm.wait(next - this.#options.clock.monotonicMs(), signal);
    }
    await Promise.all(this.#pending);
  }

  #nextId(): string {
    this.#postCount += 1;
    return `fault-${this.#postCount}`;
  }

  #describe(id: string, { order, nodes, active, waiting }: InjectedFault): ActiveFault {
    return { id, order, nodes, active: active.size, waiting };
  }

  #plan(id: string, entry: InjectedFault): void {
    const nowMs = this.#options.clock.monotonicMs();
    const { nodesPerSecond = Number.POSITIVE_INFINITY } = entry.order;
    for (const [index, node] of entry.nodes.entries()) {
      this.#schedule(nowMs + (index * 1_000) / nodesPerSecond, keyOf('begin', id, node), () =>
        this.#begin(id, entry, node),
      );
    }
    this.#alarm.wakeUp();
  }

  #schedule(atMs: number, key: string, action: () => void): void {
    this.#dueTimes.set(key, atMs);
    this.#actions.set(key, action);
  }

  #unschedule(id: string, node: string): void {
    for (const action of ['begin', 'end', 'flap'] as const) {
      const key = keyOf(action, id, node);
      this.#dueTimes.remove(key);
      this.#actions.delete(key);
    }
  }

  #runDue(): void {
    const nowMs = this.#options.clock.monotonicMs();
    for (let key = this.#dueTimes.popDue(nowMs); key !== undefined; key = this.#dueTimes.popDue(nowMs)) {
      const action = this.#actions.get(key);
      this.#actions.delete(key);
      action?.();
    }
  }

  #begin(id: string, entry: InjectedFault, node: string): void {
    const { fault, forMs } = entry.order;
    entry.waiting -= 1;
    entry.active.add(node);
    this.#report(id, entry, node, 'begin');
    const nowMs = this.#options.clock.monotonicMs();
    if (isOneShot(fault)) {
      this.#trigger(id, entry, node, fault);
      return;
    }
    this.#faultsOf(node).begin(id, fault);
    if (forMs !== undefined) this.#schedule(nowMs + forMs, keyOf('end', id, node), () => this.#end(id, entry, node));
    if (fault.kind === 'flap') this.#scheduleFlap(id, entry, node, { isUp: false, inMs: firstFlapMs(fault, node) });
  }

  #trigger(id: string, entry: InjectedFault, node: string, fault: OneShotFault): void {
    const done = this.#faultsOf(node).trigger(fault);
    this.#pending.add(done);
    void done.finally(() => this.#pending.delete(done));
    const downMs = fault.kind === 'crash' ? fault.downMs : 0;
    const endsAtMs = this.#options.clock.monotonicMs() + downMs;
    this.#schedule(endsAtMs, keyOf('end', id, node), () => this.#finish(id, entry, node));
  }

  #finish(id: string, entry: InjectedFault, node: string): void {
    if (entry.active.delete(node)) this.#report(id, entry, node, 'end');
  }

  #end(id: string, entry: InjectedFault, node: string): void {
    this.#unschedule(id, node);
    if (!isOneShot(entry.order.fault)) this.#faultsOf(node).end(id);
    this.#finish(id, entry, node);
  }

  #scheduleFlap(
    id: string,
    entry: InjectedFault,
    node: string,
    { isUp, inMs }: { readonly isUp: boolean; readonly inMs: number },
  ): void {
    const { fault } = entry.order;
    if (fault.kind !== 'flap') return;
    const atMs = this.#options.clock.monotonicMs() + inMs;
    this.#schedule(atMs, keyOf('flap', id, node), () => {
      this.#faultsOf(node).setFlapState(id, isUp);
      this.#report(id, entry, node, isUp ? 'up' : 'down');
      this.#scheduleFlap(id, entry, node, { isUp: !isUp, inMs: isUp ? fault.upMs : fault.downMs });
    });
    this.#alarm.wakeUp();
  }

  #faultsOf(name: string): NodeFaults {
    const known = this.#faults.get(name);
    if (known !== undefined) return known;
    const node = this.#nodes.get(name);
    if (node === undefined) throw new RangeError(`not in the fleet: ${name}`);
    const seed = Math.floor(planPhase(`${this.#options.seed}/${name}`) * 2 ** 32);
    const faults = new NodeFaults(node, seed);
    this.#faults.set(name, faults);
    return faults;
  }

  #report(id: string, entry: InjectedFault, node: string, change: GroundTruth['change']): void {
    const { clock, onGroundTruth } = this.#options;
    onGroundTruth?.({
      atMs: clock.nowMs(),
      sinceStartMs: clock.monotonicMs() - this.#startedAtMs,
      node,
      fault: id,
      kind: entry.order.fault.kind,
      change,
    });
  }
}

/** With phase `hash` the nodes are spread over the first cycle. */
function firstFlapMs(fault: Extract<Fault, { kind: 'flap' }>, node: string): number {
  const { upMs, downMs, phase } = fault;
  return phase === 'aligned' ? upMs : planPhase(node) * (upMs + downMs);
}

function keyOf(action: 'begin' | 'end' | 'flap', id: string, node: string): string {
  return `${action}/${id}/${node}`;
}
