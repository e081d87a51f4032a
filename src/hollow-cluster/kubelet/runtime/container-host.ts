import type { Pod } from '../../../machinery/api/pod.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';
import { SparseMap } from '../queues/sparse-map.ts';
import {
  type ContainerPlan,
  buildContainerStatus,
  planNextStepMs,
  buildState,
  type PlannedExit,
} from './build-container-state.ts';
import type { ContainerKind, RuntimePod, RuntimePodStatus } from './pod-runtime.ts';
import type { ScriptRule } from './build-container-script.ts';
import { RuntimeFaults } from './runtime-faults.ts';

interface ContainerHostOptions {
  readonly clock: Clock;
  /** The first three octets of its pods' addresses, such as `10.128.0`. */
  readonly podSubnet: string;
}

interface NewContainer {
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
  /** Pod as of the creation of its sandbox; script annotations are read from it. */
  pod: Pod;
  readonly ip: string | undefined;
  /** Containers and sandboxes, newest first. */
  plans: readonly ContainerPlan[];
}

const noImages: ReadonlyMap<string, number> = new Map();
/** Last octets of pod addresses, 1 to 254; after that they repeat. */
const addressesMax = 254;
/** Exit of a process that was running when the machine rebooted. */
const rebootExit = { exitCode: 255, reason: 'Unknown' } as const;

/** Remains of containers after a reboot: exited records, nothing, or records in state unknown. */
export type RebootRemains = 'exited' | 'gone' | 'unknown';

/**
 * The machine part of the fake runtime: sandboxes, containers and images, which outlive the kubelet. A container is
 * only a pair of times, when it runs and when it exits, so ten thousand of them need no timer.
 */
export class ContainerHost {
  /** Injected faults. */
  readonly faults = new RuntimeFaults();
  /** Rules that script the containers, oldest first. */
  rules: readonly ScriptRule[] = [];
  readonly #options: ContainerHostOptions;
  readonly #pods = new SparseMap<string, HostedPod>();
  #images: Map<string, number> | undefined;
  /** Number of containers created per name; kept after their records are removed, like the logs on disk. */
  readonly #created = new SparseMap<string, number>();
  #listeners: readonly (() => void)[] = [];
  #addresses = 0;

  constructor(options: ContainerHostOptions) {
    this.#options = options;
    this.faults.onChange(() => {
      this.#changed();
    });
  }

  /** Pulled images with their size in bytes. */
  get images(): ReadonlyMap<string, number> {
    return this.#images ?? noImages;
  }

  get podCount(): number {
    return this.#pods.size;
  }

  /** Called when something changed, or a scheduled change was added. Returns the function that unsubscribes. */
  onChange(listener: () => void): () => void {
    this.#listeners = [...this.#listeners, listener];
    return () => {
      this.#listeners = this.#listeners.filter((each) => each !== listener);
    };
  }

