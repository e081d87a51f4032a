import type { Clock } from '../../ports/clock.ts';
import { KeyedHeap } from '../../queueing/keyed-heap.ts';
import { Alarm } from '../../supervision/alarm.ts';
import { derivePhase } from '../derive-phase.ts';
import { deriveDrawn, deriveSelectedNodes, type NodeSelector } from './derive-selected-nodes.ts';
import { type Fault, isPassing, type PassingFault } from './fault.ts';
import type { GroundTruth } from './ground-truth.ts';
import { type FaultyNode, NodeFaults } from './node-faults.ts';

/** What somebody wants to be the matter. */
export interface FaultOrder {
  /** A name of one's own, to take it back by; one that no other fault has had. Numbered when absent. */
  readonly id?: string | undefined;
  readonly selector: NodeSelector;
  readonly fault: Fault;
  /** Each node has it for so long; until it is taken back when absent. */
  readonly forMs?: number | undefined;
  /** So many nodes a second, in an order that the seed draws, instead of all at once. */
  readonly nodesPerSecond?: number | undefined;
}

/** A fault on the board. */
export interface PostedFault {
  readonly id: string;
  readonly order: FaultOrder;
  /** Those that it was meant for, in the order in which they get it. */
  readonly nodes: readonly string[];
  /** How many have it now. */
  readonly active: number;
  /** How many are still to get it. */
  readonly waiting: number;
}

export interface FaultBoardOptions {
  readonly nodes: readonly FaultyNode[];
  readonly clock: Clock;
  /** Decides whom a share means, in which order a wave goes, and what faults leave to chance. */
  readonly seed: number;
  /** Told of all that is done to nodes, in its order. */
  readonly tell?: ((truth: GroundTruth) => void) | undefined;
}

interface Entry {
  readonly order: FaultOrder;
  readonly nodes: readonly string[];
  readonly active: Set<string>;
  waiting: number;
}

/**
 * What is the matter with the nodes of a fleet, and what will be: faults are put up, hold for a time or until they are
 * taken back, and come over many nodes at once or one after the other. The same orders at the same times with the same
 * seed do the same to the same nodes.
 */
export class FaultBoard {
  readonly #options: FaultBoardOptions;
  readonly #nodes: ReadonlyMap<string, FaultyNode>;
  readonly #faults = new Map<string, NodeFaults>();
  readonly #posted = new Map<string, Entry>();
  readonly #agenda = new KeyedHeap();
  readonly #acts = new Map<string, () => void>();
  readonly #alarm: Alarm;
  readonly #pending = new Set<Promise<void>>();
  readonly #startedAtMs: number;
  #posts = 0;

  constructor(options: FaultBoardOptions) {
    this.#options = options;
    this.#nodes = new Map(options.nodes.map((node) => [node.name, node]));
    this.#alarm = new Alarm(options.clock);
    this.#startedAtMs = options.clock.monotonicMs();
  }

