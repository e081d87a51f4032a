import type { Machine } from '../profile.ts';
import { MachineSignals } from './machine-signals.ts';
import type { PodUsage } from './derive-eviction-order.ts';

/** What a kubelet asks of its machine, and what can be made to fail. */
export type MachineQuestion = 'addresses' | 'machine-info' | 'version-info' | 'runtime-version' | 'images';

export interface NodeAddress {
  readonly type: string;
  readonly address: string;
}

/** What a device plugin offers of one resource. */
export interface ExtendedResource {
  readonly capacity: number;
  /** Healthy ones; as many as the capacity when absent. */
  readonly allocatable?: number;
}

/**
 * The machine under a hollow kubelet: what it is made of, what is left of it, and what somebody has broken. It may be
 * changed at any time; the kubelet sees it when it looks next.
 */
export class FakeMachine {
  readonly name: string;
  #description: Machine;
  #boots = 1;
  #fault: string | undefined;
  #warning: string | undefined;
  #addresses: readonly NodeAddress[] | undefined;
  // Most machines are never touched: what is only for those that are is made when it is needed.
  #signals: MachineSignals | undefined;
  #forced: Map<string, boolean> | undefined;
  #failing: Set<MachineQuestion> | undefined;
  #extended: Map<string, ExtendedResource> | undefined;
  #mounts: Map<string, number> | undefined;
  #usage: Map<string, PodUsage> | undefined;

  /** `description` may be shared by many machines. */
  constructor(name: string, description: Machine) {
    this.name = name;
    this.#description = description;
  }

  describe(): Machine {
    return this.#description;
  }

  /** From the next status on it is made of something else. */
  change(changes: Partial<Machine>): void {
    this.#description = { ...this.#description, ...changes };
  }

  /** Another one after each reboot; a kubelet that only restarts finds the same. */
  get bootId(): string {
    return this.#boots === 1 ? `boot-${this.name}` : `boot-${this.name}-${this.#boots}`;
  }

  reboot(): void {
    this.#boots += 1;
  }

  get signals(): MachineSignals {
    this.#signals ??= new MachineSignals(() => this.#description);
    return this.#signals;
  }

  /** From the next status on the node is not ready, for this reason. */
  breakDown(reason: string): void {
    this.#fault = reason;
  }

  repair(): void {
    this.#fault = undefined;
  }

  get fault(): string | undefined {
    return this.#fault;
  }

  get isBroken(): boolean {
    return this.#fault !== undefined;
  }

  /** Added to the message of Ready, whatever its status; undefined takes it back. */
  warn(warning: string | undefined): void {
    this.#warning = warning;
  }

  get warning(): string | undefined {
    return this.#warning;
  }

  /**
   * Has a condition told so whatever the signals say, until {@link releaseCondition}. One of one's own, once set, is
   * reported for good: the patch never takes one away.
   */
  setCondition(type: string, holds: boolean): void {
    this.#forced ??= new Map();
    this.#forced.set(type, holds);
  }

  /** Takes {@link setCondition} back: what the signals say counts again. */
  releaseCondition(type: string): void {
    this.#forced?.delete(type);
  }

  get forcedConditions(): ReadonlyMap<string, boolean> {
    return this.#forced ?? noConditions;
  }

  /** Makes one question fail, or answerable again. */
  fail(question: MachineQuestion, fails = true): void {
    this.#failing ??= new Set();
    if (fails) this.#failing.add(question);
    else this.#failing.delete(question);
  }

  fails(question: MachineQuestion): boolean {
    return this.#failing?.has(question) === true;
  }

  /** Instead of those that the description says; undefined takes it back. */
  setAddresses(addresses: readonly NodeAddress[] | undefined): void {
    this.#addresses = addresses;
  }

  get addresses(): readonly NodeAddress[] | undefined {
    return this.#addresses;
  }

  /** A device plugin offers a resource, as `example.com/gpu`. One that was there stays in the status with 0 when it goes. */
  setExtendedResource(name: string, resource: ExtendedResource | undefined): void {
    this.#extended ??= new Map();
    this.#extended.set(name, resource ?? { capacity: 0 });
  }

  get extendedResources(): ReadonlyMap<string, ExtendedResource> {
    return this.#extended ?? noResources;
  }

  /** How full a mount is, in percent. */
  setMountUsage(path: string, percent: number): void {
    this.#mounts ??= new Map();
    this.#mounts.set(path, percent);
  }

  /** 0 for a mount of which nobody has said anything. */
  mountUsage(path: string): number {
    return this.#mounts?.get(path) ?? 0;
  }

  /** What a pod uses, by the pod's uid. Evictions are ranked by it. */
  setPodUsage(uid: string, usage: PodUsage | undefined): void {
    this.#usage ??= new Map();
    if (usage === undefined) this.#usage.delete(uid);
    else this.#usage.set(uid, usage);
  }

  podUsage(uid: string): PodUsage | undefined {
    return this.#usage?.get(uid);
  }
}

const noConditions: ReadonlyMap<string, boolean> = new Map();
const noResources: ReadonlyMap<string, ExtendedResource> = new Map();
