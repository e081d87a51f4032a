import type { Pod } from '../../api/pod.ts';
import type { Clock } from '../../ports/clock.ts';
import { SparseMap } from '../../queueing/sparse-map.ts';
import {
  type ContainerPlan,
  deriveContainerStatus,
  deriveNextStepMs,
  deriveState,
  type PlannedExit,
} from './derive-container-state.ts';
import type { ContainerKind, RuntimePod, RuntimePodStatus } from './pod-runtime.ts';
import { RuntimeFaults } from './runtime-faults.ts';

export interface ContainerHostOptions {
  readonly clock: Clock;
  /** The first three parts of its pods' addresses, as in `10.128.0`. */
  readonly podSubnet: string;
}

export interface NewContainer {
  readonly name: string;
  readonly kind: Exclude<ContainerKind, 'sandbox'>;
  readonly image: string;
  readonly startMs: number;
  readonly exitAfterMs: number | undefined;
  readonly exitCode: number;
}

interface HostedPod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** As it was when its sandbox was made; what scripts it is read from here. */
  pod: Pod;
  readonly ip: string | undefined;
  /** Containers and sandboxes, the newest first. */
  plans: readonly ContainerPlan[];
}

const noImages: ReadonlyMap<string, number> = new Map();
/** Last parts of pod addresses, 1 to 254; beyond that they come round again. */
const addressesMax = 254;
/** What is found of a process whose machine went down under it. */
const rebootExit = { exitCode: 255, reason: 'Unknown' } as const;

/** What a reboot leaves of containers: their records, nothing, or records of which nothing is known. */
export type RebootRemains = 'exited' | 'gone' | 'unknown';

/**
 * The machine's side of a fake runtime: sandboxes, containers and images, alive whether a kubelet looks or not. A
 * container is nothing but appointments, when it runs and when it exits, so ten thousand of them need no timer.
 */
export class ContainerHost {
  /** What is the matter with it. */
  readonly faults = new RuntimeFaults();
  readonly #options: ContainerHostOptions;
  readonly #pods = new SparseMap<string, HostedPod>();
  #images: Map<string, number> | undefined;
  /** How often a container of this name was created: logs on disk tell, when its records are gone. */
  readonly #created = new SparseMap<string, number>();
  #listeners: readonly (() => void)[] = [];
  #addresses = 0;

  constructor(options: ContainerHostOptions) {
    this.#options = options;
    this.faults.onChange(() => {
      this.#changed();
    });
  }

  /** Images that were pulled, and their bytes. */
  get images(): ReadonlyMap<string, number> {
    return this.#images ?? noImages;
  }

  get podCount(): number {
    return this.#pods.size;
  }

  /** Calls back when something changed, or will by itself. Returns the way to leave. */
  onChange(listener: () => void): () => void {
    this.#listeners = [...this.#listeners, listener];
    return () => {
      this.#listeners = this.#listeners.filter((each) => each !== listener);
    };
  }

  /** Monotonic time of the first change by itself after `sinceMs`; undefined when there is none. */
  nextChangeAtMs(sinceMs: number): number | undefined {
    let earliest: number | undefined;
    for (const { plans } of this.#pods.values()) {
      for (const plan of plans) {
        const atMs = deriveNextStepMs(plan, sinceMs);
        if (atMs !== undefined) earliest = Math.min(earliest ?? atMs, atMs);
      }
    }
    return earliest;
  }

