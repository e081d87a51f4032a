import type { Container, Pod } from '../../api/pod.ts';
import type { Clock } from '../../ports/clock.ts';
import type { EventRecorder } from '../../ports/event-recorder.ts';
import type { ContainerHost } from './container-host.ts';
import { ContainerStarter } from './container-starter.ts';
import { ContainerStopper } from './container-stopper.ts';
import { decidePodActions, type PodActions } from './decide-pod-actions.ts';
import { listInits, listSandboxes } from './decide-restart.ts';
import { type ContainerScript, deriveContainerScript, type ScriptRule } from './derive-container-script.ts';
import {
  describePod,
  describeRuntimeEvent,
  type EventText,
  type EventWording,
  runtimeEvent,
} from './describe-runtime-event.ts';
import { OutcomeKeeper } from './outcome-keeper.ts';
import {
  type KillTarget,
  type PodRuntime,
  RuntimeFailure,
  type RuntimeConditions,
  type RuntimePod,
  type RuntimePodStatus,
  type SyncOutcome,
} from './pod-runtime.ts';

export interface FakeRuntimeOptions {
  /** What it drives. It outlives this object: a kubelet that restarts finds its containers there. */
  readonly host: ContainerHost;
  readonly clock: Clock;
  readonly recorder: EventRecorder;
  /** How a container behaves of which nothing else is said. */
  readonly script: ContainerScript;
  readonly wording?: EventWording;
  /** Called when a pod's new sandbox is up, before its images are pulled (upstream `OnPodSandboxReady`). */
  readonly onSandboxReady?: (pod: Pod) => void;
}

/** A container that starts and stops at once, and runs until it is told to stop. */
export const plainScript: ContainerScript = {
  sandboxFailure: undefined,
  pullMs: 0,
  pullFailure: undefined,
  imageBytes: 1_000_000,
  createFailure: undefined,
  startMs: 0,
  exitAfterMs: undefined,
  exitCode: 0,
  preStopMs: 0,
  stopMs: 0,
  stopExitCode: 0,
  stuckKill: false,
  violatesStop: false,
};

/** Stands for the pod as a whole. */
const noContainer: Container = { name: '' };

/** Init containers of which nothing is said run for no time and succeed. */
const initScript: Partial<ContainerScript> = { exitAfterMs: 0, exitCode: 0 };

/** A grace period where neither the delete nor the pod's spec says one (core/v1 `DefaultTerminationGracePeriodSeconds`). */
const graceSecondsDefault = 30;

/**
 * A kubelet's hands on its containers, real in all that can be seen of it but for the processes. What it remembers by
 * itself, back-off above all, goes when its kubelet restarts; containers stay.
 */
export class FakeRuntime implements PodRuntime {
  readonly #options: FakeRuntimeOptions;
  // Most nodes of a large fleet run nothing for most of the time: these are made when they are needed.
  #madeStarter: ContainerStarter | undefined;
  #madeStopper: ContainerStopper | undefined;
  #rules: readonly ScriptRule[] = [];

  constructor(options: FakeRuntimeOptions) {
    this.#options = options;
  }

  /**
   * Scripts the containers that a rule fits, in addition to what was scripted before; those that run already exit as it
   * says, counted from their start. Returns the way to take it back.
   */
  script(rule: ScriptRule): () => void {
    this.#rules = [...this.#rules, rule];
    this.#applyExits();
    return () => {
      this.#rules = this.#rules.filter((each) => each !== rule);
    };
  }

  async conditions(signal: AbortSignal): Promise<RuntimeConditions> {
    const { faults } = this.#options.host;
    await faults.pass('other', signal);
    const { runtime, network } = faults.state;
    return { runtime, network: network === 'silent' ? undefined : network };
  }

  async listPods(signal: AbortSignal): Promise<readonly RuntimePod[]> {
    await this.#options.host.faults.pass('listing', signal);
    return this.#options.host.list();
  }

  async inspectPod(uid: string, signal: AbortSignal): Promise<RuntimePodStatus> {
    await this.#options.host.faults.pass('inspection', signal, uid);
    return this.#options.host.inspect(uid);
  }

  async syncPod(pod: Pod, status: RuntimePodStatus, signal: AbortSignal): Promise<SyncOutcome> {
    await this.#options.host.faults.pass('other', signal);
    const outcome = new OutcomeKeeper();
    const actions = decidePodActions(pod, status);
    try {
      await this.#clear(pod, status, actions, signal);
      if (actions.newSandboxAttempt !== undefined) this.#addSandbox(pod, actions.newSandboxAttempt);
    } catch (error) {
      if (signal.aborted || !(error instanceof RuntimeFailure)) throw error;
      outcome.fail(error.message);
      return outcome.told;
    }
    await this.#starter.start(pod, status, actions, { outcome, signal });
    return outcome.told;
  }

