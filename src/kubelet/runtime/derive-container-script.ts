import type { Container, Pod } from '../../api/pod.ts';
import { parseGoDuration } from '../../api/go-duration.ts';

/** How a fake container behaves. */
export interface ContainerScript {
  /** Its pod gets no sandbox, and this is why; of containers by name it means nothing. */
  readonly sandboxFailure: string | undefined;
  readonly pullMs: number;
  /** Every pull fails with this message. */
  readonly pullFailure: string | undefined;
  /** What a pull brings, in bytes. */
  readonly imageBytes: number;
  /** It cannot be created, and this is why. */
  readonly createFailure: string | undefined;
  /** From its creation to its running. */
  readonly startMs: number;
  /** How long it runs before it exits by itself; undefined: until it is stopped. */
  readonly exitAfterMs: number | undefined;
  readonly exitCode: number;
  /** How long its pre-stop hook takes; the hook's time counts against the grace period. */
  readonly preStopMs: number;
  /** From the signal to stop to its exit; `never`: it is killed when its grace period ends. */
  readonly stopMs: number | 'never';
  /** With what it exits when it is told to stop and does. */
  readonly stopExitCode: number;
  /** The runtime fails to stop it, and says so. */
  readonly stuckKill: boolean;
  /** The runtime says that it stopped it, and it runs on. */
  readonly violatesStop: boolean;
}

/** Behaviour for the containers that it fits. What is not said stays as it is. */
export interface ScriptRule {
  readonly namespace?: string;
  readonly podName?: string;
  /** The pod carries all of these labels. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly container?: string;
  readonly script: Partial<ContainerScript>;
}

/**
 * Annotations of a pod that script its containers, as in `hollow-kubelet/exit-after: 5s`; followed by a dot and a
 * container's name, only that one, as in `hollow-kubelet/exit-after.app: 5s`.
 */
const prefix = 'hollow-kubelet/';

/** Durations as Go writes them; what cannot be read counts as not said. */
const annotations: Readonly<Record<string, (text: string) => Partial<ContainerScript>>> = {
  'sandbox-failure': (text) => ({ sandboxFailure: text }),
  'pull-time': (text) => timed('pullMs', text),
  'pull-failure': (text) => ({ pullFailure: text }),
  'create-failure': (text) => ({ createFailure: text }),
  'start-time': (text) => timed('startMs', text),
  'exit-after': (text) => (text === 'never' ? { exitAfterMs: undefined } : timed('exitAfterMs', text)),
  'exit-code': (text) => coded('exitCode', text),
  'pre-stop-time': (text) => timed('preStopMs', text),
  'stop-time': (text) => (text === 'never' ? { stopMs: 'never' } : timed('stopMs', text)),
  'stop-exit-code': (text) => coded('stopExitCode', text),
  'stuck-kill': (text) => ({ stuckKill: text === 'true' }),
  'violates-stop': (text) => ({ violatesStop: text === 'true' }),
};

/** Reads `500ms`, `10s`, `1m30s`; undefined for anything else, and for less than nothing. */
export function deriveDelayMs(text: string): number | undefined {
  const ms = parseGoDuration(text);
  return ms !== undefined && ms >= 0 ? ms : undefined;
}

function timed(
  field: 'pullMs' | 'startMs' | 'exitAfterMs' | 'preStopMs' | 'stopMs',
  text: string,
): Partial<ContainerScript> {
  const ms = deriveDelayMs(text);
  return ms === undefined ? {} : { [field]: ms };
}

function coded(field: 'exitCode' | 'stopExitCode', text: string): Partial<ContainerScript> {
  return /^\d{1,3}$/u.test(text) ? { [field]: Number(text) } : {};
}

/**
 * How a container behaves: as all do, unless a rule says otherwise, unless its pod's annotations do; later rules win, and
 * what is said of one container wins over what is said of its pod.
 */
export function deriveContainerScript(
  base: ContainerScript,
  rules: readonly ScriptRule[],
  pod: Pod,
  container: Container,
): ContainerScript {
  const fitting = rules.filter((rule) => fits(rule, pod, container)).map(({ script }) => script);
  return Object.assign({}, base, ...fitting, annotated(pod, ''), annotated(pod, `.${container.name}`));
}

function annotated(pod: Pod, suffix: string): Partial<ContainerScript> {
  const told = pod.metadata.annotations;
  if (told === undefined) return {};
  const parts = Object.entries(annotations).map(([name, read]) => {
    const text = told[`${prefix}${name}${suffix}`];
    return text === undefined ? {} : read(text);
  });
  return Object.assign({}, ...parts);
}

function fits(rule: ScriptRule, { metadata }: Pod, container: Container): boolean {
  return (
    (rule.namespace ?? metadata.namespace) === metadata.namespace &&
    (rule.podName ?? metadata.name) === metadata.name &&
    (rule.container ?? container.name) === container.name &&
    Object.entries(rule.labels ?? {}).every(([key, value]) => metadata.labels?.[key] === value)
  );
}
