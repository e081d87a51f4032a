import type { Container, Pod } from '../../../machinery/api/pod.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';
import type { EventRecorder } from '../../../machinery/ports/event-recorder.ts';
import type { ContainerHost } from './container-host.ts';
import { ContainerStarter, SyncOutcomeBuilder } from './container-starter.ts';
import { ContainerStopper } from './container-stopper.ts';
import { decidePodActions, type PodActions } from './decide-pod-actions.ts';
import { isSidecar, listInits, listSandboxes } from './decide-restart.ts';
import { type ContainerScript, buildContainerScript, type ScriptRule } from './build-container-script.ts';
import { describePod, describeRuntimeEvent, type EventText, runtimeEvent } from './describe-runtime-event.ts';
import { Prober } from './prober.ts';
import type { TextPattern } from '../parse-pattern.ts';
import {
  targetOf,
  type KillTarget,
  type PodRuntime,
  type ProbeResults,
  RuntimeFailure,
  type RuntimeConditions,
  type RuntimePod,
  type RuntimePodStatus,
  type SyncOutcome,
} from './pod-runtime.ts';

export interface FakeRuntimeOptions {
  /** The machine part, which outlives this object: a restarted kubelet finds its containers there. */
  readonly host: ContainerHost;
  readonly clock: Clock;
  readonly recorder: EventRecorder;
  /** Default behaviour of containers. */
  readonly script: ContainerScript;
  /** The containers of a Job's pods exit after this time by default. */
  readonly jobPodMs?: number | undefined;
  /** Images that cannot be pulled. */
  readonly unpullable?: readonly TextPattern[];
  /** Called when a pod's new sandbox is ready, before its images are pulled (upstream `OnPodSandboxReady`). */
  readonly onSandboxReady?: (pod: Pod) => void;
}

/** A container that starts and stops at once, and runs until it is stopped. */
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
  startupFails: undefined,
  readinessFails: undefined,
  livenessFails: undefined,
};

/** Represents the pod as a whole. */
const noContainer: Container = { name: '' };

/** By default init containers exit at once with success. */
const initScript: Partial<ContainerScript> = { exitAfterMs: 0, exitCode: 0 };

/**
 * Default grace period if neither the deletion nor the pod's spec has one (core/v1
 * `DefaultTerminationGracePeriodSeconds`).
 */
const graceSecondsDefault = 30;

interface RuntimeParts {
  readonly starter: ContainerStarter;
  readonly stopper: ContainerStopper;
  readonly prober: Prober;
}

/**
 * The fake container runtime of a kubelet: everything but the processes behaves like a real one. Its own state, mainly
 * back-offs, is lost when its kubelet restarts; containers stay.
 */
export class FakeRuntime implements PodRuntime {
  readonly #options: FakeRuntimeOptions;
  // Most nodes of a large fleet run nothing most of the time: the parts are created on first use.
  #made: RuntimeParts | undefined;

  constructor(options: FakeRuntimeOptions) {
    this.#options = options;
  }

