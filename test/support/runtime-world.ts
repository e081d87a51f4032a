import type { Container, Pod, PodSpec } from '../../src/machinery/api/pod.ts';
import { PodCache } from '../../src/hollow-cluster/kubelet/pleg/pod-cache.ts';
import type { PodLifecycleEvent } from '../../src/hollow-cluster/kubelet/pleg/diff-pod-records.ts';
import { GenericPleg } from '../../src/hollow-cluster/kubelet/pleg/generic-pleg.ts';
import { ContainerHost } from '../../src/hollow-cluster/kubelet/runtime/container-host.ts';
import type { ContainerScript } from '../../src/hollow-cluster/kubelet/runtime/build-container-script.ts';
import {
  FakeRuntime,
  type FakeRuntimeOptions,
  plainScript,
} from '../../src/hollow-cluster/kubelet/runtime/hollow-runtime.ts';
import type {
  KillTarget,
  RuntimePodStatus,
  SyncOutcome,
} from '../../src/hollow-cluster/kubelet/runtime/pod-runtime.ts';
import { ManualClock, settled } from './manual-clock.ts';
import { RecordingLogger, RecordingRecorder } from './fakes.ts';

/** A pod with one container `c`, or with the given ones. Its uid is its name with `-uid`. */
export function makePod(
  name: string,
  spec: PodSpec = {},
  annotations: Readonly<Record<string, string>> = {},
): Pod & { readonly spec: PodSpec } {
  const containers: readonly Container[] = spec.containers ?? [{ name: 'c', image: 'img:1' }];
  return {
    metadata: { namespace: 'ns', name, uid: `${name}-uid`, annotations, generation: 1 },
    spec: { ...spec, containers },
  };
}

export function targetOf(pod: Pod): KillTarget {
  const { uid = '', namespace = '', name = '' } = pod.metadata;
  return { uid, namespace, name, pod };
}

type WorldOptions = Partial<Pick<FakeRuntimeOptions, 'onSandboxReady' | 'unpullable'>> & {
  readonly script?: Partial<ContainerScript>;
};

/** A runtime on its own clock. */
export class RuntimeWorld {
  readonly clock = new ManualClock();
  readonly host = new ContainerHost({ clock: this.clock, podSubnet: '10.128.0' });
  readonly recorder = new RecordingRecorder();
  readonly logger = new RecordingLogger();
  readonly signal = new AbortController().signal;
  readonly #options: WorldOptions;
  runtime: FakeRuntime;

  constructor(options: WorldOptions = {}) {
    this.#options = options;
    this.runtime = this.#makeRuntime();
  }

  /** A restarted kubelet connects to the same containers. */
  restartKubelet(): void {
    this.runtime = this.#makeRuntime();
  }

  inspect(pod: Pod): RuntimePodStatus {
    return this.host.inspect(pod.metadata.uid ?? '');
  }

  /** One sync of the pod as it is now; time advances while it runs. */
  async sync(pod: Pod, forMs = 0): Promise<SyncOutcome> {
    const pass = this.runtime.syncPod(pod, this.inspect(pod), this.signal);
    await this.clock.advance(forMs);
    return await pass;
  }

  /** State of the newest container of a name. */
  stateOf(pod: Pod, name = 'c'): string | undefined {
    return this.inspect(pod).containers.find((each) => each.kind !== 'sandbox' && each.name === name)?.state;
  }

  /** Reasons of the Events so far, in order. */
  get reasons(): readonly string[] {
    return this.recorder.drafts.map(({ reason }) => reason);
  }

  #makeRuntime(): FakeRuntime {
    const { script, ...options } = this.#options;
    const { host, clock, recorder } = this;
    return new FakeRuntime({ host, clock, recorder, script: { ...plainScript, ...script }, ...options });
  }
}

/** A generic PLEG on a world's runtime, and its events. */
export class PlegRun {
  readonly cache = new PodCache();
  readonly pleg: GenericPleg;
  readonly sent: { readonly atMs: number; readonly event: PodLifecycleEvent }[] = [];
  readonly #stop = new AbortController();
  readonly #done: Promise<void>;

  /** `reading`: whether events are consumed as they arrive. */
  constructor(
    world: Pick<RuntimeWorld, 'clock' | 'logger' | 'runtime'>,
    options: { readonly mode?: 'dirty' | 'generic'; readonly phaseMs?: number; readonly reading?: boolean } = {},
  ) {
    const { clock, logger, runtime } = world;
    const { mode = 'dirty', phaseMs = 0, reading = true } = options;
    this.pleg = new GenericPleg({ runtime, cache: this.cache, clock, logger, mode, phaseMs });
    const { events } = this.pleg;
    events.onReady(() => {
      const event = reading ? events.take() : undefined;
      if (event !== undefined) this.sent.push({ atMs: clock.monotonicMs(), event });
    });
    this.#done = this.pleg.run(this.#stop.signal);
  }

  /** The events so far, without container ids. */
  get types(): readonly string[] {
    return this.sent.map(({ event }) => event.type);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await settled();
    await this.#done;
  }
}
