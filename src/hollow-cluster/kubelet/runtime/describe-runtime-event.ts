import type { EventDraft, EventType } from '../../../machinery/api/event.ts';
import type { ContainerKind, KillTarget, ProbeKind } from './pod-runtime.ts';
import { formatGoDuration } from '../../../machinery/api/go-duration.ts';
import { podReference } from '../pod-config/describe-pod-event.ts';

export interface EventText {
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
}

/** The pod of an Event, by its names. */
type EventPod = Pick<KillTarget, 'uid' | 'namespace' | 'name'>;

const normal = (reason: string, message: string): EventText => ({ type: 'Normal', reason, message });
const warning = (reason: string, message: string): EventText => ({ type: 'Warning', reason, message });

/** Events of the container lifecycle (kubelet `events`). */
export const runtimeEvent = {
  pulling: (image: string): EventText => normal('Pulling', `Pulling image "${image}"`),
  pulled: (image: string, tookMs: number, bytes: number): EventText => {
    const took = formatGoDuration(Math.trunc(tookMs));
    const size = `Image size: ${bytes} bytes.`;
    return normal('Pulled', `Successfully pulled image "${image}" in ${took} (${took} including waiting). ${size}`);
  },
  present: (image: string): EventText =>
    normal('Pulled', `Container image "${image}" already present on machine and can be accessed by the pod`),
  pullFailed: (image: string, error: string): EventText =>
    warning('Failed', `Failed to pull image "${image}": ${error}`),
  neverPulled: (image: string): EventText => warning('ErrImageNeverPull', describeNeverPulled(image)),
  pullBackOff: (image: string): EventText => normal('BackOff', `Back-off pulling image "${image}"`),
  created: (): EventText => normal('Created', 'Container created'),
  started: (): EventText => normal('Started', 'Container started'),
  startFailed: (error: string): EventText => warning('Failed', `Error: ${error}`),
  /** Event of a failed probe; the answer of a real one is not known here. */
  unhealthy: (probe: ProbeKind): EventText => {
    const name = `${probe.slice(0, 1).toUpperCase()}${probe.slice(1)}`;
    return warning('Unhealthy', `${name} probe failed: scripted by hollow-kubelet/${probe}-fails`);
  },
  killing: (message: string): EventText => normal('Killing', message),
  crashBackOff: (container: string, pod: EventPod): EventText =>
    warning('BackOff', `Back-off restarting failed container ${container} in pod ${describePod(pod)}`),
  sandboxChanged: (): EventText => normal('SandboxChanged', 'Pod sandbox changed, it will be killed and re-created.'),
  sandboxFailed: (error: string): EventText =>
    warning('FailedCreatePodSandBox', `Failed to create pod sandbox: ${error}`),
} as const;

export function describeNeverPulled(image: string): string {
  return `Container image "${image}" is not present with pull policy of Never`;
}

/** A pod in messages, such as `web_default(uid)` (kubelet `format.Pod`). */
export function describePod({ uid, namespace, name }: EventPod): string {
  return `${name}_${namespace}(${uid})`;
}

/** The Event, about the pod or one of its containers. */
export function describeRuntimeEvent(
  pod: EventPod,
  container: { readonly name: string; readonly kind: ContainerKind } | undefined,
  text: EventText,
): EventDraft {
  const about = podReference({ metadata: pod });
  if (container === undefined) return { about, ...text };
  const list = container.kind === 'init' ? 'initContainers' : 'containers';
  return { about: { ...about, fieldPath: `spec.${list}{${container.name}}` }, ...text };
}
