import type { Container, Pod, Probe } from '../../../machinery/api/pod.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';
import type { ContainerScript, FailureWindow } from './build-container-script.ts';
import { buildState } from './build-container-state.ts';
import type { ContainerHost } from './container-host.ts';
import { isSidecar, listInits, listRegular } from './decide-restart.ts';
import { noProbes, type ProbeResults } from './pod-runtime.ts';

interface ProberOptions {
  readonly host: Pick<ContainerHost, 'live'>;
  readonly clock: Clock;
  readonly scriptOf: (pod: Pod, container: Container) => ContainerScript;
}

/**
 * The probes of a node's containers (kubelet `prober.Manager`). Results follow from how long a container has run, so
 * that they need no timers and a restart of the kubelet changes none of them.
 */
export class Prober {
  readonly #options: ProberOptions;

  constructor(options: ProberOptions) {
    this.#options = options;
  }

  /** The results of now for the running containers of a pod. */
  results(pod: Pod): ProbeResults {
    const probed = [...listRegular(pod), ...listInits(pod).filter(isSidecar)].filter(hasProbe);
    if (probed.length === 0) return noProbes;
    const states = this.#states(pod, probed);
    const nextChangeAtMs = Math.min(...states.map((state) => state.nextChangeAtMs));
    return {
      unstarted: new Set(states.filter(({ started }) => !started).map(({ id }) => id)),
      unready: new Set(states.filter(({ ready }) => !ready).map(({ id }) => id)),
      failed: new Map(states.flatMap(({ id, failed }) => (failed === undefined ? [] : [[id, failed]]))),
      failing: states.flatMap(({ container, failed, readinessFails }) => [
        ...(failed === undefined ? [] : [{ container, probe: failed }]),
        ...(readinessFails ? [{ container, probe: 'readiness' as const }] : []),
      ]),
      nextChangeAtMs: Number.isFinite(nextChangeAtMs) ? nextChangeAtMs : undefined,
    };
  }

  #states(pod: Pod, probed: readonly Container[]): readonly RunningState[] {
    const { host, clock, scriptOf } = this.#options;
    const nowMs = clock.monotonicMs();
    return host.live(pod.metadata.uid ?? '').flatMap((plan) => {
      const container = probed.find(({ name }) => name === plan.name);
      const { id, runsAtMs } = plan;
      if (container === undefined || runsAtMs === undefined || buildState(plan, nowMs) !== 'running') return [];
      const state = planProbes(container, scriptOf(pod, container), nowMs - runsAtMs);
      return [{ ...state, id, container, nextChangeAtMs: runsAtMs + (state.nextMs ?? Number.POSITIVE_INFINITY) }];
    });
  }
}

interface RunningState extends ProbeState {
  readonly id: string;
  readonly container: Container;
  readonly nextChangeAtMs: number;
}

function hasProbe({ startupProbe, readinessProbe, livenessProbe }: Container): boolean {
  return startupProbe !== undefined || readinessProbe !== undefined || livenessProbe !== undefined;
}

const periodSecondsDefault = 10;
const failureThresholdDefault = 3;

/** The script of the probes of a container. */
type ProbeScript = Pick<ContainerScript, 'startupFails' | 'readinessFails' | 'livenessFails'>;

/** From this time on a probe has this result. Times are counted from the start of the container. */
interface ProbeChange {
  readonly atMs: number;
  readonly passes: boolean;
}

/** Results of the probes of a container at a time. */
interface ProbeState {
  /** True if the startup probe has succeeded, or there is none. */
  readonly started: boolean;
  /** True if the container has started, and its readiness probe has succeeded, or there is none. */
  readonly ready: boolean;
  /** The probe that failed as often as it may: the container is to be killed. */
  readonly failed: 'startup' | 'liveness' | undefined;
  /** The readiness probe fails, and not only because it has not succeeded yet. */
  readonly readinessFails: boolean;
  /** Time of the next change; undefined: nothing will change. */
  readonly nextMs: number | undefined;
}