  /**
   * Puts a fault up; the first nodes have it when this returns. Throws a RangeError, and does nothing, for an id that was
   * used before and for a selector that fits no node.
   */
  post(order: FaultOrder): PostedFault {
    const id = order.id ?? this.#nextId();
    if (this.#posted.has(id))
      throw new RangeError(`id: got ${JSON.stringify(id)}; accepted: one that was not used yet`);
    const salt = `${this.#options.seed}/${id}`;
    const selected = deriveSelectedNodes(this.#options.nodes, order.selector, salt);
    if (selected.length === 0) throw new RangeError('selector: fits no node of the fleet');
    const nodes = order.nodesPerSecond === undefined ? selected : deriveDrawn(selected, salt);
    const entry: Entry = { order, nodes, active: new Set(), waiting: nodes.length };
    this.#posted.set(id, entry);
    this.#plan(id, entry);
    this.#work();
    return this.#show(id, entry);
  }

  /** Takes a fault back from all who have it or wait for it. False: there is none of that id. */
  withdraw(id: string): boolean {
    const entry = this.#posted.get(id);
    if (entry === undefined) return false;
    for (const node of entry.nodes) this.#forget(id, node);
    entry.waiting = 0;
    for (const node of entry.active) this.#end(id, entry, node);
    return true;
  }

  /** Takes back all there are. */
  clear(): void {
    for (const id of this.#posted.keys()) this.withdraw(id);
  }

  /** Those that hold or are still to come, the oldest first. */
  list(): readonly PostedFault[] {
    return [...this.#posted]
      .filter(([, { active, waiting }]) => active.size + waiting > 0)
      .map(([id, entry]) => this.#show(id, entry));
  }

  /** The ids of what one node has now. */
  on(node: string): readonly string[] {
    return this.#faults.get(node)?.ids ?? [];
  }

  /** Does what falls due, until the signal aborts; waits for what was begun. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#work();
      const next = this.#agenda.peek()?.dueMs ?? Number.POSITIVE_INFINITY;
      await this.#alarm.wait(next - this.#options.clock.monotonicMs(), signal);
    }
    await Promise.all(this.#pending);
  }

  #nextId(): string {
    this.#posts += 1;
    return `fault-${this.#posts}`;
  }

  #show(id: string, { order, nodes, active, waiting }: Entry): PostedFault {
    return { id, order, nodes, active: active.size, waiting };
  }

  #plan(id: string, entry: Entry): void {
    const nowMs = this.#options.clock.monotonicMs();
    const { nodesPerSecond = Number.POSITIVE_INFINITY } = entry.order;
    for (const [place, node] of entry.nodes.entries()) {
      this.#at(nowMs + (place * 1_000) / nodesPerSecond, beginKey(id, node), () => this.#begin(id, entry, node));
    }
    this.#alarm.ring();
  }

  #at(atMs: number, key: string, act: () => void): void {
    this.#agenda.set(key, atMs);
    this.#acts.set(key, act);
  }

  #forget(id: string, node: string): void {
    for (const key of [beginKey(id, node), endKey(id, node), turnKey(id, node)]) {
      this.#agenda.remove(key);
      this.#acts.delete(key);
    }
  }

  #work(): void {
    const nowMs = this.#options.clock.monotonicMs();
    for (let key = this.#agenda.popDue(nowMs); key !== undefined; key = this.#agenda.popDue(nowMs)) {
      const act = this.#acts.get(key);
      this.#acts.delete(key);
      act?.();
    }
  }

  #begin(id: string, entry: Entry, node: string): void {
    const { fault, forMs } = entry.order;
    entry.waiting -= 1;
    entry.active.add(node);
    this.#tell(id, entry, node, 'begin');
    const nowMs = this.#options.clock.monotonicMs();
    if (isPassing(fault)) {
      this.#happen(id, entry, node, fault);
      return;
    }
    this.#of(node).begin(id, fault);
    if (forMs !== undefined) this.#at(nowMs + forMs, endKey(id, node), () => this.#end(id, entry, node));
    if (fault.kind === 'flap') this.#turnLater(id, entry, node, { isUp: false, inMs: firstTurnMs(fault, node) });
  }

  #happen(id: string, entry: Entry, node: string, fault: PassingFault): void {
    const done = this.#of(node).happen(fault);
    this.#pending.add(done);
    void this.#settle(done);
    const downMs = fault.kind === 'crash' ? fault.downMs : 0;
    const overAtMs = this.#options.clock.monotonicMs() + downMs;
    this.#at(overAtMs, endKey(id, node), () => this.#over(id, entry, node));
  }

  async #settle(done: Promise<void>): Promise<void> {
    await done;
    this.#pending.delete(done);
  }

  #over(id: string, entry: Entry, node: string): void {
    if (entry.active.delete(node)) this.#tell(id, entry, node, 'end');
  }

  #end(id: string, entry: Entry, node: string): void {
    this.#forget(id, node);
    if (!isPassing(entry.order.fault)) this.#of(node).end(id);
    this.#over(id, entry, node);
  }

  #turnLater(
    id: string,
    entry: Entry,
    node: string,
    { isUp, inMs }: { readonly isUp: boolean; readonly inMs: number },
  ): void {
    const { fault } = entry.order;
    if (fault.kind !== 'flap') return;
    const atMs = this.#options.clock.monotonicMs() + inMs;
    this.#at(atMs, turnKey(id, node), () => {
      this.#of(node).turn(id, isUp);
      this.#tell(id, entry, node, isUp ? 'up' : 'down');
      this.#turnLater(id, entry, node, { isUp: !isUp, inMs: isUp ? fault.upMs : fault.downMs });
    });
    this.#alarm.ring();
  }

  #of(name: string): NodeFaults {
    const known = this.#faults.get(name);
    if (known !== undefined) return known;
    const node = this.#nodes.get(name);
    if (node === undefined) throw new RangeError(`not in the fleet: ${name}`);
    const seed = Math.floor(derivePhase(`${this.#options.seed}/${name}`) * 2 ** 32);
    const faults = new NodeFaults(node, seed);
    this.#faults.set(name, faults);
    return faults;
  }

  #tell(id: string, entry: Entry, node: string, change: GroundTruth['change']): void {
    const { clock, tell } = this.#options;
    tell?.({
      atMs: clock.nowMs(),
      sinceStartMs: clock.monotonicMs() - this.#startedAtMs,
      node,
      fault: id,
      kind: entry.order.fault.kind,
      change,
    });
  }
}

/** By hash the nodes are spread over the first cycle. */
function firstTurnMs(fault: Extract<Fault, { kind: 'flap' }>, node: string): number {
  const { upMs, downMs, phase } = fault;
  return phase === 'aligned' ? upMs : derivePhase(node) * (upMs + downMs);
}

function beginKey(id: string, node: string): string {
  return `begin/${id}/${node}`;
}

function endKey(id: string, node: string): string {
  return `end/${id}/${node}`;
}

function turnKey(id: string, node: string): string {
  return `turn/${id}/${node}`;
}
