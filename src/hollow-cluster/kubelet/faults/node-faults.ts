import type { HollowKubelet } from '../hollow-kubelet.ts';
import type { FaultInjectingClient } from '../network/fault-injecting-client.ts';
import type { Machine } from '../profile.ts';
import type { SkewedClock } from '../loops/skewed-clock.ts';
import { type FaultInForce, mergeFaultEffects, type FaultEffects, shutdownConditions } from './merge-fault-effects.ts';
import type { Fault, LastingFault, OneShotFault } from './fault.ts';
import { SeededRandom } from './seeded-random.ts';

/** A node into which faults can be injected. */
export interface FaultyNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly client: FaultInjectingClient;
  readonly kubelet: HollowKubelet;
  readonly clock: SkewedClock;
  /** Deletes the Node object, bypassing the node's own connection. Never rejects. */
  deleteNode(): Promise<void>;
}

const noEffects: FaultEffects = mergeFaultEffects([]);

/** The faults that one node has now. Each change is applied to the components of the node that it concerns. */
export class NodeFaults {
  readonly #node: FaultyNode;
  readonly #random: SeededRandom;
  readonly #scripts = new Map<string, () => void>();
  #active: readonly FaultInForce[] = [];
  #applied = noEffects;
  #size: Machine | undefined;
  #shutdown: AbortController | undefined;

  /** `seed`: determines the random choices of faults. */
  constructor(node: FaultyNode, seed: number) {
    this.#node = node;
    this.#random = new SeededRandom(seed);
  }

  get ids(): readonly string[] {
    return this.#active.map(({ id }) => id);
  }

  begin(id: string, fault: LastingFault): void {
    this.#set([...this.#active, { id, fault, isUp: true }]);
  }

  end(id: string): void {
    this.#set(this.#active.filter((each) => each.id !== id));
  }

  /** A flapping node is disconnected, or connected again. */
  setFlapState(id: string, isUp: boolean): void {
    this.#set(this.#active.map((each) => (each.id === id ? { ...each, isUp } : each)));
  }

  /** Resolves when the event is carried out; its consequences continue. */
  async trigger(fault: OneShotFault): Promise<void> {
    const { kubelet } = this.#node;
    if (fault.kind === 'delete-node') return this.#node.deleteNode();
    const { downMs } = fault;
    kubelet.crash(fault.of === 'process' ? { downMs } : { downMs, reboot: 'exited' });
    if (fault.of === 'delete-node') await this.#node.deleteNode();
  }

  #set(active: readonly FaultInForce[]): void {
    this.#active = active;
    const before = this.#applied;
    const now = mergeFaultEffects(active);
    this.#applied = now;
    this.#applyNetwork(before, now);
    this.#applyRuntime(before, now);
    this.#applyMachine(before, now);
    this.#applyContainers(now);
    if (differs(before.clock, now.clock)) this.#node.clock.skew(now.clock);
    if (before.shutdown !== now.shutdown) this.#applyShutdown(now.shutdown);
  }

  #applyNetwork(before: FaultEffects, now: FaultEffects): void {
    if (before.network.length === 0 && now.network.length === 0) return;
    this.#node.client.setRules(now.network, this.#random);
  }

  #applyRuntime({ runtime: before }: FaultEffects, { runtime: now }: FaultEffects): void {
    if (!differs(before, now)) return;
    const { faults } = this.#node.kubelet.host;
    const { down, hangs, network } = now;
    if (down === undefined && hangs === undefined && network === undefined) {
      faults.clear();
      return;
    }
    faults.set({
      down,
      hangs,
      network: network === undefined ? { ok: true } : { ok: false, reason: 'NetworkPluginNotReady', message: network },
    });
  }

  #applyMachine(before: FaultEffects, now: FaultEffects): void {
    const machine = this.#node.kubelet.health;
    if (before.unhealthy !== now.unhealthy) machine.fault = now.unhealthy;
    for (const type of before.conditions) if (!now.conditions.includes(type)) releaseCondition(machine, type);
    for (const type of now.conditions) machine.setCondition(type, true);
    this.#applySignals(before, now);
    if (differs(before.machine, now.machine)) this.#resize(now.machine);
  }

  #applySignals(before: FaultEffects, now: FaultEffects): void {
    const machine = this.#node.kubelet.health;
    for (const signal of before.signals.keys()) if (!now.signals.has(signal)) machine.signals.clear(signal);
    for (const [signal, share] of now.signals) {
      if (!before.signals.has(signal)) machine.signals.setShare(signal, share);
    }
  }

  #resize(changes: Partial<Machine>): void {
    const machine = this.#node.kubelet.health;
    this.#size ??= machine.describe();
    const { cpuCores, memoryMiB, podsMax } = this.#size;
    machine.change({ cpuCores, memoryMiB, podsMax, ...changes });
  }

  #applyContainers(now: FaultEffects): void {
    for (const [id, removeScript] of this.#scripts) {
      if (now.containers.has(id)) continue;
      removeScript();
      this.#scripts.delete(id);
    }
    for (const [id, script] of now.containers) {
      if (this.#scripts.has(id)) continue;
      this.#scripts.set(id, this.#node.kubelet.script({ script }));
    }
  }

  #applyShutdown(fault: FaultEffects['shutdown']): void {
    this.#shutdown?.abort();
    if (fault === undefined) {
      this.#node.kubelet.node.shutdown.cancel();
      return;
    }
    this.#shutdown = new AbortController();
    void this.#shutDown(fault, this.#shutdown.signal);
  }

  /** The next boot begins without what the kubelet said about this one. */
  async #shutDown({ offMs }: NonNullable<FaultEffects['shutdown']>, signal: AbortSignal): Promise<void> {
    const { kubelet } = this.#node;
    await kubelet.node.shutdown.begin(signal);
    if (offMs === undefined || signal.aborted) return;
    kubelet.crash({ downMs: offMs === 'never' ? Infinity : offMs, reboot: 'exited' });
    for (const type of this.#applied.conditions)
      if (isShutdownCondition(type)) kubelet.health.setCondition(type, false);
  }
}

const ownConditions: ReadonlySet<string> = new Set(['MemoryPressure', 'DiskPressure', 'PIDPressure']);

function isShutdownCondition(type: string): boolean {
  return shutdownConditions.some((condition) => condition === type);
}

/** The kubelet never removes a custom condition that it has reported: it is set to False instead. */
function releaseCondition(machine: HollowKubelet['health'], type: string): void {
  if (ownConditions.has(type)) machine.releaseCondition(type);
  else machine.setCondition(type, false);
}

function differs(a: object, b: object): boolean {
  return JSON.stringify(a) !== JSON.stringify(b);
}

/** A fault as text for people. */
export function describeFault(fault: Fault): string {
  const { kind, ...details } = fault;
  const text = Object.entries(details)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(' ');
  return text === '' ? kind : `${kind} ${text}`;
}