  async killPod(target: KillTarget, graceMs: number, signal: AbortSignal): Promise<void> {
    await this.#options.host.faults.pass('other', signal);
    await this.#stopper.stopPod(target, graceMs, signal);
  }

  pruneContainers(uid: string, keepPerName: number): void {
    const { host } = this.#options;
    const seen = new Map<string, number>();
    const ids = new Set<string>();
    for (const { id, name, kind, state } of host.inspect(uid).containers) {
      // One that runs is not counted: how the one before it ended is still worth knowing.
      if (kind === 'sandbox' || state !== 'exited') continue;
      const newer = seen.get(name) ?? 0;
      if (newer >= keepPerName) ids.add(id);
      seen.set(name, newer + 1);
    }
    host.remove(uid, ids);
    if (keepPerName === 0) this.#madeStarter?.forget(uid);
  }

  onChange(listener: () => void): () => void {
    return this.#options.host.onChange(listener);
  }

  nextChangeAtMs(sinceMs: number): number | undefined {
    return this.#options.host.nextChangeAtMs(sinceMs);
  }

  /** Stops and removes what is in the way of what is to start. */
  async #clear(pod: Pod, status: RuntimePodStatus, actions: PodActions, signal: AbortSignal): Promise<void> {
    const uid = pod.metadata.uid ?? '';
    const again = actions.newSandboxAttempt !== undefined;
    if (again && listSandboxes(status).length > 0) this.#tell(pod, undefined, runtimeEvent.sandboxChanged());
    if (actions.killPod) await this.#stopper.stopPod(deriveTarget(pod), deriveGraceMs(pod), signal);
    for (const kill of actions.toKill) await this.#stopper.stopContainer(pod, kill, deriveGraceMs(pod), signal);
    // Those of an earlier sandbox would look as if they had been through in this one.
    const exited = status.containers.filter(({ kind, state }) => kind === 'init' && state === 'exited');
    const stale = again ? exited : exited.filter(({ name }, at) => exited.findIndex((each) => each.name === name) < at);
    if (stale.length > 0) this.#options.host.remove(uid, new Set(stale.map(({ id }) => id)));
  }

  #addSandbox(pod: Pod, attempt: number): void {
    const { sandboxFailure } = this.#scriptOf(pod, noContainer);
    if (sandboxFailure !== undefined) {
      this.#tell(pod, undefined, runtimeEvent.sandboxFailed(sandboxFailure));
      throw new RuntimeFailure(describeSandboxFailure(deriveTarget(pod), sandboxFailure));
    }
    this.#options.host.addSandbox(pod, attempt);
    this.#options.onSandboxReady?.(pod);
  }

  get #starter(): ContainerStarter {
    const { wording = 'modern' } = this.#options;
    this.#madeStarter ??= new ContainerStarter({ ...this.#options, ...this.#common(), wording });
    return this.#madeStarter;
  }

  get #stopper(): ContainerStopper {
    this.#madeStopper ??= new ContainerStopper({ ...this.#options, ...this.#common() });
    return this.#madeStopper;
  }

  #common(): Pick<ConstructorParameters<typeof ContainerStopper>[0], 'scriptOf' | 'tell'> {
    return {
      scriptOf: (pod, container) => this.#scriptOf(pod, container),
      tell: (pod, container, text) => {
        this.#tell(pod, container, text);
      },
    };
  }

  #scriptOf(pod: Pod, container: Container): ContainerScript {
    const init = listInits(pod).includes(container) && container.restartPolicy !== 'Always';
    const base = init ? { ...this.#options.script, ...initScript } : this.#options.script;
    return deriveContainerScript(base, this.#rules, pod, container);
  }

  #applyExits(): void {
    for (const pod of this.#options.host.pods()) this.#stopper.applyExits(pod);
  }

  #tell(pod: Pod, container: Container | undefined, text: EventText): void {
    const { uid = '', namespace = '', name = '' } = pod.metadata;
    const isInit = container !== undefined && listInits(pod).includes(container);
    const part = container && { name: container.name, kind: isInit ? ('init' as const) : ('container' as const) };
    this.#options.recorder.record(describeRuntimeEvent({ uid, namespace, name }, part, text));
  }
}

function describeSandboxFailure(target: KillTarget, why: string): string {
  const pod = describePod(target);
  const message = JSON.stringify(`Failed to create sandbox for pod ${JSON.stringify(pod)}: ${why}`);
  return `failed to "CreatePodSandbox" for "${pod}" with CreatePodSandboxError: ${message}`;
}

function deriveTarget(pod: Pod): KillTarget {
  const { uid = '', namespace = '', name = '' } = pod.metadata;
  return { uid, namespace, name, pod };
}

function deriveGraceMs({ metadata, spec }: Pod): number {
  const seconds = metadata.deletionGracePeriodSeconds ?? spec?.terminationGracePeriodSeconds;
  return (seconds ?? graceSecondsDefault) * 1_000;
}
