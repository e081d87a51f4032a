/**
 * One word for what a pod is doing, and its counts. A pod has a phase, a reason, conditions and the states of each
 * container; people want the most telling of them (upstream `printPod`).
 */
import { parseTimestamp } from '../../api/timestamps.ts';
import { type Fields, fieldsAt, isFields, listAt, numberAt, textAt, valueAt } from './derive-field.ts';

export interface PodSummary {
  /** `Running`, `CrashLoopBackOff`, `Init:0/2`, `Terminating` ... */
  readonly status: string;
  readonly ready: number;
  readonly total: number;
  readonly restarts: number;
  /** Wall time of the last restart; 0 where there was none. */
  readonly lastRestartMs: number;
}

interface Restarts {
  readonly restarts: number;
  readonly lastRestartMs: number;
}

interface InitSummary {
  /** Why initialisation has not ended; undefined when it has. */
  readonly blocked: string | undefined;
  readonly ready: number;
  readonly all: Restarts;
  /** Of init containers that go on running beside the others. */
  readonly sidecars: Restarts;
}

const noRestarts: Restarts = { restarts: 0, lastRestartMs: 0 };

/** Summarises a pod as it is on the wire. Never throws. */
export function derivePodSummary(pod: Fields): PodSummary {
  const sidecars = sidecarNames(pod);
  const init = summariseInit(pod, sidecars);
  const total = listAt(pod, 'spec', 'containers').length + sidecars.size;
  const begun = init.blocked ?? firstWord(pod);
  if (init.blocked !== undefined && !hasCondition(pod, 'Initialized')) {
    return { status: lastWord(pod, begun), ready: init.ready, total, ...init.all };
  }
  const main = listAt(pod, 'status', 'containerStatuses');
  return {
    status: lastWord(pod, wordForContainers(pod, main, begun)),
    ready: init.ready + main.filter(isReadyAndRunning).length,
    total,
    ...main.reduce(addRestarts, init.sidecars),
  };
}

function firstWord(pod: Fields): string {
  const gated = listAt(pod, 'status', 'conditions').some(
    (condition) => textAt(condition, 'type') === 'PodScheduled' && textAt(condition, 'reason') === 'SchedulingGated',
  );
  return gated ? 'SchedulingGated' : textAt(pod, 'status', 'reason') || textAt(pod, 'status', 'phase');
}

/** A pod that is being deleted says so, unless it has ended; on a node that was lost nobody knows. */
function lastWord(pod: Fields, word: string): string {
  if (textAt(pod, 'metadata', 'deletionTimestamp') === '') return word;
  if (textAt(pod, 'status', 'reason') === 'NodeLost') return 'Unknown';
  const ended = ['Succeeded', 'Failed'].includes(textAt(pod, 'status', 'phase'));
  return ended ? word : 'Terminating';
}

function sidecarNames(pod: Fields): ReadonlySet<string> {
  const always = listAt(pod, 'spec', 'initContainers').filter((spec) => textAt(spec, 'restartPolicy') === 'Always');
  return new Set(always.map((spec) => textAt(spec, 'name')));
}

/** Looks at init containers in order and stops at the first that is not done. */
function summariseInit(pod: Fields, sidecars: ReadonlySet<string>): InitSummary {
  const total = listAt(pod, 'spec', 'initContainers').length;
  let sum: InitSummary = { blocked: undefined, ready: 0, all: noRestarts, sidecars: noRestarts };
  for (const [index, container] of listAt(pod, 'status', 'initContainerStatuses').entries()) {
    const sidecar = sidecars.has(textAt(container, 'name'));
    const runs = sidecar && valueAt(container, 'started') === true && !hasSucceeded(container);
    sum = {
      blocked: runs || hasSucceeded(container) ? undefined : initWord(container, index, total),
      ready: sum.ready + (runs && valueAt(container, 'ready') === true ? 1 : 0),
      all: addRestarts(sum.all, container),
      sidecars: sidecar ? addRestarts(sum.sidecars, container) : sum.sidecars,
    };
    if (sum.blocked !== undefined) return sum;
  }
  return sum;
}

function initWord(container: Fields, index: number, total: number): string {
  const terminated = valueAt(container, 'state', 'terminated');
  if (isFields(terminated)) return `Init:${endWord(terminated)}`;
  const waiting = textAt(container, 'state', 'waiting', 'reason');
  return waiting === '' || waiting === 'PodInitializing' ? `Init:${index}/${total}` : `Init:${waiting}`;
}

function endWord(terminated: Fields): string {
  const signal = numberAt(terminated, 'signal');
  const code = signal === 0 ? `ExitCode:${numberAt(terminated, 'exitCode')}` : `Signal:${signal}`;
  return textAt(terminated, 'reason') || code;
}

/** The first container that waits or has ended gives the word; `Completed` is only true of the pod if none runs on. */
function wordForContainers(pod: Fields, containers: readonly Fields[], begun: string): string {
  const word = containers.map(containerWord).find((each) => each !== undefined) ?? begun;
  if (word !== 'Completed') return word;
  const running = containers.some(isReadyAndRunning);
  if (running && hasCondition(pod, 'Ready')) return 'Running';
  const failed = containers.find((container) => numberAt(container, 'state', 'terminated', 'exitCode') !== 0);
  if (failed !== undefined) return endWord(fieldsAt(failed, 'state', 'terminated'));
  return running ? 'NotReady' : word;
}

function containerWord(container: Fields): string | undefined {
  const waiting = textAt(container, 'state', 'waiting', 'reason');
  if (waiting !== '') return waiting;
  const terminated = valueAt(container, 'state', 'terminated');
  return isFields(terminated) ? endWord(terminated) : undefined;
}

function isReadyAndRunning(container: Fields): boolean {
  if (containerWord(container) !== undefined) return false;
  return valueAt(container, 'ready') === true && isFields(valueAt(container, 'state', 'running'));
}

function hasSucceeded(container: Fields): boolean {
  const terminated = valueAt(container, 'state', 'terminated');
  return isFields(terminated) && numberAt(terminated, 'exitCode') === 0;
}

function hasCondition(pod: Fields, type: string): boolean {
  const found = listAt(pod, 'status', 'conditions').find((condition) => textAt(condition, 'type') === type);
  return textAt(found, 'status') === 'True';
}

function addRestarts(sum: Restarts, container: Fields): Restarts {
  const endedMs = parseTimestamp(textAt(container, 'lastState', 'terminated', 'finishedAt')) ?? 0;
  return {
    restarts: sum.restarts + numberAt(container, 'restartCount'),
    lastRestartMs: Math.max(sum.lastRestartMs, endedMs),
  };
}
