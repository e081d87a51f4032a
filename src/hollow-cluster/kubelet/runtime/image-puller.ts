import type { Container } from '../../../machinery/api/pod.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';
import type { TextPattern } from '../parse-pattern.ts';
import type { ContainerScript } from './build-container-script.ts';
import type { ContainerHost } from './container-host.ts';
import { CrashLoopBackoff } from './crash-loop-backoff.ts';
import { describeNeverPulled, type EventText, runtimeEvent } from './describe-runtime-event.ts';
import { RuntimeFailure } from './pod-runtime.ts';

interface ImagePullerOptions {
  readonly host: ContainerHost;
  readonly clock: Clock;
  /** Images that cannot be pulled. */
  readonly unpullable: readonly TextPattern[];
}

/** Why a container's image is missing. */
interface MissingImage {
  readonly reason: 'ErrImagePull' | 'ImagePullBackOff' | 'ErrImageNeverPull';
  readonly message: string;
}

interface PullRequest {
  readonly podUid: string;
  readonly container: Container;
  readonly script: ContainerScript;
  /** Records an Event. */
  readonly recordEvent: (text: EventText) => void;
}

/** Pulls images, with exponential back-off after failures (kubelet `images.imageManager`). */
export class ImagePuller {
  readonly #options: ImagePullerOptions;
  readonly #backoff = new CrashLoopBackoff();
  /** Error of the last pull, for back-off messages. */
  readonly #failures = new Map<string, string>();

  constructor(options: ImagePullerOptions) {
    this.#options = options;
  }

  /** Undefined: the image is present. Rejects with a {@link RuntimeFailure} when the signal aborts. */
  async ensure(request: PullRequest, signal: AbortSignal): Promise<MissingImage | undefined> {
    const image = request.container.image ?? '';
    const decision = decideImagePull(request.container, this.#options.host.images.has(image));
    if (decision === 'pull') return this.#pull(request, image, signal);
    if (decision === 'use-present') {
      request.recordEvent(runtimeEvent.present(image));
      return undefined;
    }
    request.recordEvent(runtimeEvent.neverPulled(image));
    return { reason: 'ErrImageNeverPull', message: describeNeverPulled(image) };
  }

  /** Removes the back-off state of a pod. */
  forget(podUid: string): void {
    this.#backoff.forget(`${podUid}/`);
    for (const key of this.#failures.keys()) if (key.startsWith(`${podUid}/`)) this.#failures.delete(key);
  }

  async #pull(request: PullRequest, image: string, signal: AbortSignal): Promise<MissingImage | undefined> {
    const { clock, host, unpullable } = this.#options;
    const key = `${request.podUid}/${image}`;
    const held = this.#backOff(request, image, key);
    if (held !== undefined) return held;
    this.#failures.delete(key);
    request.recordEvent(runtimeEvent.pulling(image));
    const startedAtMs = clock.monotonicMs();
    await clock.sleep(request.script.pullMs, signal);
    if (signal.aborted) throw new RuntimeFailure('context canceled');
    const failure = request.script.pullFailure ?? selectPullFailure(image, unpullable);
    if (failure !== undefined) return this.#fail(request, image, key, failure);
    host.addImage(image, request.script.imageBytes);
    const tookMs = clock.monotonicMs() - startedAtMs;
    request.recordEvent(runtimeEvent.pulled(image, tookMs, request.script.imageBytes));
    return undefined;
  }

  #backOff(request: PullRequest, image: string, key: string): MissingImage | undefined {
    if (this.#backoff.endsAtMs(key, this.#options.clock.monotonicMs()) === undefined) return undefined;
    const event = runtimeEvent.pullBackOff(image);
    request.recordEvent(event);
    const failure = this.#failures.get(key);
    const more = failure === undefined ? '' : `: ErrImagePull: ${failure}`;
    return { reason: 'ImagePullBackOff', message: `${event.message}${more}` };
  }

  #fail(request: PullRequest, image: string, key: string, message: string): MissingImage {
    const nowMs = this.#options.clock.monotonicMs();
    request.recordEvent(runtimeEvent.pullFailed(image, message));
    this.#backoff.next(key, nowMs, nowMs);
    this.#failures.set(key, message);
    return { reason: 'ErrImagePull', message };
  }
}

/** `refuse`: the image is missing, and the pull policy forbids to pull it. */
type ImagePullDecision = 'use-present' | 'pull' | 'refuse';

/** Decision of the pull policy for an image that is present or not (kubelet `imagePullPrecheck`). */
export function decideImagePull(container: Container, isPresent: boolean): ImagePullDecision {
  const policy = pullPolicyOf(container);
  if (policy === 'Always') return 'pull';
  if (isPresent) return 'use-present';
  return policy === 'Never' ? 'refuse' : 'pull';
}

/** The container's pull policy, or the default for its tag, as on the API server. */
function pullPolicyOf({ imagePullPolicy, image = '' }: Container): string {
  if (imagePullPolicy !== undefined) return imagePullPolicy;
  const name = image.slice(image.lastIndexOf('/') + 1);
  if (name.includes('@')) return 'IfNotPresent';
  return !name.includes(':') || name.endsWith(':latest') ? 'Always' : 'IfNotPresent';
}

/**
 * Why an image cannot be pulled; undefined if it can. An image without a tag and a digest has the tag `latest`, as in a
 * registry.
 */
export function selectPullFailure(image: string, unpullable: readonly TextPattern[]): string | undefined {
  if (unpullable.length === 0) return undefined;
  const name = image.slice(image.lastIndexOf('/') + 1);
  const tagged = /[:@]/u.test(name) ? image : `${image}:latest`;
  const found = unpullable.find((pattern) => pattern.matches(image) || pattern.matches(tagged));
  return (
    found && `not found: the image matches the pattern ${JSON.stringify(found.text)} of images that cannot be pulled`
  );
}