  /**
   * Adds a rule for the matching containers on the machine; running ones exit as it specifies, counted from their start.
   * Returns the function that removes the rule.
   */
  script(rule: ScriptRule): () => void {
    const { host } = this.#options;
    host.rules = [...host.rules, rule];
    for (const pod of host.pods()) this.#parts.stopper.applyExits(pod);
    return () => {
      host.rules = host.rules.filter((each) => each !== rule);
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

  probe(pod: Pod): ProbeResults {
    return this.#parts.prober.results(pod);
  }

  async syncPod(pod: Pod, status: RuntimePodStatus, signal: AbortSignal): Promise<SyncOutcome> {
    await this.#options.host.faults.pass('other', signal);
    const outcome = new SyncOutcomeBuilder();
    const probes = this.#parts.prober.results(pod);
    for (const { container, probe } of probes.failing) this.#record(pod, container, runtimeEvent.unhealthy(probe));
    const actions = decidePodActions(pod, status, probes);
    try {
      await this.#clear(pod, status, actions, signal);
      if (actions.newSandboxAttempt !== undefined) this.#addSandbox(pod, actions.newSandboxAttempt);
    } catch (error) {
      if (signal.aborted || !(error instanceof RuntimeFailure)) throw error;
      outcome.addFailure(error.message);
      return outcome.outcome;
    }
    await this.#parts.starter.start(pod, status, actions, { outcome, signal });
    return outcome.outcome;
  }

  async killPod(target: KillTarget, graceMs: number, signal: AbortSignal): Promise<void> {
    await this.#options.host.faults.pass('other', signal);
    await this.#parts.stopper.stopPod(target, graceMs, signal);
  }

  pruneContainers(uid: string, keepPerName: number): void {
    const { host } = this.#options;
    const seen = new Map<string, number>();
    const ids = new Set<string>();
    for (const { id, name, kind, state } of host.inspect(uid).containers) {
      // Running containers are not counted: the newest exited container is kept for lastState.
      if (kind === 'sandbox' || state !== 'exited') continue;
      const newer = seen.get(name) ?? 0;
      if (newer >= keepPerName) ids.add(id);
      seen.set(name, newer + 1);
    }
    host.remove(uid, ids);
    if (keepPerName === 0) this.#made?.starter.forget(uid);
  }

  onChange(listener: () => void): () => void {
    return this.#options.host.onChange(listener);
  }

  nextChangeAtMs(sinceMs: number): number | undefined {
    return this.#options.host.nextChangeAtMs(sinceMs);
  }

  /** Stops and removes containers before the start of others. */
  async #clear(pod: Pod, status: RuntimePodStatus, actions: PodActions, signal: AbortSignal): Promise<void> {
    const { stopper } = this.#parts;
    const again = actions.newSandboxAttempt !== undefined;
    if (again && listSandboxes(status).length > 0) this.#record(pod, undefined, runtimeEvent.sandboxChanged());
    if (actions.killPod) await stopper.stopPod(targetOf(pod), graceMsOf(pod), signal);
    for (const kill of actions.toKill) await stopper.stopContainer(pod, kill, kill.graceMs ?? graceMsOf(pod), signal);
    // Of the init containers that have exited, none of an earlier sandbox is kept, and of each name the newest.
    const exited = status.containers.filter(({ kind, state }) => kind === 'init' && state === 'exited');
    const stale = again ? exited : exited.filter(({ name }, at) => exited.findIndex((each) => each.name === name) < at);
    if (stale.length > 0) this.#options.host.remove(targetOf(pod).uid, new Set(stale.map(({ id }) => id)));
  }

  #addSandbox(pod: Pod, attempt: number): void {
    const { sandboxFailure } = this.#scriptOf(pod, noContainer);
    if (sandboxFailure !== undefined) {
      this.#record(pod, undefined, runtimeEvent.sandboxFailed(sandboxFailure));
      throw new RuntimeFailure(describeSandboxFailure(targetOf(pod), sandboxFailure));
    }
    this.#options.host.addSandbox(pod, attempt);
    this.#options.onSandboxReady?.(pod);
  }

  get #parts(): RuntimeParts {
    return (this.#made ??= this.#makeParts());
  }

  #makeParts(): RuntimeParts {
    const options = {
      unpullable: [],
      ...this.#options,
      scriptOf: (pod: Pod, container: Container) => this.#scriptOf(pod, container),
      recordEvent: (pod: Pod, container: Container | undefined, text: EventText) => this.#record(pod, container, text),
    };
    return {
      starter: new ContainerStarter(options),
      stopper: new ContainerStopper(options),
      prober: new Prober(options),
    };
  }

  #scriptOf(pod: Pod, container: Container): ContainerScript {
    const { script, jobPodMs } = this.#options;
    const isInit = listInits(pod).includes(container);
    const base = isInit
      ? { ...script, ...(isSidecar(container) ? {} : initScript) }
      : { ...script, ...(jobPodMs !== undefined && isOfJob(pod) ? { exitAfterMs: jobPodMs } : {}) };
    return buildContainerScript(base, this.#options.host.rules, pod, container);
  }

  #record(pod: Pod, container: Container | undefined, text: EventText): void {
    const isInit = container !== undefined && listInits(pod).includes(container);
    const part = container && { name: container.name, kind: isInit ? ('init' as const) : ('container' as const) };
    this.#options.recorder.record(describeRuntimeEvent(targetOf(pod), part, text));
  }
}

function describeSandboxFailure(target: KillTarget, cause: string): string {
  const pod = describePod(target);
  const message = JSON.stringify(`Failed to create sandbox for pod ${JSON.stringify(pod)}: ${cause}`);
  return `failed to "CreatePodSandbox" for "${pod}" with CreatePodSandboxError: ${message}`;
}

function isOfJob({ metadata }: Pod): boolean {
  return (metadata.ownerReferences ?? []).some(({ kind, controller }) => kind === 'Job' && controller === true);
}

function graceMsOf({ metadata, spec }: Pod): number {
  const seconds = metadata.deletionGracePeriodSeconds ?? spec?.terminationGracePeriodSeconds;
  return (seconds ?? graceSecondsDefault) * 1_000;
}