/**
 * The results of the probes of a container that has run for `ranMs` (kubelet `prober.worker`). A probe succeeds each time,
 * except in the window of its script. It is tried once in each period, from when it may be: the startup probe from the
 * container's start, the others from the success of the startup probe; no attempt counts during its initial delay.
 */
export function planProbes(container: Container, script: ProbeScript, ranMs: number): ProbeState {
  const { startup, readiness, liveness } = planChanges(container, script);
  const isPast = ({ atMs }: ProbeChange): boolean => atMs <= ranMs;
  const started = startup?.passes === true && isPast(startup);
  const last = readiness.findLast(isPast);
  const failed = [liveness, startup].find((change) => change?.passes === false && isPast(change));
  return {
    started,
    ready: started && (container.readinessProbe === undefined || last?.passes === true),
    failed: failed === undefined ? undefined : failed === startup ? 'startup' : 'liveness',
    readinessFails: last?.passes === false,
    nextMs: [startup, liveness, ...readiness]
      .flatMap((change) => (change === undefined || isPast(change) ? [] : [change.atMs]))
      .toSorted((a, b) => a - b)[0],
  };
}

interface PlannedChanges {
  /** Undefined: it is tried for ever. */
  readonly startup: ProbeChange | undefined;
  readonly readiness: readonly ProbeChange[];
  /** The failure. */
  readonly liveness: ProbeChange | undefined;
}

function planChanges(container: Container, script: ProbeScript): PlannedChanges {
  const { startupProbe, readinessProbe, livenessProbe } = container;
  const startup = startupProbe === undefined ? alwaysStarted : planProbe(startupProbe, script.startupFails, 0)[0];
  if (startup?.passes !== true) return { startup, readiness: [], liveness: undefined };
  const plan = (probe: Probe | undefined, fails: FailureWindow | undefined): readonly ProbeChange[] =>
    probe === undefined ? [] : planProbe(probe, fails, startup.atMs);
  const liveness = plan(livenessProbe, script.livenessFails).find(({ passes }) => !passes);
  return { startup, readiness: plan(readinessProbe, script.readinessFails), liveness };
}

const alwaysStarted: ProbeChange = { atMs: 0, passes: true };

/** When the result of a probe changes, if it is tried from `sinceMs` on: after as many equal attempts as its threshold. */
function planProbe(probe: Probe, fails: FailureWindow | undefined, sinceMs: number): readonly ProbeChange[] {
  const { initialDelaySeconds = 0, periodSeconds, successThreshold = 1, failureThreshold } = probe;
  const periodMs = Math.max(1, periodSeconds ?? periodSecondsDefault) * 1_000;
  const attemptAfter = (ms: number): number => sinceMs + Math.max(0, Math.ceil((ms - sinceMs) / periodMs)) * periodMs;
  return splitAt(fails).flatMap(({ fromMs, untilMs, passes }) => {
    const attempts = passes ? successThreshold : (failureThreshold ?? failureThresholdDefault);
    const atMs = attemptAfter(Math.max(fromMs, initialDelaySeconds * 1_000)) + (attempts - 1) * periodMs;
    return atMs < untilMs ? [{ atMs, passes }] : [];
  });
}

interface Phase extends FailureWindow {
  readonly passes: boolean;
}

function splitAt(fails: FailureWindow | undefined): readonly Phase[] {
  const endMs = Number.POSITIVE_INFINITY;
  if (fails === undefined) return [{ fromMs: 0, untilMs: endMs, passes: true }];
  return [
    { fromMs: 0, untilMs: fails.fromMs, passes: true },
    { ...fails, passes: false },
    { fromMs: fails.untilMs, untilMs: endMs, passes: true },
  ].filter(({ fromMs, untilMs }) => fromMs < untilMs);
}
