/**
 * The STATUS column of a pod and its counts: the most specific of its phase, reason, conditions and container states
 * (upstream `printPod`).
 */
import type { JsonMap } from '../../../../machinery/api/json-map.ts';
import { parseTimestamp } from '../../../../machinery/api/timestamps.ts';
import {
  hasCondition,
  mapAt,
  isMap,
  mapsAt,
  numberAt,
  textAt,
  valueAt,
} from '../../../../machinery/api/select-field.ts';

interface PodSummary {
  /** `Running`, `CrashLoopBackOff`, `Init:0/2`, `Terminating` ... */
  readonly status: string;
  readonly ready: number;
  readonly total: number;
  readonly restarts: number;
  /** Wall time of the last restart; 0 without one. */
  readonly lastRestartMs: number;
}

interface Restarts {
  readonly restarts: number;
  readonly lastRestartMs: number;
}

interface InitSummary {
  /** Why initialization has not completed; undefined when it has. */
  readonly blocked: string | undefined;
  readonly ready: number;
  readonly all: Restarts;
  /** Restarts of sidecar containers. */
  readonly sidecars: Restarts;
}

const noRestarts: Restarts = { restarts: 0, lastRestartMs: 0 };

/** Summarizes a pod in its wire form. Never throws. */
export function buildPodSummary(pod: JsonMap): PodSummary {
  const sidecars = sidecarNames(pod);
  const init = summariseInit(pod, sidecars);
  const total = mapsAt(pod, 'spec', 'containers').length + sidecars.size;
  const initial = init.blocked ?? initialStatus(pod);
  if (init.blocked !== undefined && !hasCondition(pod, 'Initialized')) {
    return { status: finalStatus(pod, initial), ready: init.ready, total, ...init.all };
  }
  const main = mapsAt(pod, 'status', 'containerStatuses');
  return {
    status: finalStatus(pod, containersStatus(pod, main, initial)),
    ready: init.ready + main.filter(isReadyAndRunning).length,
    total,
    ...main.reduce(addRestarts, init.sidecars),
  };
}

function initialStatus(pod: JsonMap): string {
  const gated = mapsAt(pod, 'status', 'conditions').some(
    (condition) => textAt(condition, 'type') === 'PodScheduled' && textAt(condition, 'reason') === 'SchedulingGated',
  );
  return gated ? 'SchedulingGated' : textAt(pod, 'status', 'reason') || textAt(pod, 'status', 'phase');
}

/** Terminating while the pod is being deleted, unless it has ended; Unknown if its node was lost. */
function finalStatus(pod: JsonMap, status: string): string {
  if (textAt(pod, 'metadata', 'deletionTimestamp') === '') return status;
  if (textAt(pod, 'status', 'reason') === 'NodeLost') return 'Unknown';
  const ended = ['Succeeded', 'Failed'].includes(textAt(pod, 'status', 'phase'));
  return ended ? status : 'Terminating';
}

function sidecarNames(pod: JsonMap): ReadonlySet<string> {
  const always = mapsAt(pod, 'spec', 'initContainers').filter((spec) => textAt(spec, 'restartPolicy') === 'Always');
  return new Set(always.map((spec) => textAt(spec, 'name')));
}

/** Checks init containers in order and stops at the first that has not completed. */
function summariseInit(pod: JsonMap, sidecars: ReadonlySet<string>): InitSummary {
  const total = mapsAt(pod, 'spec', 'initContainers').length;
  let sum: InitSummary = { blocked: undefined, ready: 0, all: noRestarts, sidecars: noRestarts };
  for (const [index, container] of mapsAt(pod, 'status', 'initContainerStatuses').entries()) {
    const sidecar = sidecars.has(textAt(container, 'name'));
    const runs = sidecar && valueAt(container, 'started') === true && !hasSucceeded(container);
    sum = {
      blocked: runs || hasSucceeded(container) ? undefined : initStatus(container, index, total),
      ready: sum.ready + (runs && valueAt(container, 'ready') === true ? 1 : 0),
      all: addRestarts(sum.all, container),
      sidecars: sidecar ? addRestarts(sum.sidecars, container) : sum.sidecars,
    };
    if (sum.blocked !== undefined) return sum;
  }
  return sum;
}

function initStatus(container: JsonMap, index: number, total: number): string {
  const terminated = valueAt(container, 'state', 'terminated');
  if (isMap(terminated)) return `Init:${terminatedStatus(terminated)}`;
  const waiting = textAt(container, 'state', 'waiting', 'reason');
  return waiting === '' || waiting === 'PodInitializing' ? `Init:${index}/${total}` : `Init:${waiting}`;
}

function terminatedStatus(terminated: JsonMap): string {
  const signal = numberAt(terminated, 'signal');
  const code = signal === 0 ? `ExitCode:${numberAt(terminated, 'exitCode')}` : `Signal:${signal}`;
  return textAt(terminated, 'reason') || code;
}

/** The status of the first container that waits or has ended; `Completed` applies only if no container runs. */
function containersStatus(pod: JsonMap, containers: readonly JsonMap[], initial: string): string {
  const status = containers.map(containerStatus).find((each) => each !== undefined) ?? initial;
  if (status !== 'Completed') return status;
  const running = containers.some(isReadyAndRunning);
  if (running && hasCondition(pod, 'Ready')) return 'Running';
  const failed = containers.find((container) => numberAt(container, 'state', 'terminated', 'exitCode') !== 0);
  if (failed !== undefined) return terminatedStatus(mapAt(failed, 'state', 'terminated'));
  return running ? 'NotReady' : status;
}

function containerStatus(container: JsonMap): string | undefined {
  const waiting = textAt(container, 'state', 'waiting', 'reason');
  if (waiting !== '') return waiting;
  const terminated = valueAt(container, 'state', 'terminated');
  return isMap(terminated) ? terminatedStatus(terminated) : undefined;
}

function isReadyAndRunning(container: JsonMap): boolean {
  if (containerStatus(container) !== undefined) return false;
  return valueAt(container, 'ready') === true && isMap(valueAt(container, 'state', 'running'));
}

function hasSucceeded(container: JsonMap): boolean {
  const terminated = valueAt(container, 'state', 'terminated');
  return isMap(terminated) && numberAt(terminated, 'exitCode') === 0;
}

function addRestarts(sum: Restarts, container: JsonMap): Restarts {
  const endedMs = parseTimestamp(textAt(container, 'lastState', 'terminated', 'finishedAt')) ?? 0;
  return {
    restarts: sum.restarts + numberAt(container, 'restartCount'),
    lastRestartMs: Math.max(sum.lastRestartMs, endedMs),
  };
}
