// The pod garbage collector: passes when the vector requests them, over caches and an API server that may differ.
import assert from 'node:assert/strict';
import { type NodeView, transformNode } from '../../src/machinery/api/node.ts';
import { podKey, type PodView, transformPod } from '../../src/machinery/api/pod.ts';
import { DecisionLog } from '../../src/controller/decision-log/decision-log.ts';
import { defaultPodGcOptions } from '../../src/controller/model/options.ts';
import { LiveNodes } from '../../src/controller/live-nodes.ts';
import { PodGarbageCollector } from '../../src/controller/pod-gc/pod-garbage-collector.ts';
import { MutationCache } from '../../src/machinery/informer/mutation-cache.ts';
import { FakeInformer } from '../support/fake-informer.ts';
import { RecordingLogger, RecordingMeter } from '../support/fakes.ts';
import { ApiChecks } from './api-checks.ts';
import { equals, equalsAsSet } from './comparing.ts';
import { type Given, type GivenNode, type Step, faultOf } from './format.ts';
import { nodeOf, podOf } from './given-objects.ts';
import { metricChecks } from './metric-checks.ts';
import { writerOnto } from './node-workers.ts';
import { RecordingApi } from './recording-api.ts';
import { VectorClock } from './vector-clock.ts';
import type { Check, Operation, World } from './world.ts';

export class PodGcWorld implements World {
  readonly givens: readonly (keyof Given)[] = [
    't0',
    'nodes',
    'pods',
    'faults',
    'quarantineS',
    'informerNodes',
    'apiNodes',
    'threshold',
  ];
  readonly operations: Readonly<Record<string, Operation>>;
  readonly checks: Readonly<Record<string, Check>>;
  readonly #time: VectorClock;
  readonly #api: RecordingApi;
  readonly #nodes = new FakeInformer<NodeView>('nodes');
  readonly #pods = new FakeInformer<PodView>('pods');
  readonly #meter = new RecordingMeter();
  readonly #stop = new AbortController();
  readonly #collector: PodGarbageCollector;
  /** Missing nodes past their quarantine when the clock was last moved: the next pass checks them live. */
  #outOfQuarantine = 0;

  constructor(given: Given) {
    this.#time = new VectorClock(given.t0);
    this.#api = new RecordingApi(this.#time);
    for (const node of given.nodes ?? []) this.#addEverywhere(node);
    for (const name of given.apiNodes ?? []) this.#addToApi({ name });
    for (const name of given.informerNodes ?? []) this.#addToCache({ name });
    for (const pod of given.pods ?? []) this.#api.put('pods', podOf(pod, this.#time));
    for (const fault of given.faults ?? []) this.#api.fail(fault);
    this.#collector = this.#newCollector(given);
    this.#syncPods();
    this.operations = this.#operations();
    const apiChecks = new ApiChecks(this.#api, this.#time);
    this.checks = {
      ...apiChecks.all(),
      // kube-controller-manager deletes concurrently, or in the order of a map: no order is compared.
      patched: equalsAsSet(() => apiChecks.patchedNames()),
      ...metricChecks(this.#meter),
      readyNodesInQuarantine: equals(() => this.#outOfQuarantine),
      noCrash: equals(() => true),
      panic: equals(() => false),
    };
  }

  stop(): Promise<void> {
    this.#stop.abort();
    return Promise.resolve();
  }

  #newCollector({ threshold, quarantineS }: Given): PodGarbageCollector {
    const { clock } = this.#time;
    const decisions = new DecisionLog(new RecordingLogger(), this.#meter, () => clock.nowMs());
    const nodes = new MutationCache<NodeView>((name) => this.#nodes.get(name));
    const { signal } = this.#stop;
    const onFault = (_node: string, error: unknown): never => assert.fail(String(error));
    const onRead = (): void => undefined;
    const live = new LiveNodes({ api: this.#api.client, clock, signal, onRead, onFault });
    return new PodGarbageCollector({
      podGc: {
        current: () => ({
          terminatedPodGcThreshold: threshold ?? defaultPodGcOptions.terminatedPodGcThreshold,
        }),
      },
      ...(quarantineS === undefined ? {} : { quarantineMs: quarantineS * 1_000 }),
      pods: this.#pods,
      nodes,
      readNode: (name, sentSinceMs) => live.read(name, sentSinceMs),
      relistNodes: () => undefined,
      writer: writerOnto(this.#api, nodes, decisions, signal),
      decisions,
      meter: this.#meter,
      clock,
    });
  }

  #operations(): Readonly<Record<string, Operation>> {
    return {
      advance: async ({ seconds }) => {
        await this.#time.advance(seconds as number);
        this.#outOfQuarantine = this.#collector.outOfQuarantine().length;
      },
      gc: () => this.#gc(),
      gcUnscheduledTerminating: () => this.#collector.step('unscheduled'),
      change: (step) => {
        this.#change(step);
      },
      failNext: (step) => {
        this.#api.fail(faultOf(step));
      },
    };
  }

  async #gc(): Promise<void> {
    this.#syncPods();
    await this.#collector.pass();
  }

  #change({ apiAdd, apiDelete, informerAdd, informerDelete }: Step): void {
    const names = (list: unknown): readonly string[] => (list ?? []) as readonly string[];
    for (const name of names(apiAdd)) this.#addToApi({ name });
    for (const name of names(apiDelete)) this.#api.remove('nodes', name);
    for (const name of names(informerAdd)) this.#addToCache({ name });
    for (const name of names(informerDelete)) this.#nodes.delete(name);
  }

  #addEverywhere(node: GivenNode): void {
    this.#addToApi(node);
    this.#addToCache(node);
  }

  #addToApi(node: GivenNode): void {
    this.#api.put('nodes', nodeOf(node, this.#time.nowMs));
  }

  #addToCache(node: GivenNode): void {
    this.#nodes.set(node.name, transformNode(nodeOf(node, this.#time.nowMs)));
  }

  #syncPods(): void {
    const living = new Map(this.#api.pods().map((pod) => [podKey(transformPod(pod)), transformPod(pod)]));
    for (const key of this.#pods.keys()) if (!living.has(key)) this.#pods.delete(key);
    for (const [key, pod] of living) this.#pods.set(key, pod);
  }
}
