import type { Container, Pod, PodSpec } from '../../src/api/pod.ts';
import { PodCache } from '../../src/kubelet/pleg/pod-cache.ts';
import type { PodLifecycleEvent } from '../../src/kubelet/pleg/pod-lifecycle-event.ts';
import { Relister } from '../../src/kubelet/pleg/relister.ts';
import { ContainerHost } from '../../src/kubelet/runtime/container-host.ts';
import type { ContainerScript } from '../../src/kubelet/runtime/derive-container-script.ts';
import { FakeRuntime, type FakeRuntimeOptions, plainScript } from '../../src/kubelet/runtime/hollow-runtime.ts';
import type { KillTarget, RuntimePodStatus, SyncOutcome } from '../../src/kubelet/runtime/pod-runtime.ts';
import { ManualClock, settled } from './manual-clock.ts';
import { KeepingLogger, KeepingRecorder } from './quiet.ts';

/** A pod with one container `c`, or with others. Its uid is its name with `-uid`. */
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

type WorldOptions = Partial<Pick<FakeRuntimeOptions, 'wording' | 'onSandboxReady'>> & {
  readonly script?: Partial<ContainerScript>;
};

/** A runtime on a clock of one's own. */
export class RuntimeWorld {
  readonly clock = new ManualClock();
  readonly host = new ContainerHost({ clock: this.clock, podSubnet: '10.128.0' });
  readonly recorder = new KeepingRecorder();
  readonly logger = new KeepingLogger();
  readonly signal = new AbortController().signal;
  readonly #options: WorldOptions;
  runtime: FakeRuntime;

  constructor(options: WorldOptions = {}) {
    this.#options = options;
    this.runtime = this.#makeRuntime();
  }

  /** A kubelet that restarts has a new hand on the same containers. */
  restartKubelet(): void {
    this.runtime = this.#makeRuntime();
  }

  inspect(pod: Pod): RuntimePodStatus {
    return this.host.inspect(pod.metadata.uid ?? '');
  }

  /** One pass over the pod as it is now; time goes on for as long as it takes. */
  async sync(pod: Pod, forMs = 0): Promise<SyncOutcome> {
    const pass = this.runtime.syncPod(pod, this.inspect(pod), this.signal);
    await this.clock.advance(forMs);
    return await pass;
  }

  /** State of the newest container of a name. */
  stateOf(pod: Pod, name = 'c'): string | undefined {
    return this.inspect(pod).containers.find((each) => each.kind !== 'sandbox' && each.name === name)?.state;
  }

  /** Reasons of the events so far, in order. */
  get reasons(): readonly string[] {
    return this.recorder.drafts.map(({ reason }) => reason);
  }

  #makeRuntime(): FakeRuntime {
    const { script, ...options } = this.#options;
    const { host, clock, recorder } = this;
    return new FakeRuntime({ host, clock, recorder, script: { ...plainScript, ...script }, ...options });
  }
}

/** A relister over a world's runtime, and all that it told. */
export class Looking {
  readonly cache = new PodCache();
  readonly relister: Relister;
  readonly told: { readonly atMs: number; readonly event: PodLifecycleEvent }[] = [];
  readonly #stop = new AbortController();
  readonly #done: Promise<void>;

  /** `reading`: whether events are taken as they come. */
  constructor(
    world: Pick<RuntimeWorld, 'clock' | 'logger' | 'runtime'>,
    options: { readonly mode?: 'dirty' | 'generic'; readonly phaseMs?: number; readonly reading?: boolean } = {},
  ) {
    const { clock, logger, runtime } = world;
    const { mode = 'dirty', phaseMs = 0, reading = true } = options;
    this.relister = new Relister({ runtime, cache: this.cache, clock, logger, mode, phaseMs });
    const { events } = this.relister;
    events.onReady(() => {
      const event = reading ? events.take() : undefined;
      if (event !== undefined) this.told.push({ atMs: clock.monotonicMs(), event });
    });
    this.#done = this.relister.run(this.#stop.signal);
  }

  /** What was told of so far, without the ids of containers. */
  get types(): readonly string[] {
    return this.told.map(({ event }) => event.type);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await settled();
    await this.#done;
  }
}
