import type { Container, Pod } from '../../api/pod.ts';
import type { Clock } from '../../ports/clock.ts';
import { formatGoDuration } from '../../api/go-duration.ts';
import { BackoffLadder } from './backoff-ladder.ts';
import type { ContainerHost } from './container-host.ts';
import type { PodActions } from './decide-pod-actions.ts';
import { findLatest, isSidecar, listInits } from './decide-restart.ts';
import type { ContainerScript } from './derive-container-script.ts';
import { describePod, type EventText, type EventWording, runtimeEvent } from './describe-runtime-event.ts';
import { ImagePuller, type MissingImage } from './image-puller.ts';
import type { OutcomeKeeper } from './outcome-keeper.ts';
import { RuntimeFailure, type RuntimePodStatus } from './pod-runtime.ts';

export interface ContainerStarterOptions {
  readonly host: ContainerHost;
  readonly clock: Clock;
  readonly wording: EventWording;
  readonly scriptOf: (pod: Pod, container: Container) => ContainerScript;
  readonly tell: (pod: Pod, container: Container | undefined, text: EventText) => void;
}

interface Pass {
  readonly outcome: OutcomeKeeper;
  readonly signal: AbortSignal;
}

/** One container to start, and all that belongs to it. */
interface Start {
  readonly pod: Pod;
  readonly container: Container;
  readonly script: ContainerScript;
  readonly status: RuntimePodStatus;
  readonly tell: (text: EventText) => void;
}

/** Starts containers one after another: back-off, image, creation, start (kubelet `startContainer`). */
export class ContainerStarter {
  readonly #options: ContainerStarterOptions;
  readonly #images: ImagePuller;
  readonly #ladder = new BackoffLadder();

  constructor(options: ContainerStarterOptions) {
    this.#options = options;
    this.#images = new ImagePuller(options);
  }

  /** Drops what is remembered of a pod's failures. */
  forget(uid: string): void {
    this.#ladder.forget(`${uid}/`);
    this.#images.forget(uid);
  }

  /** Those that a pass found due. An init container that cannot be started holds up all that follows, a sidecar does not. */
  async start(pod: Pod, status: RuntimePodStatus, actions: PodActions, pass: Pass): Promise<void> {
    for (const container of actions.initToStart) {
      const started = await this.#start(this.#startOf(pod, container, status), pass);
      if (!started && !isSidecar(container)) return;
    }
    for (const container of actions.toStart) await this.#start(this.#startOf(pod, container, status), pass);
  }

  #startOf(pod: Pod, container: Container, status: RuntimePodStatus): Start {
    const tell = (text: EventText): void => {
      this.#options.tell(pod, container, text);
    };
    return { pod, container, status, tell, script: this.#options.scriptOf(pod, container) };
  }

  async #start(start: Start, pass: Pass): Promise<boolean> {
    if (this.#holdsBack(start, pass.outcome)) return false;
    const { pod, container, script, tell } = start;
    const podUid = pod.metadata.uid ?? '';
    const missing = await this.#images.ensure({ podUid, container, script, tell }, pass.signal);
    if (missing === undefined) return await this.#create(start, pass);
    tell(runtimeEvent.startFailed(missing.reason));
    this.#tellMissing(container, missing, pass.outcome);
    return false;
  }

  #tellMissing(container: Container, missing: MissingImage, outcome: OutcomeKeeper): void {
    const { reason, message, backoffEndsAtMs } = missing;
    const waiting = { container: container.name, reason, message };
    if (backoffEndsAtMs === undefined) outcome.failStart(waiting);
    else outcome.holdBack(waiting, backoffEndsAtMs);
  }

  /** A container that exited lately waits, counted from its exit; its first restart does not. */
  #holdsBack({ pod, container, status, tell }: Start, outcome: OutcomeKeeper): boolean {
    const { clock } = this.#options;
    const key = `${pod.metadata.uid}/${container.name}`;
    const failedAtMs = this.#failedAtMs(status, container);
    if (failedAtMs === undefined) return false;
    const nowMs = clock.monotonicMs();
    const waitMs = this.#ladder.waitMs(key, failedAtMs);
    if (nowMs - failedAtMs >= waitMs) {
      this.#ladder.climb(key, failedAtMs, nowMs);
      return false;
    }
    const { uid = '', namespace = '', name = '' } = pod.metadata;
    const names = { uid, namespace, name };
    tell(runtimeEvent.crashBackOff(container.name, names));
    const back = `back-off ${formatGoDuration(waitMs)} restarting failed`;
    const message = `${back} container=${container.name} pod=${describePod(names)}`;
    outcome.holdBack({ container: container.name, reason: 'CrashLoopBackOff', message }, failedAtMs + waitMs);
    return true;
  }

  /** Monotonic time of the newest exit that the status tells of. */
  #failedAtMs(status: RuntimePodStatus, { name }: Container): number | undefined {
    const exited = status.containers.find(
      (each) => each.kind !== 'sandbox' && each.name === name && each.state === 'exited',
    );
    return exited === undefined ? undefined : this.#options.host.exitedAtMs(status.uid, exited.id);
  }

  async #create(start: Start, { outcome, signal }: Pass): Promise<boolean> {
    const { host, clock, wording } = this.#options;
    const { pod, container, script, tell } = start;
    if (script.createFailure !== undefined) {
      tell(runtimeEvent.startFailed(script.createFailure));
      outcome.failStart({ container: container.name, reason: 'CreateContainerError', message: script.createFailure });
      return false;
    }
    const plan = host.addContainer(pod.metadata.uid ?? '', deriveNew(pod, container, script), deriveCount(start));
    if (plan === undefined) throw new RuntimeFailure(`sandbox of pod ${pod.metadata.name} not found`);
    tell(runtimeEvent.created(container.name, wording));
    await clock.sleep(script.startMs, signal);
    if (signal.aborted) throw new RuntimeFailure('context canceled');
    tell(runtimeEvent.started(container.name, wording));
    return true;
  }
}

function deriveNew(
  pod: Pod,
  container: Container,
  script: ContainerScript,
): Parameters<ContainerHost['addContainer']>[1] {
  const isInit = listInits(pod).includes(container);
  const { startMs, exitAfterMs, exitCode } = script;
  const kind = isInit ? 'init' : 'container';
  return { name: container.name, kind, image: container.image ?? '', startMs, exitAfterMs, exitCode };
}

/** One more than the last; without a last one the machine's logs tell. */
function deriveCount({ status, container }: Start): number | undefined {
  const latest = findLatest(status, container.name);
  return latest === undefined ? undefined : latest.restartCount + 1;
}
