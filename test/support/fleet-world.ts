// Hollow nodes and the real controller in one world: an API server's memory between them, and a clock that a test moves.
import { type Condition, findCondition, listConditions } from '../../src/api/conditions.ts';
import { type Lease, type LeaseView, viewLease } from '../../src/api/lease.ts';
import type { EventDraft } from '../../src/api/event.ts';
import type { KubeObject } from '../../src/api/meta.ts';
import { type Node, type NodeView, viewNode } from '../../src/api/node.ts';
import { type Pod, type PodView, viewPod } from '../../src/api/pod.ts';
import type { ResourceName } from '../../src/api/resources.ts';
import { NodeLifecycle, podsByNode } from '../../src/controller/node-lifecycle.ts';
import {
  type ControllerOptions,
  defaultControllerOptions,
  defaultControllerSelection,
  defaultPodGcOptions,
} from '../../src/controller/options.ts';
import { SharedInformer } from '../../src/informer/shared-informer.ts';
import type { FaultOrder, PostedFault } from '../../src/kubelet/faults/fault-board.ts';
import type { Fault } from '../../src/kubelet/faults/fault.ts';
import type { GroundTruth } from '../../src/kubelet/faults/ground-truth.ts';
import { HollowFleet, type HollowFleetOptions } from '../../src/kubelet/fleet.ts';
import { ManualClock } from './manual-clock.ts';
import { MemoryApi } from './memory-api.ts';
import { OpenLanes } from './open-lanes.ts';
import { KeepingLogger, KeepingMeter, KeepingRecorder, SeededRandom } from './quiet.ts';

export interface FleetWorldOptions {
  /** Their names, or how many. */
  readonly nodes: readonly string[] | number;
  /** The node controller, beside them; none when absent. */
  readonly controller?: Partial<ControllerOptions>;
  readonly fleet?: Partial<HollowFleetOptions>;
  /** The zone of a node; all in one when absent. */
  readonly zoneOf?: (index: number) => string;
  readonly seed?: number;
}

const secondMs = 1_000;

export class FleetWorld {
  readonly clock = new ManualClock();
  readonly api = new MemoryApi(this.clock);
  readonly logger = new KeepingLogger();
  readonly truths: GroundTruth[] = [];
  readonly nodeEvents = new KeepingRecorder();
  /** Events that kubelets told, as `node reason`. */
  readonly told: string[] = [];
  /** The same, as they were told. */
  readonly drafts: EventDraft[] = [];
  readonly fleet: HollowFleet;
  /** Every Ready status that was stored, as `node status`, with its time in seconds. */
  readonly readiness: { readonly node: string; readonly status: string; readonly atSeconds: number }[] = [];
  readonly #life = new AbortController();
  readonly #startMs = this.clock.monotonicMs();
  readonly #running: Promise<unknown>[] = [];

