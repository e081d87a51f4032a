import { ownValue } from '../../../machinery/api/json-map.ts';
import type { Container, Pod } from '../../../machinery/api/pod.ts';
import { parseGoDuration } from '../../../machinery/api/go-duration.ts';

/** Behaviour of a fake container. */
export interface ContainerScript {
  /** Error of the creation of the pod's sandbox; ignored in rules for single containers. */
  readonly sandboxFailure: string | undefined;
  readonly pullMs: number;
  /** Every pull fails with this message. */
  readonly pullFailure: string | undefined;
  /** Size of the pulled image, in bytes. */
  readonly imageBytes: number;
  /** Error of the container's creation. */
  readonly createFailure: string | undefined;
  /** Time from creation until it runs. */
  readonly startMs: number;
  /** Time until it exits by itself; undefined: it runs until it is stopped. */
  readonly exitAfterMs: number | undefined;
  readonly exitCode: number;
  /** Duration of its preStop hook, which counts against the grace period; by default what `preStop.sleep` says. */
  readonly preStopMs: number;
  /** Time from the stop signal until it exits; `never`: it is killed at the end of its grace period. */
  readonly stopMs: number | 'never';
  /** Exit code after a stop signal. */
  readonly stopExitCode: number;
  /** The runtime fails to stop it, and reports the failure. */
  readonly stuckKill: boolean;
  /** The runtime reports success, but the container keeps running. */
  readonly violatesStop: boolean;
  /** Window in which the startup probe fails; undefined: never. */
  readonly startupFails: FailureWindow | undefined;
  readonly readinessFails: FailureWindow | undefined;
  readonly livenessFails: FailureWindow | undefined;
}

/** Counted from the start of each container; `untilMs` may be infinite. */
export interface FailureWindow {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Behaviour of the matching containers. Absent fields do not change the behaviour. */
export interface ScriptRule {
  readonly namespace?: string;
  readonly podName?: string;
  /** The pod must have all of these labels. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly container?: string;
  readonly script: Partial<ContainerScript>;
}

/**
 * Annotations of a pod that script its containers, such as `hollow-kubelet/exit-after: 5s`; with a dot and a
 * container's name they apply to that container only, such as `hollow-kubelet/exit-after.app: 5s`.
 */
const prefix = 'hollow-kubelet/';

/** Durations in Go's notation; invalid values are ignored. */
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
  'startup-fails': (text) => ({ startupFails: parseWindow(text) }),
  'readiness-fails': (text) => ({ readinessFails: parseWindow(text) }),
  'liveness-fails': (text) => ({ livenessFails: parseWindow(text) }),
};

/** Parses `500ms`, `10s`, `1m30s`; undefined for invalid or negative durations. */
export function selectDelayMs(text: string): number | undefined {
  const ms = parseGoDuration(text);
  return ms !== undefined && ms >= 0 ? ms : undefined;
}

/** `30s`: at first, `10s..30s`: from the one time to the other, `10s..` or `always`: from then on. Undefined if invalid. */
function parseWindow(text: string): FailureWindow | undefined {
  const [first = '', second, ...others] = text === 'always' ? ['0s', ''] : text.split('..');
  const fromMs = second === undefined ? 0 : selectDelayMs(first);
  const untilMs = second === '' ? Number.POSITIVE_INFINITY : selectDelayMs(second ?? first);
  if (fromMs === undefined || untilMs === undefined || fromMs >= untilMs || others.length > 0) return undefined;
  return { fromMs, untilMs };
}

function timed(
  field: 'pullMs' | 'startMs' | 'exitAfterMs' | 'preStopMs' | 'stopMs',
  text: string,
): Partial<ContainerScript> {
  const ms = selectDelayMs(text);
  return ms === undefined ? {} : { [field]: ms };
}

function coded(field: 'exitCode' | 'stopExitCode', text: string): Partial<ContainerScript> {
  return /^\d{1,3}$/u.test(text) ? { [field]: Number(text) } : {};
}

/**
 * The behaviour of a container: the base, overridden by its spec, by rules, and by the pod's annotations; later rules
 * win, and annotations for one container win over those for its pod.
 */
export function buildContainerScript(
  base: ContainerScript,
  rules: readonly ScriptRule[],
  pod: Pod,
  container: Container,
): ContainerScript {
  const fitting = rules.filter((rule) => fits(rule, pod, container)).map(({ script }) => script);
  const own = [annotated(pod, ''), annotated(pod, `.${container.name}`)];
  return Object.assign({}, base, specified(container), ...fitting, ...own);
}

/** A preStop hook that sleeps; what another hook would do is not known. */
function specified({ lifecycle }: Container): Partial<ContainerScript> {
  const seconds = lifecycle?.preStop?.sleep?.seconds;
  return seconds === undefined ? {} : { preStopMs: seconds * 1_000 };
}

function annotated(pod: Pod, suffix: string): Partial<ContainerScript> {
  const podAnnotations = pod.metadata.annotations;
  if (podAnnotations === undefined) return {};
  const parts = Object.entries(annotations).map(([name, read]) => {
    const text = ownValue(podAnnotations, `${prefix}${name}${suffix}`);
    return text === undefined ? {} : read(text);
  });
  return Object.assign({}, ...parts);
}

function fits(rule: ScriptRule, { metadata }: Pod, container: Container): boolean {
  return (
    (rule.namespace ?? metadata.namespace) === metadata.namespace &&
    (rule.podName ?? metadata.name) === metadata.name &&
    (rule.container ?? container.name) === container.name &&
    Object.entries(rule.labels ?? {}).every(([key, value]) => ownValue(metadata.labels, key) === value)
  );
}
