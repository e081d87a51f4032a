import type { Container, Pod } from '../../../machinery/api/pod.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';
import { buildState } from './build-container-state.ts';
import type { ContainerScript } from './build-container-script.ts';
import type { ContainerHost } from './container-host.ts';
import { isSidecar, listInits, listRegular } from './decide-restart.ts';
import { planProbes, type ProbeState } from './plan-probes.ts';
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
