import type { Machine } from '../profile.ts';
import { MachineSignals } from './machine-signals.ts';
import type { PodUsage } from './plan-eviction-pass.ts';

/** Queries to the machine that can be made to fail. */
type MachineQuery = 'addresses' | 'machine-info' | 'version-info' | 'runtime-version' | 'images';

interface NodeAddress {
  readonly type: string;
  readonly address: string;
}

/** An extended resource of a device plugin. */
interface ExtendedResource {
  readonly capacity: number;
  /** Healthy devices; equal to the capacity when absent. */
  readonly allocatable?: number;
}

/**
 * The machine of a hollow kubelet: its hardware, its available resources, and its injected faults. It may be changed at
 * any time; the kubelet observes the change at its next poll.
 */
export class FakeMachine {
  readonly name: string;
  /** While set, the node is not ready, for this reason. */
  fault: string | undefined;
  /** Added to the message of Ready, whatever its status. */
  warning: string | undefined;
  /** Overrides the addresses of the description. */
  addresses: readonly NodeAddress[] | undefined;
  #description: Machine;
  #boots = 1;
  // Most machines are never changed: optional state is created on first use.
  #signals: MachineSignals | undefined;
  #forced: Map<string, boolean> | undefined;
  #failing: Set<MachineQuery> | undefined;
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

  /** Changes the hardware from the next status on. */
  change(changes: Partial<Machine>): void {
    this.#description = { ...this.#description, ...changes };
  }

  /** Changes with each reboot; a restart of the kubelet alone does not change it. */
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

  /**
   * Forces a condition regardless of the signals, until {@link releaseCondition}. A custom condition, once set, is
   * reported permanently: the status patch never removes a condition.
   */
  setCondition(type: string, holds: boolean): void {
    this.#forced ??= new Map();
    this.#forced.set(type, holds);
  }

  /** Undoes {@link setCondition}: the condition follows from the signals again. */
  releaseCondition(type: string): void {
    this.#forced?.delete(type);
  }

  get forcedConditions(): ReadonlyMap<string, boolean> {
    return this.#forced ?? noConditions;
  }

  /** Makes one query fail, or succeed again. */
  fail(query: MachineQuery, fails = true): void {
    this.#failing ??= new Set();
    if (fails) this.#failing.add(query);
    else this.#failing.delete(query);
  }

  fails(query: MachineQuery): boolean {
    return this.#failing?.has(query) === true;
  }

  /** Sets an extended resource, such as `example.com/gpu`. One that is removed stays in the status with 0. */
  setExtendedResource(name: string, resource: ExtendedResource | undefined): void {
    this.#extended ??= new Map();
    this.#extended.set(name, resource ?? { capacity: 0 });
  }

  get extendedResources(): ReadonlyMap<string, ExtendedResource> {
    return this.#extended ?? noResources;
  }

  /** Sets the usage of a mount, in percent. */
  setMountUsage(path: string, percent: number): void {
    this.#mounts ??= new Map();
    this.#mounts.set(path, percent);
  }

  /** 0 for a mount that was not set. */
  mountUsage(path: string): number {
    return this.#mounts?.get(path) ?? 0;
  }

  /** Sets the usage of a pod, by uid. Evictions are ranked by it. */
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
