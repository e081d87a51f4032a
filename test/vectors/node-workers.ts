import type { NodeView } from '../../src/machinery/api/node.ts';
import { podKey, type PodView, transformPod } from '../../src/machinery/api/pod.ts';
import type { DecisionLog } from '../../src/controller/decision-log/decision-log.ts';
import type { CommandWriter } from '../../src/controller/model/commands.ts';
import { LabelKeeper } from '../../src/controller/labels/label-keeper.ts';
import { NoScheduleTainter } from '../../src/controller/tainting/no-schedule-tainter.ts';
import { ApiWriter } from '../../src/controller/writer/api-writer.ts';
import { MutationCache } from '../../src/machinery/informer/mutation-cache.ts';
import { type WorkOutcome, WorkQueue } from '../../src/machinery/queueing/work-queue.ts';
import { WorkLoop } from '../../src/machinery/supervision/work-loop.ts';
import { rethrow } from '../support/rethrow.ts';
import { equals } from './comparing.ts';
import { NotSupported, type Check, type Operation } from './world.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { OpenLanes } from '../support/open-lanes.ts';
import type { RecordingApi } from './recording-api.ts';
import type { VectorClock } from './vector-clock.ts';

const workersMax = 8;
const retryLimits = { delayMsMin: 100, delayMsMax: 30_000 } as const;

interface NodeWorkersOptions {
  readonly time: VectorClock;
  readonly nodes: MutationCache<NodeView>;
  readonly writer: CommandWriter;
  readonly decisions: DecisionLog;
}

/** The workers that update the NoSchedule taints and the beta labels of nodes: one reconciliation per node and queue entry. */
export class NodeWorkers {
  readonly #queue = new WorkQueue(retryLimits);
  readonly #loop: WorkLoop;
  readonly #noSchedule: NoScheduleTainter;
  readonly #labels: LabelKeeper;

  constructor({ time, nodes, writer, decisions }: NodeWorkersOptions) {
    this.#noSchedule = new NoScheduleTainter({ nodes, writer, decisions, clock: time.clock });
    this.#labels = new LabelKeeper({ nodes, writer, decisions });
    this.#loop = new WorkLoop({
      queue: this.#queue,
      clock: time.clock,
      workersMax,
      handle: (name) => this.#reconcile(name),
      onFault: rethrow,
    });
  }

  async #reconcile(name: string): Promise<WorkOutcome> {
    const tainted = await this.#noSchedule.reconcile(name, 'all');
    const labelled = await this.#labels.reconcile(name);
    return tainted.next === 'forget' ? labelled : tainted;
  }

  operations(): Readonly<Record<string, Operation>> {
    return {
      noSchedulePass: async ({ node }) => {
        await this.#noSchedule.reconcile(node as string, 'all');
      },
      nodeEvent: ({ node, new: now }) => {
        const name = (node as string | undefined) ?? (now as { readonly name: string } | null)?.name;
        if (name === undefined) throw new NotSupported('deletion of a node');
        this.#loop.add(name);
      },
      drainNodeWorkers: () => this.#loop.drain(),
      reconcileLabels: async ({ node }) => {
        await this.#labels.reconcile(node as string);
      },
    };
  }

  checks(): Readonly<Record<string, Check>> {
    return { nodeQueueLength: equals(() => this.#queue.size) };
  }
}

/** The real writer, onto the recording API. */
export function writerOnto(
  api: RecordingApi,
  nodes: MutationCache<NodeView>,
  decisions: DecisionLog,
  signal: AbortSignal,
): ApiWriter {
  const leadership = { holds: (): boolean => true };
  const lanes = new OpenLanes();
  const clock = new ManualClock();
  // Its own writes are known at once.
  const podOf = (key: string): PodView | undefined => {
    const pod = api.pod(key);
    return pod && transformPod(pod);
  };
  const pods = new MutationCache<PodView>(podOf, { keyOf: podKey });
  return new ApiWriter({ pods, api: api.client, lanes, leadership, nodes, decisions, clock, signal });
}
