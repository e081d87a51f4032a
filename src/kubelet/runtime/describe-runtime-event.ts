import type { EventDraft, EventType } from '../../api/event.ts';
import type { ContainerKind, KillTarget } from './pod-runtime.ts';
import { formatGoDuration } from '../../api/go-duration.ts';

/** Whose words: those of 1.28 and before name the container and say less of an image. */
export type EventWording = 'classic' | 'modern';

export interface EventText {
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
}

/** Whose events these are: a pod by its names. */
export type EventPod = Pick<KillTarget, 'uid' | 'namespace' | 'name'>;

const normal = (reason: string, message: string): EventText => ({ type: 'Normal', reason, message });
const warning = (reason: string, message: string): EventText => ({ type: 'Warning', reason, message });

/** What people are told while containers come and go (kubelet `events`). */
export const runtimeEvent = {
  pulling: (image: string): EventText => normal('Pulling', `Pulling image "${image}"`),

  pulled: (image: string, tookMs: number, bytes: number, wording: EventWording): EventText => {
    const took = formatGoDuration(Math.trunc(tookMs));
    const size = wording === 'modern' ? `. Image size: ${bytes} bytes.` : '';
    return normal('Pulled', `Successfully pulled image "${image}" in ${took} (${took} including waiting)${size}`);
  },

  present: (image: string, wording: EventWording): EventText => {
    const more = wording === 'modern' ? ' and can be accessed by the pod' : '';
    return normal('Pulled', `Container image "${image}" already present on machine${more}`);
  },

  pullFailed: (image: string, why: string): EventText => warning('Failed', `Failed to pull image "${image}": ${why}`),

  neverPulled: (image: string): EventText => warning('ErrImageNeverPull', describeNeverPulled(image)),

  pullBackOff: (image: string): EventText => normal('BackOff', `Back-off pulling image "${image}"`),

  created: (container: string, wording: EventWording): EventText =>
    normal('Created', wording === 'modern' ? 'Container created' : `Created container ${container}`),

  started: (container: string, wording: EventWording): EventText =>
    normal('Started', wording === 'modern' ? 'Container started' : `Started container ${container}`),

  startFailed: (why: string): EventText => warning('Failed', `Error: ${why}`),

  killing: (message: string): EventText => normal('Killing', message),

  crashBackOff: (container: string, pod: EventPod): EventText =>
    warning('BackOff', `Back-off restarting failed container ${container} in pod ${describePod(pod)}`),

  sandboxChanged: (): EventText => normal('SandboxChanged', 'Pod sandbox changed, it will be killed and re-created.'),

  sandboxFailed: (why: string): EventText => warning('FailedCreatePodSandBox', `Failed to create pod sandbox: ${why}`),
} as const;

export function describeNeverPulled(image: string): string {
  return `Container image "${image}" is not present with pull policy of Never`;
}

/** A pod in messages, as in `web_default(uid)` (kubelet `format.Pod`). */
export function describePod({ uid, namespace, name }: EventPod): string {
  return `${name}_${namespace}(${uid})`;
}

/** The event itself: about the pod, or about one container of it. */
export function describeRuntimeEvent(
  pod: EventPod,
  container: { readonly name: string; readonly kind: ContainerKind } | undefined,
  text: EventText,
): EventDraft {
  const { uid, namespace, name } = pod;
  const about = { apiVersion: 'v1', kind: 'Pod', namespace, name, uid };
  if (container === undefined) return { about, ...text };
  const list = container.kind === 'init' ? 'initContainers' : 'containers';
  return { about: { ...about, fieldPath: `spec.${list}{${container.name}}` }, ...text };
}
