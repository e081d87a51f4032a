import type { NodeView } from '../../machinery/api/node.ts';
import { type WorkOutcome, WorkQueue } from '../../machinery/queueing/work-queue.ts';
import { WorkLoop } from '../../machinery/supervision/work-loop.ts';
import { evaluationFailed } from '../model/decisions.ts';
import { decideNodeWork, type NodeWork, type NodeWorkEvidence } from './decide-node-work.ts';
import type { StageDependencies } from '../model/dependencies.ts';

/** Number of workers for each kind of work. */
const workersMax: Readonly<Record<NodeWork, number>> = { recovery: 16, detection: 16, housekeeping: 4 };
/** The name of the work queue in metrics; that of detection is kube-controller-manager's. */
const queueNames: Readonly<Record<NodeWork, string>> = {
  recovery: 'node_lifecycle_controller_recovery',
  detection: 'node_lifecycle_controller',
  housekeeping: 'node_lifecycle_controller_housekeeping',
};
const works = ['recovery', 'detection', 'housekeeping'] as const;

interface NodeWorkLoopsOptions extends Pick<StageDependencies, 'decisions' | 'meter' | 'clock'> {
  readonly reconciler: {
    reconcile(work: NodeWork, name: string): Promise<WorkOutcome>;
    /** The node no longer exists. */
    forget(name: string): void;
    /** Number of nodes that it remembers. */
    readonly remembered: number;
  };
}

/** Work queues of nodes, one for each kind of work: recovery and detection never wait for housekeeping. */
export class NodeWorkLoops {
  readonly #options: NodeWorkLoopsOptions;
  readonly #queues: Readonly<Record<NodeWork, WorkQueue>>;
  readonly #loops: Readonly<Record<NodeWork, WorkLoop>>;

  constructor(options: NodeWorkLoopsOptions) {
    this.#options = options;
    this.#queues = forEachWork(() => new WorkQueue());
    this.#loops = forEachWork((work) => this.#makeLoop(work));
  }

  /** The node is to be reconciled now. */
  add(node: NodeView, evidence: NodeWorkEvidence): void {
    for (const work of decideNodeWork(node, evidence)) this.#loops[work].add(node.name);
  }

  /** Drops a node that no longer exists. */
  remove(name: string): void {
    for (const work of works) this.#queues[work].remove(name);
    this.#options.reconciler.forget(name);
  }

  /** Number of entries of the largest queue. */
  get size(): number {
    return Math.max(this.#options.reconciler.remembered, ...works.map((work) => this.#queues[work].remembered));
  }

  /** Runs until the signal aborts, then waits for the workers. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(works.map((work) => this.#loops[work].run(signal)));
  }

  /** Handles everything that is due now; for tests and tools without running loops. */
  async drain(): Promise<void> {
    for (const work of works) await this.#loops[work].drain();
  }

  #makeLoop(work: NodeWork): WorkLoop {
    const { reconciler, decisions, clock, meter } = this.#options;
    return new WorkLoop({
      queue: this.#queues[work],
      clock,
      workersMax: workersMax[work],
      handle: (node) => reconciler.reconcile(work, node),
      onFault: (node, error) => {
        decisions.note(evaluationFailed('node', node, error));
      },
      measured: { name: queueNames[work], meter },
    });
  }
}

function forEachWork<T>(make: (work: NodeWork) => T): Readonly<Record<NodeWork, T>> {
  return { recovery: make('recovery'), detection: make('detection'), housekeeping: make('housekeeping') };
}
