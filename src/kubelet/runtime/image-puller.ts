import type { Container } from '../../api/pod.ts';
import type { Clock } from '../../ports/clock.ts';
import { BackoffLadder } from './backoff-ladder.ts';
import type { ContainerHost } from './container-host.ts';
import type { ContainerScript } from './derive-container-script.ts';
import { describeNeverPulled, type EventText, type EventWording, runtimeEvent } from './describe-runtime-event.ts';
import { RuntimeFailure } from './pod-runtime.ts';

export interface ImagePullerOptions {
  readonly host: ContainerHost;
  readonly clock: Clock;
  readonly wording: EventWording;
}

/** Why a container has no image. */
export interface MissingImage {
  readonly reason: 'ErrImagePull' | 'ImagePullBackOff' | 'ErrImageNeverPull';
  readonly message: string;
  /** Monotonic time of the next try, where it is held back. */
  readonly backoffEndsAtMs: number | undefined;
}

export interface PullRequest {
  readonly podUid: string;
  readonly container: Container;
  readonly script: ContainerScript;
  /** Told to people as it happens. */
  readonly tell: (text: EventText) => void;
}

/** Brings images to the machine, and waits longer and longer before it tries again (kubelet `images.imageManager`). */
export class ImagePuller {
  readonly #options: ImagePullerOptions;
  readonly #ladder = new BackoffLadder();
  /** Why the last pull failed, for those who wait for the next. */
  readonly #failures = new Map<string, string>();

  constructor(options: ImagePullerOptions) {
    this.#options = options;
  }

  /** Undefined: the image is there. Rejects with a {@link RuntimeFailure} when the signal aborts. */
  async ensure(request: PullRequest, signal: AbortSignal): Promise<MissingImage | undefined> {
    const image = request.container.image ?? '';
    const policy = derivePullPolicy(request.container);
    const present = this.#options.host.images.has(image);
    if (policy !== 'Always' && present) {
      request.tell(runtimeEvent.present(image, this.#options.wording));
      return undefined;
    }
    if (policy !== 'Never') return this.#pull(request, image, signal);
    request.tell(runtimeEvent.neverPulled(image));
    return { reason: 'ErrImageNeverPull', message: describeNeverPulled(image), backoffEndsAtMs: undefined };
  }

  /** Drops what is remembered of a pod. */
  forget(podUid: string): void {
    this.#ladder.forget(`${podUid}/`);
    for (const key of this.#failures.keys()) if (key.startsWith(`${podUid}/`)) this.#failures.delete(key);
  }

  async #pull(request: PullRequest, image: string, signal: AbortSignal): Promise<MissingImage | undefined> {
    const { clock, host, wording } = this.#options;
    const key = `${request.podUid}/${image}`;
    const held = this.#backOff(request, image, key);
    if (held !== undefined) return held;
    this.#failures.delete(key);
    request.tell(runtimeEvent.pulling(image));
    const startedAtMs = clock.monotonicMs();
    await clock.sleep(request.script.pullMs, signal);
    if (signal.aborted) throw new RuntimeFailure('context canceled');
    if (request.script.pullFailure !== undefined) return this.#fail(request, image, key);
    host.addImage(image, request.script.imageBytes);
    const tookMs = clock.monotonicMs() - startedAtMs;
    request.tell(runtimeEvent.pulled(image, tookMs, request.script.imageBytes, wording));
    return undefined;
  }

  #backOff(request: PullRequest, image: string, key: string): MissingImage | undefined {
    const backoffEndsAtMs = this.#ladder.endsAtMs(key, this.#options.clock.monotonicMs());
    if (backoffEndsAtMs === undefined) return undefined;
    const told = runtimeEvent.pullBackOff(image);
    request.tell(told);
    const failure = this.#failures.get(key);
    const more = failure === undefined || this.#options.wording === 'classic' ? '' : `: ErrImagePull: ${failure}`;
    return { reason: 'ImagePullBackOff', message: `${told.message}${more}`, backoffEndsAtMs };
  }

  #fail(request: PullRequest, image: string, key: string): MissingImage {
    const message = request.script.pullFailure ?? '';
    const nowMs = this.#options.clock.monotonicMs();
    request.tell(runtimeEvent.pullFailed(image, message));
    this.#ladder.climb(key, nowMs, nowMs);
    this.#failures.set(key, message);
    return { reason: 'ErrImagePull', message, backoffEndsAtMs: undefined };
  }
}

/** Where a container does not say, its tag does, as the API server would have it. */
function derivePullPolicy({ imagePullPolicy, image = '' }: Container): string {
  if (imagePullPolicy !== undefined) return imagePullPolicy;
  const name = image.slice(image.lastIndexOf('/') + 1);
  if (name.includes('@')) return 'IfNotPresent';
  return !name.includes(':') || name.endsWith(':latest') ? 'Always' : 'IfNotPresent';
}
