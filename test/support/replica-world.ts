// Replicas of the controller with hollow nodes in virtual time: the world of the simulator, without faults of its own.
import { defaultControllerOptions } from '../../src/controller/model/options.ts';
import { findCondition, listConditions } from '../../src/machinery/api/conditions.ts';
import type { Node } from '../../src/machinery/api/node.ts';
import type { Informer } from '../../src/machinery/informer/informer.ts';
import type { Manager } from '../../src/manager/manager.ts';
import type { ClusterPlan } from '../../src/simulator/cluster/cluster-plan.ts';
import type { Replica } from '../../src/simulator/cluster/replica.ts';
import type { RequestLine } from '../../src/simulator/network/network.ts';
import { Trace } from '../../src/simulator/trace.ts';
import { World } from '../../src/simulator/world.ts';
import { simulationRuntime } from '../../src/cli/simulate/simulation-runtime.ts';

/** Kubelets renew every 10 s and the election has its default intervals. */
const plan: ClusterPlan = {
  nodes: ['n1', 'n2', 'n3'].map((name) => ({ name, zone: 'a' })),
  podsPerNode: 1,
  replicas: 2,
  servers: 1,
  controller: defaultControllerOptions,
  watchCanary: false,
  limits: { qps: 20, burst: 30 },
  latencyMs: { min: 0.5, max: 5 },
  lagMsMax: 5,
  driftMax: 0,
};

interface SentRequest extends RequestLine {
  readonly atMs: number;
  readonly replica: string;
}

export class ReplicaWorld implements Disposable {
  readonly world: World;
  readonly sent: SentRequest[] = [];
  readonly lines: string[] = [];

  constructor(changes: Partial<ClusterPlan> = {}, seed = 1) {
    this.world = new World({
      plan: { ...plan, ...changes },
      seed,
      simulationRuntime,
      trace: new Trace((line) => void this.lines.push(line)),
      takesBackups: false,
      onSent: ({ name: replica }, line) => void this.sent.push({ ...line, replica, atMs: this.nowMs }),
      onFailed: (error) => {
        throw error;
      },
    });
    this.world.start();
  }

  [Symbol.dispose](): void {
    this.world.end();
  }

  get nowMs(): number {
    return this.world.timeline.nowMs;
  }

  advance(ms: number): Promise<void> {
    return this.world.timeline.runUntil(this.nowMs + ms);
  }

  /** Advances until the condition holds; returns the elapsed milliseconds. */
  async until(what: string, msMax: number, holds: () => boolean): Promise<number> {
    const fromMs = this.nowMs;
    while (!holds()) {
      if (this.nowMs - fromMs >= msMax) throw new Error(`${what}: not within ${msMax} ms`);
      await this.advance(100);
    }
    return this.nowMs - fromMs;
  }

  /** All nodes are Ready, and every replica has had time to lead or to fill its caches. */
  async settle(): Promise<void> {
    await this.advance(60_000);
    await this.until('a leader', 30_000, () => this.world.leader() !== undefined);
  }

  leader(): Replica {
    const leader = this.world.leader();
    if (leader === undefined) throw new Error('no replica leads');
    return leader;
  }

  standby(): Replica {
    const leader = this.leader();
    const standby = [...this.world.replicas.values()].find((replica) => replica !== leader);
    if (standby === undefined) throw new Error('no standby');
    return standby;
  }

  /** The caches of all replicas are in sync. */
  inSync(): boolean {
    const runs = [...this.world.replicas.values()].map(({ run }) => run);
    return runs.every((run) => run !== undefined && informersOf(run.manager).every((informer) => informer.hasSynced()));
  }

  /** All watches of the replica are open. */
  isWatching({ run }: Replica): boolean {
    return run !== undefined && informersOf(run.manager).every((informer) => informer.status().state === 'watching');
  }

  /** The cable of this node is pulled. */
  cut(node: string): void {
    const fault = { kind: 'partition', direction: 'all', manner: 'silent' } as const;
    this.world.fleet.faults.post({ id: `cut-${node}`, selector: { names: [node] }, fault });
  }

  ready(name: string): string | undefined {
    const node = this.world.storage.get('nodes', { name }) as Node | undefined;
    return findCondition(listConditions(node?.status?.conditions), 'Ready')?.status;
  }
}

function informersOf({ informers }: Manager): readonly Pick<Informer<unknown>, 'hasSynced' | 'status'>[] {
  return Object.values(informers);
}