  /** Monotonic time of the first scheduled change after `sinceMs`; undefined if there is none. */
  nextChangeAtMs(sinceMs: number): number | undefined {
    let earliest: number | undefined;
    for (const { plans } of this.#pods.values()) {
      for (const plan of plans) {
        const atMs = planNextStepMs(plan, sinceMs);
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
        state: buildState(plan, nowMs),
      })),
    }));
  }

  /** An unknown pod has an empty status. Addresses are reported while its newest sandbox is ready. */
  inspect(uid: string): RuntimePodStatus {
    const nowMs = this.#options.clock.monotonicMs();
    const hosted = this.#pods.get(uid);
    if (hosted === undefined) return { uid, namespace: '', name: '', ips: [], containers: [] };
    const containers = hosted.plans.map((plan) => buildContainerStatus(plan, nowMs));
    const sandbox = containers.find(({ kind }) => kind === 'sandbox');
    const ips = hosted.ip !== undefined && sandbox?.state === 'running' ? [hosted.ip] : [];
    const { namespace, name } = hosted;
    return { uid, namespace, name, ips, containers };
  }

  /** Plans of a pod's containers that have not exited, without sandboxes. */
  live(uid: string): readonly ContainerPlan[] {
    const nowMs = this.#options.clock.monotonicMs();
    const plans = this.#pods.get(uid)?.plans ?? [];
    return plans.filter((plan) => plan.kind !== 'sandbox' && buildState(plan, nowMs) !== 'exited');
  }

  /** Monotonic time at which a container exited; undefined if it has not, or does not exist. */
  exitedAtMs(uid: string, id: string): number | undefined {
    const plan = this.#pods.get(uid)?.plans.find((each) => each.id === id);
    return plan === undefined || isLive(plan, this.#options.clock.monotonicMs()) ? undefined : plan.exit?.atMs;
  }

  /** The pod of a sandbox; undefined if there is none. */
  podOf(uid: string): Pod | undefined {
    return this.#pods.get(uid)?.pod;
  }

  /** Pods with sandboxes on this machine. */
  pods(): readonly Pod[] {
    return [...this.#pods.values()].map(({ pod }) => pod);
  }

  addSandbox(pod: Pod, attempt: number): void {
    const nowMs = this.#options.clock.monotonicMs();
    const hosted = this.#host(pod);
    const id = `${hosted.name}_${hosted.namespace}_${hosted.uid}_${attempt}`;
    const identity = { id, sandboxId: id, name: '', kind: 'sandbox', image: '', restartCount: attempt } as const;
    this.#add(hosted, { ...identity, ...this.#creationTimes(nowMs), runsAtMs: nowMs });
  }

  /** Creates and starts a container in the pod's newest sandbox. `restartCount`: undefined if unknown. */
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
    const plan = { ...identity, restartCount: count, ...this.#creationTimes(nowMs), runsAtMs, exit };
    this.#add(hosted, plan);
    return plan;
  }

  /** Replaces the plans with the same ids. */
  replan(uid: string, plans: readonly ContainerPlan[]): void {
    const hosted = this.#pods.get(uid);
    if (hosted === undefined) return;
    const byId = new Map(plans.map((plan) => [plan.id, plan]));
    hosted.plans = hosted.plans.map((plan) => byId.get(plan.id) ?? plan);
    this.#changed();
  }

  /** Stops all sandboxes of a pod and the containers that still run in them. */
  stopSandboxes(uid: string): void {
    const nowMs = this.#options.clock.monotonicMs();
    const exit = { atMs: nowMs, exitCode: 0 };
    const up = (this.#pods.get(uid)?.plans ?? []).filter((plan) => isLive(plan, nowMs) && plan.kind === 'sandbox');
    const inside = this.live(uid).map((plan) => ({ ...plan, lost: false, exit: { atMs: nowMs, exitCode: 137 } }));
    if (up.length > 0) this.replan(uid, [...up.map((plan) => ({ ...plan, lost: false, exit })), ...inside]);
  }

  /** Removes containers by id, and sandboxes that are empty; a pod with nothing left is removed. */
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

  /** Ends a container's process now. False if none of the name is running. */
  exit(uid: string, name: string, exitCode: number): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    const plan = this.live(uid).find((each) => each.name === name && buildState(each, nowMs) === 'running');
    if (plan === undefined) return false;
    this.replan(uid, [{ ...plan, exit: { atMs: nowMs, exitCode } }]);
    return true;
  }

  /** Reboots the machine: nothing runs any more. Images stay. */
  reboot(remains: RebootRemains): void {
    const nowMs = this.#options.clock.monotonicMs();
    const exit = { atMs: nowMs, ...rebootExit };
    if (remains === 'gone') this.#pods.clear();
    for (const hosted of this.#pods.values()) {
      hosted.plans = hosted.plans.map((plan) => planAfterReboot(plan, nowMs, exit, remains === 'unknown'));
    }
    this.#changed();
  }

  /** The container counts go with the pod, like its logs. */
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

  /** The next free address; when all are taken, they repeat. */
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

  #creationTimes(nowMs: number): Pick<ContainerPlan, 'createdAtMs' | 'exit' | 'lost' | 'wallOffsetMs'> {
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
  return buildState(plan, nowMs) !== 'exited';
}

function planAfterReboot(plan: ContainerPlan, nowMs: number, exit: PlannedExit, unknown: boolean): ContainerPlan {
  if (!isLive(plan, nowMs)) return plan;
  return unknown && plan.kind !== 'sandbox' ? { ...plan, lost: true, exit: undefined } : { ...plan, lost: false, exit };
}
