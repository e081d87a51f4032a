import { formatGoDuration } from '../../../machinery/api/go-duration.ts';
import type { Container, Pod } from '../../../machinery/api/pod.ts';
import type { TextPattern } from '../parse-pattern.ts';
import type { ContainerScript } from './build-container-script.ts';
import type { ContainerHost } from './container-host.ts';
import type { ContainerStopperOptions } from './container-stopper.ts';
import { formatAggregate } from '../format-aggregate.ts';
import { CrashLoopBackoff } from './crash-loop-backoff.ts';
import type { PodActions } from './decide-pod-actions.ts';
import { findLatest, isSidecar, listInits } from './decide-restart.ts';
import { describePod, type EventText, runtimeEvent } from './describe-runtime-event.ts';
import { ImagePuller } from './image-puller.ts';
import { RuntimeFailure, type RuntimePodStatus, type SyncOutcome, targetOf, type Waiting } from './pod-runtime.ts';

interface ContainerStarterOptions extends ContainerStopperOptions {
  /** Images that cannot be pulled. */
  readonly unpullable: readonly TextPattern[];
}

interface Pass {
  readonly outcome: SyncOutcomeBuilder;
  readonly signal: AbortSignal;
}

/** The input of one container start. */
interface Start {
  readonly pod: Pod;
  readonly container: Container;
  readonly script: ContainerScript;
  readonly status: RuntimePodStatus;
  readonly recordEvent: (text: EventText) => void;
}

/** Starts containers one after another: back-off, image, creation, start (kubelet `startContainer`). */
export class ContainerStarter {
  readonly #options: ContainerStarterOptions;
  readonly #images: ImagePuller;
  readonly #backoff = new CrashLoopBackoff();

  constructor(options: ContainerStarterOptions) {
    this.#options = options;
    this.#images = new ImagePuller(options);
  }

  /** Removes the back-off state of a pod. */
  forget(uid: string): void {
    this.#backoff.forget(`${uid}/`);
    this.#images.forget(uid);
  }

  /**
   * Starts the containers of the actions. An init container that fails to start blocks all that follow, a sidecar does
   * not.
   */
  async start(pod: Pod, status: RuntimePodStatus, actions: PodActions, pass: Pass): Promise<void> {
    for (const container of actions.initToStart) {
      const started = await this.#start(this.#startOf(pod, container, status), pass);
      if (!started && !isSidecar(container)) return;
    }
    for (const container of actions.toStart) await this.#start(this.#startOf(pod, container, status), pass);
  }

  #startOf(pod: Pod, container: Container, status: RuntimePodStatus): Start {
    const recordEvent = (text: EventText): void => {
      this.#options.recordEvent(pod, container, text);
    };
    return { pod, container, status, recordEvent, script: this.#options.scriptOf(pod, container) };
  }

  async #start(start: Start, pass: Pass): Promise<boolean> {
    if (this.#isInBackoff(start, pass.outcome)) return false;
    const { pod, container, script, recordEvent } = start;
    const podUid = pod.metadata.uid ?? '';
    const missing = await this.#images.ensure({ podUid, container, script, recordEvent }, pass.signal);
    if (missing === undefined) return await this.#create(start, pass);
    recordEvent(runtimeEvent.startFailed(missing.reason));
    pass.outcome.addStartFailure({ container: container.name, reason: missing.reason, message: missing.message });
    return false;
  }

  /** Crash-loop back-off: a container that exited recently waits, counted from its exit; its first restart does not. */
  #isInBackoff({ pod, container, status, recordEvent }: Start, outcome: SyncOutcomeBuilder): boolean {
    const { clock } = this.#options;
    const key = `${pod.metadata.uid}/${container.name}`;
    const failedAtMs = this.#failedAtMs(status, container);
    if (failedAtMs === undefined) return false;
    const nowMs = clock.monotonicMs();
    const waitMs = this.#backoff.waitMs(key, failedAtMs);
    if (nowMs - failedAtMs >= waitMs) {
      this.#backoff.next(key, failedAtMs, nowMs);
      return false;
    }
    const names = targetOf(pod);
    recordEvent(runtimeEvent.crashBackOff(container.name, names));
    const back = `back-off ${formatGoDuration(waitMs)} restarting failed`;
    const message = `${back} container=${container.name} pod=${describePod(names)}`;
    outcome.addBackoff({ container: container.name, reason: 'CrashLoopBackOff', message }, failedAtMs + waitMs);
    return true;
  }

  /** Monotonic time of the newest exit in the status. */
  #failedAtMs(status: RuntimePodStatus, { name }: Container): number | undefined {
    const exited = status.containers.find(
      (each) => each.kind !== 'sandbox' && each.name === name && each.state === 'exited',
    );
    return exited === undefined ? undefined : this.#options.host.exitedAtMs(status.uid, exited.id);
  }

  async #create(start: Start, { outcome, signal }: Pass): Promise<boolean> {
    const { host, clock } = this.#options;
    const { pod, container, script, recordEvent } = start;
    if (script.createFailure !== undefined) {
      recordEvent(runtimeEvent.startFailed(script.createFailure));
      outcome.addStartFailure({
        container: container.name,
        reason: 'CreateContainerError',
        message: script.createFailure,
      });
      return false;
    }
    const plan = host.addContainer(pod.metadata.uid ?? '', buildNew(pod, container, script), countOf(start));
    if (plan === undefined) throw new RuntimeFailure(`sandbox of pod ${pod.metadata.name} not found`);
    recordEvent(runtimeEvent.created());
    await clock.sleep(script.startMs, signal);
    if (signal.aborted) throw new RuntimeFailure('context canceled');
    recordEvent(runtimeEvent.started());
    return true;
  }
}

function buildNew(
  pod: Pod,
  container: Container,
  script: ContainerScript,
): Parameters<ContainerHost['addContainer']>[1] {
  const isInit = listInits(pod).includes(container);
  const { startMs, exitAfterMs, exitCode } = script;
  const kind = isInit ? 'init' : 'container';
  return { name: container.name, kind, image: container.image ?? '', startMs, exitAfterMs, exitCode };
}

/** One more than the last; without a last one the count of the machine's logs is used. */
function countOf({ status, container }: Start): number | undefined {
  const latest = findLatest(status, container.name);
  return latest === undefined ? undefined : latest.restartCount + 1;
}

/** Collects the result of one sync of a pod. */
export class SyncOutcomeBuilder {
  readonly #waiting: Waiting[] = [];
  readonly #failures: string[] = [];
  #backoffEndsAtMs: number | undefined;

  get outcome(): SyncOutcome {
    const failure = this.#failures.length === 0 ? undefined : formatAggregate(this.#failures);
    return { waiting: this.#waiting, backoffEndsAtMs: this.#backoffEndsAtMs, failure };
  }

  /** An operation on the pod as a whole failed. */
  addFailure(message: string): void {
    this.#failures.push(message);
  }

  /** A container failed to start; the next sync tries again. */
  addStartFailure(waiting: Waiting): void {
    this.#waiting.push(waiting);
    const { container, reason, message } = waiting;
    this.#failures.push(`failed to "StartContainer" for "${container}" with ${reason}: ${JSON.stringify(message)}`);
  }

  /** A container waits for its back-off, which is not a failure. */
  addBackoff(waiting: Waiting, untilMs: number): void {
    this.#waiting.push(waiting);
    this.#backoffEndsAtMs = Math.min(this.#backoffEndsAtMs ?? untilMs, untilMs);
  }
}
