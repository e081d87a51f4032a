import type { Pod } from '../api/pod.ts';
import type { Clock } from '../ports/clock.ts';
import type { Random } from '../ports/random.ts';
import { Alarm } from '../supervision/alarm.ts';
import { decidePodWork, deriveGraceMs, type PodWork } from './decide-pod-work.ts';
import { deriveJittered } from './derive-phase.ts';
import type { PodSource } from './pod-config/api-source.ts';
import { derivePodStatus } from './pod-status/derive-pod-status.ts';
import type { StatusManager } from './pod-status/status-manager.ts';
import type { Machine } from './profile.ts';
import type { FakeRuntime } from './runtime/fake-runtime.ts';

const resyncJitterShare = 0.5;
/** Last parts of pod addresses, 1 to 254; beyond that they come round again. */
const podAddressesMax = 254;

export interface SyncLoopOptions {
  readonly source: PodSource;
  readonly runtime: FakeRuntime;
  readonly statuses: StatusManager;
  readonly machine: Machine;
  readonly clock: Clock;
  readonly random: Random;
  readonly syncPeriodMs: number;
}

interface Worker {
  /** The pod as last seen. */
  pod: Pod;
  /** No longer among the node's pods. */
  gone: boolean;
  /** Its grace period was counted from the first stop; a later delete may only shorten it. */
  graceMs: number | undefined;
  readonly podIP: string;
}

/**
 * Brings the runtime to what the pod source says, and tells the status manager what came of it. A pass looks at every
 * pod of the node and draws its conclusions from what is there now: changes only say that a pass is worth while.
 */
export class SyncLoop {
  readonly #options: SyncLoopOptions;
  readonly #workers = new Map<string, Worker>();
  readonly #alarm: Alarm;
  #addresses = 0;

  constructor(options: SyncLoopOptions) {
    this.#options = options;
    this.#alarm = new Alarm(options.clock);
  }

  /** Pods that this node takes care of, those that are on their way out included. */
  get pods(): number {
    return this.#workers.size;
  }

  /** Runs until the signal aborts. Containers are left as they are, as when a kubelet stops. */
  async run(signal: AbortSignal): Promise<void> {
    const leave = this.#options.source.onChange(() => {
      this.#alarm.ring();
    });
    try {
      while (!signal.aborted) {
        const lookedAtMs = this.#options.clock.monotonicMs();
        this.pass();
        await this.#alarm.wait(this.#waitMs(lookedAtMs), signal);
      }
    } finally {
      leave();
    }
  }

  /** One look at every pod. */
  pass(): void {
    this.#observe(this.#options.source.look());
    for (const [uid, worker] of this.#workers) this.#work(uid, worker);
  }

  /** Until a container starts or exits by itself, or until the next resync; at once for what happened during the look. */
  #waitMs(lookedAtMs: number): number {
    const { clock, random, runtime, syncPeriodMs } = this.#options;
    const resyncMs = deriveJittered(syncPeriodMs, resyncJitterShare, random.next());
    const changeAtMs = runtime.nextChangeAtMs(lookedAtMs);
    return changeAtMs === undefined ? resyncMs : Math.min(resyncMs, changeAtMs - clock.monotonicMs());
  }

  #observe(pods: readonly Pod[] | undefined): void {
    if (pods === undefined) return;
    const bound = new Map(pods.map((pod) => [pod.metadata.uid ?? '', pod]));
    for (const [uid, worker] of this.#workers) worker.gone = !bound.has(uid);
    for (const [uid, pod] of bound) this.#admit(uid, pod);
  }

  #admit(uid: string, pod: Pod): void {
    const worker = this.#workers.get(uid);
    if (worker === undefined) this.#workers.set(uid, { pod, gone: false, graceMs: undefined, podIP: this.#nextIP() });
    else worker.pod = pod;
  }

  #nextIP(): string {
    const last = 1 + (this.#addresses % podAddressesMax);
    this.#addresses += 1;
    return `${this.#options.machine.podSubnet}.${last}`;
  }

  #work(uid: string, worker: Worker): void {
    const { runtime, statuses } = this.#options;
    let work = this.#decide(uid, worker);
    if (work === 'start') runtime.startPod(uid, containersOf(worker.pod));
    if (work === 'stop') {
      this.#stop(uid, worker);
      // What stops in no time is finished in this very pass: nothing would call for another.
      work = this.#decide(uid, worker);
    }
    if (work === 'forget') {
      runtime.removePod(uid);
      statuses.forget(uid);
      this.#workers.delete(uid);
    } else if (!worker.gone) {
      this.#tell(uid, worker, work === 'finish');
    }
  }

  #decide(uid: string, { pod, gone }: Worker): PodWork {
    return decidePodWork({ pod, gone, containers: this.#options.runtime.containers(uid) });
  }

  #stop(uid: string, worker: Worker): void {
    const graceMs = deriveGraceMs(worker.pod);
    if (worker.graceMs !== undefined && worker.graceMs <= graceMs) return;
    worker.graceMs = graceMs;
    this.#options.runtime.stopPod(uid, graceMs);
  }

  #tell(uid: string, { pod, podIP }: Worker, finished: boolean): void {
    const { runtime, statuses, machine } = this.#options;
    const containers = runtime.containers(uid);
    const status = derivePodStatus({
      pod,
      containers,
      finished,
      hostIP: machine.address,
      podIP: containers?.some((container) => container.state !== 'created') === true ? podIP : undefined,
    });
    statuses.set(pod, status, finished);
  }
}

function containersOf(pod: Pod): readonly { readonly name: string; readonly image: string }[] {
  return (pod.spec?.containers ?? []).map(({ name, image }) => ({ name, image: image ?? '' }));
}