  list(): readonly RuntimePod[] {
    const nowMs = this.#options.clock.monotonicMs();
    return [...this.#pods.values()].map(({ uid, namespace, name, plans }) => ({
      uid,
      namespace,
      name,
      containers: plans.map((plan) => ({
        id: plan.id,
        name: plan.name,
        kind: plan.kind,
        state: deriveState(plan, nowMs),
      })),
    }));
  }

  /** A pod that is not here has nothing in it. Its address is told while its newest sandbox is up. */
  inspect(uid: string): RuntimePodStatus {
    const nowMs = this.#options.clock.monotonicMs();
    const hosted = this.#pods.get(uid);
    if (hosted === undefined) return { uid, namespace: '', name: '', ips: [], containers: [] };
    const containers = hosted.plans.map((plan) => deriveContainerStatus(plan, nowMs));
    const sandbox = containers.find(({ kind }) => kind === 'sandbox');
    const ips = hosted.ip !== undefined && sandbox?.state === 'running' ? [hosted.ip] : [];
    const { namespace, name } = hosted;
    return { uid, namespace, name, ips, containers };
  }

  /** Containers of a pod that have not exited, as planned; sandboxes are not among them. */
  live(uid: string): readonly ContainerPlan[] {
    const nowMs = this.#options.clock.monotonicMs();
    const plans = this.#pods.get(uid)?.plans ?? [];
    return plans.filter((plan) => plan.kind !== 'sandbox' && deriveState(plan, nowMs) !== 'exited');
  }

  /** Monotonic time at which a container exited; undefined for one that has not, or is not here. */
  exitedAtMs(uid: string, id: string): number | undefined {
    const plan = this.#pods.get(uid)?.plans.find((each) => each.id === id);
    return plan === undefined || isLive(plan, this.#options.clock.monotonicMs()) ? undefined : plan.exit?.atMs;
  }

  /** The pod that a sandbox was made for; undefined where there is none. */
  podOf(uid: string): Pod | undefined {
    return this.#pods.get(uid)?.pod;
  }

  /** Pods that have sandboxes here. */
  pods(): readonly Pod[] {
    return [...this.#pods.values()].map(({ pod }) => pod);
  }

  addSandbox(pod: Pod, attempt: number): void {
    const nowMs = this.#options.clock.monotonicMs();
    const hosted = this.#host(pod);
    const id = `${hosted.name}_${hosted.namespace}_${hosted.uid}_${attempt}`;
    const identity = { id, sandboxId: id, name: '', kind: 'sandbox', image: '', restartCount: attempt } as const;
    this.#add(hosted, { ...identity, ...this.#born(nowMs), runsAtMs: nowMs });
  }

  /** Creates a container in the pod's newest sandbox and tells it to start. `restartCount`: undefined where none is known. */
  addContainer(uid: string, container: NewContainer, restartCount: number | undefined): ContainerPlan | undefined {
    const hosted = this.#pods.get(uid);
    const sandbox = hosted?.plans.find(({ kind }) => kind === 'sandbox');
    if (hosted === undefined || sandbox === undefined) return undefined;
    const nowMs = this.#options.clock.monotonicMs();
    const { name, kind, image, startMs, exitAfterMs, exitCode } = container;
    const count = restartCount ?? this.#created.get(`${uid}/${name}`) ?? 0;
    this.#created.set(`${uid}/${name}`, count + 1);
    const runsAtMs = nowMs + startMs;
    const exit = exitAfterMs === undefined ? undefined : { atMs: runsAtMs + exitAfterMs, exitCode };
    const identity = { id: `${sandbox.id}_${name}_${count}`, sandboxId: sandbox.id, name, kind, image };
    const plan = { ...identity, restartCount: count, ...this.#born(nowMs), runsAtMs, exit };
    this.#add(hosted, plan);
    return plan;
  }

  /** Puts other plans in the place of those with the same ids. */
  replan(uid: string, plans: readonly ContainerPlan[]): void {
    const hosted = this.#pods.get(uid);
    if (hosted === undefined) return;
    const byId = new Map(plans.map((plan) => [plan.id, plan]));
    hosted.plans = hosted.plans.map((plan) => byId.get(plan.id) ?? plan);
    this.#changed();
  }

  /** Stops all sandboxes of a pod, and with them whatever still runs in them. */
  stopSandboxes(uid: string): void {
    const nowMs = this.#options.clock.monotonicMs();
    const exit = { atMs: nowMs, exitCode: 0 };
    const up = (this.#pods.get(uid)?.plans ?? []).filter((plan) => isLive(plan, nowMs) && plan.kind === 'sandbox');
    const inside = this.live(uid).map((plan) => ({ ...plan, lost: false, exit: { atMs: nowMs, exitCode: 137 } }));
    if (up.length > 0) this.replan(uid, [...up.map((plan) => ({ ...plan, lost: false, exit })), ...inside]);
  }

  /** Removes containers by id, and sandboxes that hold nothing any more; a pod with nothing left is gone. */
  remove(uid: string, ids: ReadonlySet<string>): void {
    const hosted = this.#pods.get(uid);
    if (hosted === undefined) return;
    const nowMs = this.#options.clock.monotonicMs();
    const left = hosted.plans.filter(({ id }) => !ids.has(id));
    const used = new Set(left.filter(({ kind }) => kind !== 'sandbox').map(({ sandboxId }) => sandboxId));
    const newest = left.find(({ kind }) => kind === 'sandbox');
    hosted.plans = left.filter(
      (plan) =>
        plan.kind !== 'sandbox' || isLive(plan, nowMs) || used.has(plan.id) || (plan === newest && used.size > 0),
    );
    if (hosted.plans.length === 0) this.#forget(uid);
    this.#changed();
  }

  addImage(image: string, bytes: number): void {
    this.#images ??= new Map();
    this.#images.set(image, bytes);
  }

  /** A container's process ends now. False: there is none that runs. */
  exit(uid: string, name: string, exitCode: number): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    const plan = this.live(uid).find((each) => each.name === name && deriveState(each, nowMs) === 'running');
    if (plan === undefined) return false;
    this.replan(uid, [{ ...plan, exit: { atMs: nowMs, exitCode } }]);
    return true;
  }

  /** The machine goes down and comes up again: nothing runs any more. Images stay. */
  reboot(remains: RebootRemains): void {
    const nowMs = this.#options.clock.monotonicMs();
    const exit = { atMs: nowMs, ...rebootExit };
    if (remains === 'gone') this.#pods.clear();
    for (const hosted of this.#pods.values()) {
      hosted.plans = hosted.plans.map((plan) => downWith(plan, nowMs, exit, remains === 'unknown'));
    }
    this.#changed();
  }

  /** Its logs go with it. */
  #forget(uid: string): void {
    this.#pods.delete(uid);
    for (const key of this.#created.keys()) if (key.startsWith(`${uid}/`)) this.#created.delete(key);
  }

  #host(pod: Pod): HostedPod {
    const { uid = '', namespace = '', name = '' } = pod.metadata;
    const known = this.#pods.get(uid);
    if (known !== undefined) {
      known.pod = pod;
      return known;
    }
    const ip = pod.spec?.hostNetwork === true ? undefined : this.#nextAddress();
    const hosted = { uid, namespace, name, pod, ip, plans: [] };
    this.#pods.set(uid, hosted);
    return hosted;
  }

  /** The next one that no pod has; when all are taken, they come round again. */
  #nextAddress(): string {
    const taken = new Set([...this.#pods.values()].map(({ ip }) => ip));
    for (let tries = 0; tries < addressesMax; tries += 1) {
      const address = this.#address();
      if (!taken.has(address)) return address;
    }
    return this.#address();
  }

  #address(): string {
    const last = 1 + (this.#addresses % addressesMax);
    this.#addresses += 1;
    return `${this.#options.podSubnet}.${last}`;
  }

  #born(nowMs: number): Pick<ContainerPlan, 'createdAtMs' | 'exit' | 'lost' | 'wallOffsetMs'> {
    return { createdAtMs: nowMs, exit: undefined, lost: false, wallOffsetMs: this.#options.clock.nowMs() - nowMs };
  }

  #add(hosted: HostedPod, plan: ContainerPlan): void {
    hosted.plans = [plan, ...hosted.plans];
    this.#changed();
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

function isLive(plan: ContainerPlan, nowMs: number): boolean {
  return deriveState(plan, nowMs) !== 'exited';
}

function downWith(plan: ContainerPlan, nowMs: number, exit: PlannedExit, unknown: boolean): ContainerPlan {
  if (!isLive(plan, nowMs)) return plan;
  return unknown && plan.kind !== 'sandbox' ? { ...plan, lost: true, exit: undefined } : { ...plan, lost: false, exit };
}