  constructor({ nodes, controller, fleet, zoneOf = () => 'a', seed = 1 }: FleetWorldOptions) {
    const { clock, api, logger } = this;
    const names = typeof nodes === 'number' ? Array.from({ length: nodes }, (_, index) => `n${index + 1}`) : nodes;
    this.fleet = new HollowFleet({
      api,
      clock,
      logger,
      random: new SeededRandom(seed),
      seed,
      nodes: names.map((name, index) => ({
        name,
        labels: { 'topology.kubernetes.io/region': 'r', 'topology.kubernetes.io/zone': zoneOf(index) },
      })),
      tell: (truth) => this.truths.push(truth),
      recorder: (name) => ({
        record: (draft) => {
          this.told.push(`${name} ${draft.reason}`);
          this.drafts.push(draft);
        },
      }),
      ...fleet,
    });
    api.onEvent((resource, { object }) => this.#noteReadiness(resource, object as KubeObject));
    this.#running.push(this.fleet.run(this.#life.signal));
    if (controller !== undefined) this.#startController(controller);
    for (const running of this.#running) running.catch(() => undefined);
  }

  get signal(): AbortSignal {
    return this.#life.signal;
  }

  /** Seconds since the world began. */
  get seconds(): number {
    return (this.clock.monotonicMs() - this.#startMs) / secondMs;
  }

  async advance(seconds: number): Promise<void> {
    await this.clock.advance(seconds * secondMs);
  }

  /** Moves on until it is so, and no further than `secondsMax`; answers how long that took. */
  async until(what: string, secondsMax: number, holds: () => boolean, stepSeconds = 0.5): Promise<number> {
    const start = this.seconds;
    while (!holds()) {
      if (this.seconds - start >= secondsMax) throw new Error(`${what}: not within ${secondsMax} s`);
      await this.advance(stepSeconds);
    }
    return this.seconds - start;
  }

  /** Rejects when something failed; the number of those that sleep on is the answer, and should be 0. */
  async end(): Promise<number> {
    this.#life.abort();
    await this.clock.advance(0);
    await Promise.all(this.#running);
    return this.clock.sleeping;
  }

  post(fault: Fault, names: readonly string[] = ['n1'], more: Partial<FaultOrder> = {}): PostedFault {
    return this.fleet.faults.post({ selector: { names }, fault, ...more });
  }

  node(name = 'n1'): Node | undefined {
    return this.api.peek('nodes', name);
  }

  lease(name = 'n1'): Lease | undefined {
    return this.api.peek('leases', `kube-node-lease/${name}`);
  }

  pod(name: string): Pod | undefined {
    return this.api.peek('pods', `default/${name}`);
  }

  ready(name = 'n1'): Condition | undefined {
    return findCondition(listConditions(this.node(name)?.status?.conditions), 'Ready');
  }

  podReady(name: string): Condition | undefined {
    return findCondition(listConditions(this.pod(name)?.status?.conditions), 'Ready');
  }

  /** `key:effect`, without the prefix of Kubernetes' own. */
  taints(name = 'n1'): readonly string[] {
    return (this.node(name)?.spec?.taints ?? []).map(
      ({ key, effect }) => `${key.replace('node.kubernetes.io/', '')}:${effect}`,
    );
  }

  /** How often a node was said to be so after `sinceSeconds`. */
  turns(node: string, status: string, sinceSeconds = 0): number {
    return this.readiness.filter(
      (each) => each.node === node && each.status === status && each.atSeconds >= sinceSeconds,
    ).length;
  }

  /** With the tolerations of 300 s that an API server adds. */
  async bind(name: string, nodeName = 'n1', graceSeconds = 30): Promise<void> {
    const tolerations = ['not-ready', 'unreachable'].map((key) => ({
      key: `node.kubernetes.io/${key}`,
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: 300,
    }));
    const pod: Pod = {
      metadata: { name, namespace: 'default' },
      spec: {
        nodeName,
        terminationGracePeriodSeconds: graceSeconds,
        containers: [{ name: 'c', image: 'i:1' }],
        tolerations,
      },
    };
    await this.api.create('pods', pod);
  }

  #noteReadiness(resource: ResourceName, object: Node): void {
    const status = findCondition(listConditions(object.status?.conditions), 'Ready')?.status;
    if (resource !== 'nodes' || status === undefined) return;
    const node = object.metadata.name ?? '';
    const last = this.readiness.findLast((each) => each.node === node);
    if (last?.status !== status) this.readiness.push({ node, status, atSeconds: this.seconds });
  }

  #startController(options: Partial<ControllerOptions>): void {
    const means = { api: this.api, clock: this.clock, logger: this.logger, random: new SeededRandom(2) };
    const meter = new KeepingMeter();
    const identity = (view: { readonly uid: string; readonly resourceVersion: string }) => view;
    const common = { ...means, meter, identity };
    const indexes = { [podsByNode]: (pod: PodView) => (pod.nodeName === '' ? [] : [pod.nodeName]) };
    const informers = {
      nodes: new SharedInformer<Node, NodeView>({ ...common, resource: 'nodes', view: viewNode }),
      leases: new SharedInformer<Lease, LeaseView>({ ...common, resource: 'leases', view: viewLease }),
      pods: new SharedInformer<Pod, PodView>({ ...common, resource: 'pods', view: viewPod, indexes }),
    };
    const lifecycle = new NodeLifecycle({
      ...means,
      meter,
      options: { ...defaultControllerOptions, nodeMonitorGracePeriodMs: 40_000, ...options },
      controllers: { ...defaultControllerSelection, podGc: true },
      podGc: defaultPodGcOptions,
      informers,
      liveLeases: {
        read: async (nodes) => new Map(nodes.flatMap((name) => this.#leaseView(name))),
        probe: () => Promise.resolve(),
      },
      lanes: new OpenLanes(),
      leadership: { holds: () => true },
      recorders: { nodes: this.nodeEvents, evictions: new KeepingRecorder() },
    });
    const { signal } = this.#life;
    for (const informer of Object.values(informers)) this.#running.push(informer.run(signal));
    this.#running.push(lifecycle.lead(signal));
  }

  #leaseView(name: string): readonly [string, LeaseView][] {
    const lease = this.lease(name);
    return lease === undefined ? [] : [[name, viewLease(lease)]];
  }
}
