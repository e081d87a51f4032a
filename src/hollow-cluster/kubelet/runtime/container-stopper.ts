import type { Container, Pod } from '../../../machinery/api/pod.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';
import { Alarm } from '../../../machinery/supervision/alarm.ts';
import type { ContainerScript } from './build-container-script.ts';
import { formatAggregate } from '../format-aggregate.ts';
import { buildState, type ContainerPlan } from './build-container-state.ts';
import type { ContainerHost } from './container-host.ts';
import type { ContainerKill } from './decide-pod-actions.ts';
import { isSidecar, listInits, listRegular } from './decide-restart.ts';
import { type EventText, runtimeEvent } from './describe-runtime-event.ts';
import { type KillTarget, RuntimeFailure } from './pod-runtime.ts';

export interface ContainerStopperOptions {
  readonly host: ContainerHost;
  readonly clock: Clock;
  readonly scriptOf: (pod: Pod, container: Container) => ContainerScript;
  readonly recordEvent: (pod: Pod, container: Container | undefined, text: EventText) => void;
}

/** Stops containers and waits until they have exited (kubelet `killContainer`). */
export class ContainerStopper {
  readonly #options: ContainerStopperOptions;

  constructor(options: ContainerStopperOptions) {
    this.#options = options;
  }

  /**
   * Stops a pod: regular containers first, then sidecars in reverse order, and its sandboxes last. Rejects with a
   * {@link RuntimeFailure} when the runtime fails to stop it, or when the signal aborts.
   */
  async stopPod(target: KillTarget, graceMs: number, signal: AbortSignal): Promise<void> {
    const { host } = this.#options;
    const pod = target.pod ?? host.podOf(target.uid) ?? bare(target);
    const plans = host.live(target.uid);
    for (const plan of plans) this.#recordKilling(pod, plan);
    this.#stopRegular(pod, plans, graceMs);
    this.#stopSidecars(pod, graceMs);
    const stuck = plans.filter((plan) => this.#scriptOf(pod, plan).stuckKill);
    const violating = plans.filter((plan) => this.#scriptOf(pod, plan).violatesStop);
    const ids = new Set(plans.filter((plan) => !stuck.includes(plan) && !violating.includes(plan)).map(({ id }) => id));
    await this.#exited(target.uid, ids, signal);
    if (stuck.length > 0) throw new RuntimeFailure(describeStuck(stuck));
    if (violating.length === 0) host.stopSandboxes(target.uid);
  }

  /** Stops one container of a pod that keeps running. */
  async stopContainer(pod: Pod, kill: ContainerKill, graceMs: number, signal: AbortSignal): Promise<void> {
    const uid = pod.metadata.uid ?? '';
    const plan = this.#options.host.live(uid).find(({ id }) => id === kill.id);
    if (plan === undefined) return;
    this.#options.recordEvent(pod, findContainer(pod, plan.name), runtimeEvent.killing(kill.message));
    this.#stop(pod, plan, graceMs, undefined);
    const script = this.#scriptOf(pod, plan);
    if (script.stuckKill) throw new RuntimeFailure(describeStuck([plan]));
    if (!script.violatesStop) await this.#exited(uid, new Set([plan.id]), signal);
  }

  /** Applies scripted exits to running containers, counted from their start. A pending stop stays in effect. */
  applyExits(pod: Pod): void {
    const { host, clock } = this.#options;
    const uid = pod.metadata.uid ?? '';
    const nowMs = clock.monotonicMs();
    for (const plan of host.live(uid)) {
      const { exitAfterMs, exitCode } = this.#scriptOf(pod, plan);
      if (exitAfterMs === undefined || plan.exit !== undefined || plan.runsAtMs === undefined) continue;
      const atMs = Math.max(nowMs, plan.runsAtMs + exitAfterMs);
      host.replan(uid, [{ ...plan, exit: { atMs, exitCode } }]);
    }
  }

  #recordKilling(pod: Pod, plan: ContainerPlan): void {
    if (buildState(plan, this.#options.clock.monotonicMs()) === 'created') return;
    this.#options.recordEvent(
      pod,
      findContainer(pod, plan.name),
      runtimeEvent.killing(`Stopping container ${plan.name}`),
    );
  }

  #stopRegular(pod: Pod, plans: readonly ContainerPlan[], graceMs: number): void {
    const sidecars = new Set(
      listInits(pod)
        .filter(isSidecar)
        .map(({ name }) => name),
    );
    for (const plan of plans) if (!sidecars.has(plan.name)) this.#stop(pod, plan, graceMs, undefined);
  }

  #stopSidecars(pod: Pod, graceMs: number): void {
    const uid = pod.metadata.uid ?? '';
    const sidecars = listInits(pod).filter(isSidecar).reverse();
    const regular = new Set(listRegular(pod).map(({ name }) => name));
    let before = this.#options.host.live(uid).filter(({ name }) => regular.has(name));
    for (const { name } of sidecars) {
      const plan = this.#options.host.live(uid).find((each) => each.name === name);
      if (plan === undefined) continue;
      const afterMs = before.length === 0 ? undefined : Math.max(...before.map(({ exit }) => exit?.atMs ?? Infinity));
      const stopping = this.#stop(pod, plan, graceMs, afterMs);
      before = [...before, stopping];
    }
  }

