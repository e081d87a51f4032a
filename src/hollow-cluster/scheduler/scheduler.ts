/**
 * A stand-in for kube-scheduler in simulations, a client of the API: it binds pending pods to nodes that fit, and says why
 * a pod fits none. Level-triggered: each attempt reads the current state, and a pod that does not fit is tried again when
 * nodes or pods change, and every minute. What it does not do: decision 0067.
 */
import { ApiError } from '../../machinery/api/api-error.ts';
import { listConditions, findCondition } from '../../machinery/api/conditions.ts';
import type { Node } from '../../machinery/api/node.ts';
import type { ObjectKey } from '../../machinery/api/object-key.ts';
import type { Pod } from '../../machinery/api/pod.ts';
import { sameJson } from '../../machinery/api/json-values.ts';
import { formatTime } from '../../machinery/api/timestamps.ts';
import type { Change, Informer } from '../../machinery/informer/informer.ts';
import { waitForCacheSync } from '../../machinery/informer/wait-for-cache-sync.ts';
import type { Clock } from '../../machinery/ports/clock.ts';
import type { EventRecorder } from '../../machinery/ports/event-recorder.ts';
import type { KubeWriter, PodBinder } from '../../machinery/ports/kube-writer.ts';
import type { Logger } from '../../machinery/ports/logger.ts';
import type { Random } from '../../machinery/ports/random.ts';
import { backOffAtLeast, forget, type WorkOutcome, WorkQueue } from '../../machinery/queueing/work-queue.ts';
import { WorkLoop } from '../../machinery/supervision/work-loop.ts';
import { hasEnded } from '../kubelet/pod-config/classify-pod.ts';
import { podScheduled, schedulingFailed } from './events.ts';
import { assumedMsMax, NodeLoads } from './node-loads.ts';
import { selectNode } from './select-node.ts';

export const schedulerName = 'default-scheduler';
/** Bindings in flight. */
const bindingsMax = 16;
/** Pods placed without yielding to the event loop. */
const podsInARow = 16;
/** Backoff limits of kube-scheduler. */
const backoffLimits = { delayMsMin: 1_000, delayMsMax: 10_000 } as const;
/** After a change of the cluster, pods that fitted no node are tried again together. */
const retryAfterChangeMs = 1_000;
const retryAnywayMs = 60_000;

interface SchedulerOptions {
  /** All nodes and pods in full, pods indexed by node; the caller runs them. */
  readonly nodes: Informer<Node>;
  readonly pods: Informer<Pod>;
  readonly api: Pick<KubeWriter, 'patch'> & PodBinder;
  readonly recorder: EventRecorder;
  readonly clock: Clock;
  /** Decides between equal nodes. */
  readonly random: Random;
  readonly logger: Logger;
}

