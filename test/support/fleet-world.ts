// Hollow nodes and the real controller together: an in-memory API server between them, and a manual clock.
import { type Condition, findCondition, listConditions } from '../../src/machinery/api/conditions.ts';
import { type Lease, type LeaseView, transformLease } from '../../src/machinery/api/lease.ts';
import type { EventDraft } from '../../src/machinery/api/event.ts';
import type { KubeObject } from '../../src/machinery/api/meta.ts';
import { type Node, type NodeView, transformNode } from '../../src/machinery/api/node.ts';
import { type Pod, type PodView, transformPod } from '../../src/machinery/api/pod.ts';
import type { ResourceName } from '../../src/machinery/api/resources.ts';
import { selectControllers } from '../../src/cli/controller/rules.ts';
import { NodeLifecycle, podsByNode } from '../../src/controller/node-lifecycle.ts';
import {
  type ControllerOptions,
  defaultControllerOptions,
  defaultPodGcOptions,
} from '../../src/controller/model/options.ts';
import { SharedInformer } from '../../src/machinery/informer/shared-informer.ts';
import type { FaultOrder, ActiveFault } from '../../src/hollow-cluster/kubelet/faults/fault-injector.ts';
import type { Fault } from '../../src/hollow-cluster/kubelet/faults/fault.ts';
import type { GroundTruth } from '../../src/hollow-cluster/kubelet/faults/ground-truth.ts';
import { HollowFleet, type HollowFleetOptions } from '../../src/hollow-cluster/kubelet/fleet/fleet.ts';
import { ManualClock } from './manual-clock.ts';
import { MemoryApi } from './memory-api.ts';
import { OpenLanes } from './open-lanes.ts';
import { RecordingLogger, RecordingMeter, RecordingRecorder, SeededRandom } from './fakes.ts';

interface FleetWorldOptions {
  /** Their names, or their number. */
  readonly nodes: readonly string[] | number;
  /** The node lifecycle controller; none when absent. */
  readonly controller?: Partial<ControllerOptions>;
  readonly fleet?: Partial<HollowFleetOptions>;
  /** The zone of a node; all in one zone when absent. */
  readonly zoneOf?: (index: number) => string;
  readonly seed?: number;
}

const secondMs = 1_000;

export class FleetWorld {
  readonly clock = new ManualClock();
  readonly api = new MemoryApi(this.clock);
  readonly logger = new RecordingLogger();
  readonly truths: GroundTruth[] = [];
  readonly nodeEvents = new RecordingRecorder();
  /** Events recorded by kubelets, as `node reason`. */
  readonly events: string[] = [];
  /** The same Events, complete. */
  readonly drafts: EventDraft[] = [];
  readonly fleet: HollowFleet;
  /** Every stored Ready status, as `node status`, with its time in seconds. */
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
      onGroundTruth: (truth) => this.truths.push(truth),
      recorder: (name) => ({
        record: (draft) => {
          this.events.push(`${name} ${draft.reason}`);
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

  /** Seconds since the start. */
  get seconds(): number {
    return (this.clock.monotonicMs() - this.#startMs) / secondMs;
  }

  async advance(seconds: number): Promise<void> {
    await this.clock.advance(seconds * secondMs);
  }

  /** Advances until the condition holds, at most `secondsMax`; returns the elapsed seconds. */
  async until(what: string, secondsMax: number, holds: () => boolean, stepSeconds = 0.5): Promise<number> {
    const start = this.seconds;
    while (!holds()) {
      if (this.seconds - start >= secondsMax) throw new Error(`${what}: not within ${secondsMax} s`);
      await this.advance(stepSeconds);
    }
    return this.seconds - start;
  }

  /** Rejects if a component failed; returns the number of remaining sleeps, which should be 0. */
  async end(): Promise<number> {
    this.#life.abort();
    await this.clock.advance(0);
    await Promise.all(this.#running);
    return this.clock.sleeping;
  }

  post(fault: Fault, names: readonly string[] = ['n1'], more: Partial<FaultOrder> = {}): ActiveFault {
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

  /** `key:effect`, without Kubernetes' prefix. */
  taints(name = 'n1'): readonly string[] {
    return (this.node(name)?.spec?.taints ?? []).map(
      ({ key, effect }) => `${key.replace('node.kubernetes.io/', '')}:${effect}`,
    );
  }

  /** Number of times this was stored for the node after `sinceSeconds`. */
  turns(node: string, status: string, sinceSeconds = 0): number {
    return this.readiness.filter(
      (each) => each.node === node && each.status === status && each.atSeconds >= sinceSeconds,
    ).length;
  }

  /** With the default tolerations of 300 s that the API server adds. */
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
    const dependencies = { api: this.api, clock: this.clock, logger: this.logger, random: new SeededRandom(2) };
    const meter = new RecordingMeter();
    const identity = (view: { readonly uid: string; readonly resourceVersion: string }) => view;
    const common = { ...dependencies, meter, identity };
    const indexes = { [podsByNode]: (pod: PodView) => (pod.nodeName === '' ? [] : [pod.nodeName]) };
    const informers = {
      nodes: new SharedInformer<Node, NodeView>({ ...common, resource: 'nodes', transform: transformNode }),
      leases: new SharedInformer<Lease, LeaseView>({ ...common, resource: 'leases', transform: transformLease }),
      pods: new SharedInformer<Pod, PodView>({ ...common, resource: 'pods', transform: transformPod, indexes }),
    };
    const lifecycle = new NodeLifecycle({
      ...dependencies,
      meter,
      options: { current: () => ({ ...defaultControllerOptions, nodeMonitorGracePeriodMs: 40_000, ...options }) },
      controllers: { ...selectControllers('*'), podGc: true },
      podGc: { current: () => defaultPodGcOptions },
      informers,
      liveLeases: {
        readAll: async () => {
          const leases = [...informers.nodes.store.keys()].flatMap((name) => this.#leaseView(name));
          return new Map(leases.map(([node, lease]) => [node, { kind: 'found', lease }]));
        },
        readOne: async (node) => {
          const [found] = this.#leaseView(node);
          return found === undefined ? { kind: 'missing' } : { kind: 'found', lease: found[1] };
        },
        probe: () => Promise.resolve(''),
      },
      lanes: new OpenLanes(),
      leadership: { holds: () => true },
      recorders: { nodes: this.nodeEvents, evictions: new RecordingRecorder() },
    });
    const { signal } = this.#life;
    for (const informer of Object.values(informers)) this.#running.push(informer.run(signal));
    this.#running.push(lifecycle.lead(signal));
  }

  #leaseView(name: string): readonly [string, LeaseView][] {
    const lease = this.lease(name);
    return lease === undefined ? [] : [[name, transformLease(lease)]];
  }
}