  #stop(pod: Pod, plan: ContainerPlan, graceMs: number, afterMs: number | undefined): ContainerPlan {
    const { host, clock } = this.#options;
    const script = this.#scriptOf(pod, plan);
    if (script.stuckKill || script.violatesStop) return plan;
    const stopping = planStop(plan, script, { nowMs: clock.monotonicMs(), graceMs, afterMs });
    if (stopping !== plan) host.replan(pod.metadata.uid ?? '', [stopping]);
    return stopping;
  }

  #scriptOf(pod: Pod, { name }: ContainerPlan): ContainerScript {
    return this.#options.scriptOf(pod, findContainer(pod, name));
  }

  /** Waits until none of these is running; a change of their plans is taken into account. */
  async #exited(uid: string, ids: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const { host, clock } = this.#options;
    const alarm = new Alarm(clock);
    const unsubscribe = host.onChange(() => {
      alarm.wakeUp();
    });
    try {
      for (;;) {
        // The exit of a container that the runtime has lost is never reported.
        const left = host.live(uid).filter(({ id, lost }) => ids.has(id) && !lost);
        if (left.length === 0) return;
        if (signal.aborted) throw new RuntimeFailure('context canceled');
        const lastMs = Math.max(...left.map(({ exit }) => exit?.atMs ?? Infinity));
        await alarm.wait(lastMs - clock.monotonicMs(), signal);
      }
    } finally {
      unsubscribe();
    }
  }
}

/** By name; an unknown container has only its name. */
function findContainer(pod: Pod, name: string): Container {
  const all = [...listRegular(pod), ...listInits(pod)];
  return all.find((container) => container.name === name) ?? { name };
}

function bare({ uid, namespace, name }: KillTarget): Pod {
  return { metadata: { uid, namespace, name } };
}

function describeStuck(plans: readonly ContainerPlan[]): string {
  const failures = plans.map(
    ({ name }) =>
      `failed to "KillContainer" for "${name}" with KillContainerError: "rpc error: code = DeadlineExceeded desc = context deadline exceeded"`,
  );
  return formatAggregate(failures);
}

/** Minimum time of a container to stop (upstream `minimumGracePeriodInSeconds`). */
const stopGraceMsMin = 2_000;

/** Exit code of a process that ignores its stop signal: 128 + SIGKILL. */
const killedExitCode = 137;

type StopScript = Pick<ContainerScript, 'preStopMs' | 'stopMs' | 'stopExitCode'>;

interface StopOrder {
  readonly nowMs: number;
  /** The pod's grace period, from now on. */
  readonly graceMs: number;
  /** Time at which preceding containers of the pod have exited; undefined: there are none. */
  readonly afterMs: number | undefined;
}

/**
 * A container's plan after a stop request: its preStop hook and the wait for preceding containers use up the grace
 * period, and at least two seconds remain. A repeated request can only make it exit earlier.
 */
function planStop(plan: ContainerPlan, script: StopScript, order: StopOrder): ContainerPlan {
  const { nowMs } = order;
  const state = buildState(plan, nowMs);
  if (state === 'exited') return plan;
  // A container that has not run has no process to signal: it exits at once.
  if (state === 'created') return { ...plan, exit: { atMs: nowMs, exitCode: killedExitCode } };
  const exit = planExit(script, order);
  const earlier = plan.exit !== undefined && plan.exit.atMs <= exit.atMs;
  return { ...plan, lost: false, exit: earlier ? plan.exit : exit };
}

function planExit(
  script: StopScript,
  { nowMs, graceMs, afterMs = nowMs }: StopOrder,
): NonNullable<ContainerPlan['exit']> {
  const { preStopMs, stopMs, stopExitCode } = script;
  const hookMs = Math.min(preStopMs, graceMs);
  const waitedMs = Math.min(Math.max(hookMs, afterMs - nowMs), Math.max(graceMs, hookMs));
  const leftMs = Math.max(graceMs - waitedMs, stopGraceMsMin);
  const killed = stopMs === 'never' || stopMs > leftMs;
  const atMs = nowMs + waitedMs + (killed ? leftMs : stopMs);
  return { atMs, exitCode: killed ? killedExitCode : stopExitCode };
}