export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #loads: NodeLoads;
  readonly #loop: WorkLoop;
  /** Pods that fitted no node when they were last tried. */
  readonly #waiting = new Set<ObjectKey>();

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#loads = new NodeLoads(options.nodes, options.pods);
    this.#loop = new WorkLoop({
      queue: new WorkQueue(backoffLimits),
      clock: options.clock,
      workersMax: bindingsMax,
      keysInARow: podsInARow,
      handle: (key) => this.#schedule(key),
      onFault: (pod, error) => options.logger.error({ pod, error }, 'cannot schedule pod'),
    });
  }

  /** Waits for the informers, then schedules until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { nodes, pods, clock } = this.#options;
    await waitForCacheSync([nodes, pods], { clock, signal });
    const unsubscribe = [
      pods.onChange('scheduler', (change) => this.#podChanged(change)),
      nodes.onChange('scheduler', (change) => this.#nodeChanged(change)),
    ];
    try {
      await this.#loop.run(signal);
    } finally {
      for (const each of unsubscribe) each();
    }
  }

  #podChanged(change: Change<Pod>): void {
    const { key, object: pod } = change;
    if (change.kind === 'deleted' || isBound(pod)) {
      this.#waiting.delete(key);
      this.#loads.forget(key);
    }
    if (change.kind !== 'deleted' && isPending(pod)) this.#loop.add(key);
    // Room may have become free.
    if (isBound(pod) && (change.kind === 'deleted' || hasEnded(pod))) this.#retryWaiting();
  }

  #nodeChanged(change: Change<Node>): void {
    if (change.kind === 'modified' && sameJson(placingFields(change.previous), placingFields(change.object))) return;
    if (change.kind !== 'deleted') this.#retryWaiting();
  }

  #retryWaiting(): void {
    for (const key of this.#waiting) this.#loop.add(key, retryAfterChangeMs);
  }

  async #schedule(key: ObjectKey): Promise<WorkOutcome> {
    const { pods, clock, random } = this.#options;
    const pod = pods.store.get(key);
    const nowMs = clock.monotonicMs();
    if (pod === undefined || !isPending(pod)) return forget;
    const assumedMs = this.#loads.assumedForMs(pod, nowMs);
    if (assumedMs > 0) return { next: 'requeue', afterMs: assumedMs };
    const placement = selectNode(pod, this.#loads.demand(pod), this.#loads.all(nowMs), random.next());
    try {
      if (placement.kind === 'unschedulable') return await this.#reportUnschedulable(key, pod, placement.message);
      this.#waiting.delete(key);
      this.#loads.assume(pod, placement.name, nowMs);
      return await this.#bind(key, pod, placement.name);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // After a timeout it may have been bound: it counts there until the informer shows it, or for a bounded time.
      if (error.reason !== 'timeout') this.#loads.forget(key);
      return this.#failed(key, error);
    }
  }

  async #bind(key: ObjectKey, pod: Pod, node: string): Promise<WorkOutcome> {
    const { api, recorder } = this.#options;
    const { namespace = '', name = '', uid = '' } = pod.metadata;
    await api.bind({ namespace, name, uid }, node, { signal: neverAborted });
    this.#options.logger.debug({ pod: key, node }, 'pod bound');
    recorder.record(podScheduled(pod, node));
    // By then the informer shows it, or it is placed again.
    return { next: 'requeue', afterMs: assumedMsMax };
  }

  async #reportUnschedulable(key: ObjectKey, pod: Pod, message: string): Promise<WorkOutcome> {
    const { recorder } = this.#options;
    this.#waiting.add(key);
    const known = findCondition(listConditions(pod.status?.conditions), 'PodScheduled');
    const isNews = known?.status !== 'False' || known.message !== message || known.reason !== 'Unschedulable';
    if (isNews) {
      await this.#writeCondition(pod, message, known?.status === 'False' ? known.lastTransitionTime : undefined);
      recorder.record(schedulingFailed(pod, message));
    }
    return { next: 'requeue', afterMs: retryAnywayMs };
  }

  async #writeCondition({ metadata }: Pod, message: string, sinceTime: string | undefined): Promise<void> {
    const { api, clock } = this.#options;
    const { namespace = '', name = '', uid } = metadata;
    const condition = {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message,
      lastProbeTime: null,
      lastTransitionTime: sinceTime ?? formatTime(clock.nowMs()),
    };
    const body = { metadata: { uid }, status: { conditions: [condition] } };
    const patch = { type: 'strategic-merge', body } as const;
    await api.patch('pods', { namespace, name }, patch, { subresource: 'status', signal: neverAborted });
  }

  /** A pod that is gone, or was bound or recreated meanwhile, comes again by the informer if it is to be scheduled. */
  #failed(key: ObjectKey, error: ApiError): WorkOutcome {
    const { logger } = this.#options;
    if (error.reason === 'not-found') return forget;
    logger.info({ pod: key, error: error.message }, 'cannot place pod; retrying');
    return backOffAtLeast(error.retryAfterMs);
  }
}

/** A write that was begun is finished: the client has a time limit of its own. */
const neverAborted = new AbortController().signal;

function isBound({ spec }: Pod): boolean {
  return (spec?.nodeName ?? '') !== '';
}

/** Waits for this scheduler. */
function isPending(pod: Pod): boolean {
  const { metadata, spec } = pod;
  if (isBound(pod) || hasEnded(pod) || metadata.deletionTimestamp !== undefined) return false;
  return (spec?.schedulerName ?? schedulerName) === schedulerName && (spec?.schedulingGates ?? []).length === 0;
}

/** Decide where pods fit; heartbeats do not. */
function placingFields({ metadata, spec, status }: Node): unknown {
  const { taints, unschedulable } = spec ?? {};
  return [metadata.labels ?? {}, taints ?? [], unschedulable ?? false, status?.allocatable ?? {}];
}
