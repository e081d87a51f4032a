import type { ScriptRule } from '../runtime/derive-container-script.ts';
import type { HollowKubelet } from '../hollow-kubelet.ts';
import type { Link } from '../link.ts';
import type { Machine } from '../profile.ts';
import type { SkewedClock } from '../skewed-clock.ts';
import { type ActiveFault, deriveTrouble, type Trouble } from './derive-trouble.ts';
import type { Fault, LastingFault, PassingFault } from './fault.ts';
import { SeededRandom } from './seeded-random.ts';

/** One node, as far as something can be the matter with it. */
export interface FaultyNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly link: Link;
  readonly kubelet: HollowKubelet;
  readonly clock: SkewedClock;
  /** Deletes the node object, past the node's own link. Never rejects. */
  deleteNode(): Promise<void>;
}

const well: Trouble = deriveTrouble([]);

/** The faults that one node has now. Each change is told to the parts of the node that it concerns. */
export class NodeFaults {
  readonly #node: FaultyNode;
  readonly #random: SeededRandom;
  readonly #scripts = new Map<string, () => void>();
  #active: readonly ActiveFault[] = [];
  #told = well;
  #size: Machine | undefined;
  #shutdown: AbortController | undefined;

  /** `seed`: decides what faults leave to chance. */
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

  /** A flapping node goes down, or comes up. */
  turn(id: string, isUp: boolean): void {
    this.#set(this.#active.map((each) => (each.id === id ? { ...each, isUp } : each)));
  }

  /** Resolves when what it takes is done; what follows from it goes on. */
  async happen(fault: PassingFault): Promise<void> {
    const { kubelet } = this.#node;
    if (fault.kind === 'delete-node') return this.#node.deleteNode();
    const { downMs } = fault;
    kubelet.crash(fault.of === 'process' ? { downMs } : { downMs, reboot: 'exited' });
    if (fault.of === 'delete-node') await this.#node.deleteNode();
  }

  #set(active: readonly ActiveFault[]): void {
    this.#active = active;
    const before = this.#told;
    const now = deriveTrouble(active);
    this.#told = now;
    this.#tellNetwork(before, now);
    this.#tellRuntime(before, now);
    this.#tellMachine(before, now);
    this.#tellContainers(now);
    if (differs(before.clock, now.clock)) this.#node.clock.skew(now.clock);
    if (before.shutdown !== now.shutdown) this.#tellShutdown(now.shutdown);
  }

  #tellNetwork(before: Trouble, now: Trouble): void {
    if (before.network.length === 0 && now.network.length === 0) return;
    this.#node.link.setRules(now.network, this.#random);
  }

  #tellRuntime({ runtime: before }: Trouble, { runtime: now }: Trouble): void {
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

  #tellMachine(before: Trouble, now: Trouble): void {
    const machine = this.#node.kubelet.health;
    if (before.unhealthy !== now.unhealthy) {
      if (now.unhealthy === undefined) machine.repair();
      else machine.breakDown(now.unhealthy);
    }
    for (const type of before.conditions) if (!now.conditions.includes(type)) releaseCondition(machine, type);
    for (const type of now.conditions) machine.setCondition(type, true);
    this.#tellSignals(before, now);
    if (differs(before.machine, now.machine)) this.#resize(now.machine);
  }

  #tellSignals(before: Trouble, now: Trouble): void {
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

  #tellContainers(now: Trouble): void {
    for (const [id, takeBack] of this.#scripts) {
      if (now.containers.has(id)) continue;
      takeBack();
      this.#scripts.delete(id);
    }
    for (const [id, script] of now.containers) {
      if (this.#scripts.has(id)) continue;
      const rule: ScriptRule = { script };
      this.#scripts.set(id, this.#node.kubelet.script(rule));
    }
  }

  #tellShutdown(goesDown: boolean): void {
    const { shutdown } = this.#node.kubelet.node;
    this.#shutdown?.abort();
    if (!goesDown) {
      shutdown.cancel();
      return;
    }
    this.#shutdown = new AbortController();
    void shutdown.begin(this.#shutdown.signal);
  }
}

const ownConditions: ReadonlySet<string> = new Set(['MemoryPressure', 'DiskPressure', 'PIDPressure']);

/** One of one's own, once told, is told for good: then it does not hold any more. */
function releaseCondition(machine: HollowKubelet['health'], type: string): void {
  if (ownConditions.has(type)) machine.releaseCondition(type);
  else machine.setCondition(type, false);
}

function differs(a: object, b: object): boolean {
  return JSON.stringify(a) !== JSON.stringify(b);
}

/** What a fault is called where people read. */
export function describeFault(fault: Fault): string {
  const { kind, ...details } = fault;
  const text = Object.entries(details)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(' ');
  return text === '' ? kind : `${kind} ${text}`;
}
