import { ownValue } from '../../../machinery/api/json-map.ts';
import type { EvictionSignal } from '../machine/plan-eviction-pass.ts';
import type { NetworkRule, RequestClass } from '../network/network-rule.ts';
import type { Machine } from '../profile.ts';
import type { ContainerScript } from '../runtime/build-container-script.ts';
import type { Fault, LastingFault } from './fault.ts';

/** Faults of the container runtime, with the messages that it reports. */
interface RuntimeEffects {
  readonly down: string | undefined;
  readonly hangs: 'listing' | undefined;
  readonly network: string | undefined;
}

/** The combined effect of all faults of a node, as it is applied to the node's components. */
export interface FaultEffects {
  readonly network: readonly NetworkRule[];
  readonly runtime: RuntimeEffects;
  /** Message of the node's Ready=False condition. */
  readonly unhealthy: string | undefined;
  /** Condition types that are reported as True regardless of the signals. */
  readonly conditions: readonly string[];
  /** Eviction signals, and the share of the capacity that each reports as available. */
  readonly signals: ReadonlyMap<EvictionSignal, number>;
  /** By fault id, so that only changed entries are applied again. */
  readonly containers: ReadonlyMap<string, Partial<ContainerScript>>;
  readonly clock: { readonly offsetMs: number; readonly driftMsPerHour: number };
  readonly machine: Partial<Machine>;
  /** The machine shuts down; undefined: it does not. */
  readonly shutdown: Extract<LastingFault, { kind: 'shutdown' }> | undefined;
}

/** An active fault. `isUp`: state of a flapping node. */
export interface FaultInForce {
  readonly id: string;
  readonly fault: Fault;
  readonly isUp: boolean;
}

/** Available share of a resource under pressure: below every default eviction threshold. */
const shortShare = 0.001;
const signalsOf: Readonly<Record<string, readonly EvictionSignal[]>> = {
  memory: ['memory.available'],
  disk: ['nodefs.available'],
};
const conditionOf: Readonly<Record<string, string>> = {
  memory: 'MemoryPressure',
  disk: 'DiskPressure',
  pid: 'PIDPressure',
};

/** What the kubelet says about its node from the beginning of a graceful shutdown until its next boot (KEP-5683). */
export const shutdownConditions = ['GracefulNodeShutdownInProgress', 'DrainInProgress'] as const;

/** Effects of all active faults: where they contradict each other, the later one wins; additive effects are summed. */
export function mergeFaultEffects(active: readonly FaultInForce[]): FaultEffects {
  const faults = active.map(({ fault }) => fault);
  const last = <K extends LastingFault['kind']>(kind: K): Extract<LastingFault, { kind: K }> | undefined =>
    faults.findLast((fault): fault is Extract<LastingFault, { kind: K }> => fault.kind === kind);
  const pressures = faults.filter((fault) => fault.kind === 'pressure');
  const skews = faults.filter((fault) => fault.kind === 'clock-skew');
  return {
    network: active.flatMap(mergeRules),
    runtime: {
      down: last('runtime-down')?.message,
      hangs: last('pleg-hang') === undefined ? undefined : 'listing',
      network: last('network-not-ready')?.message,
    },
    unhealthy: last('unhealthy')?.reason,
    conditions: [
      ...pressures.filter(({ manner }) => manner === 'forced').map(({ of }) => ownValue(conditionOf, of) ?? of),
      ...(last('shutdown')?.conditions === true ? shutdownConditions : []),
    ],
    signals: new Map(
      pressures
        .filter(({ manner }) => manner === 'signal')
        .flatMap(({ of }) => (ownValue(signalsOf, of) ?? []).map((signal) => [signal, shortShare])),
    ),
    containers: new Map(active.flatMap(({ id, fault }) => containerEffectsOf(fault).map((each) => [id, each]))),
    clock: {
      offsetMs: skews.reduce((sum, { offsetMs }) => sum + offsetMs, 0),
      driftMsPerHour: skews.reduce((sum, { driftMsPerHour }) => sum + driftMsPerHour, 0),
    },
    machine: Object.assign({}, ...faults.map(mergeSize)),
    shutdown: last('shutdown'),
  };
}

function mergeRules({ fault, isUp }: FaultInForce): readonly NetworkRule[] {
  if (fault.kind === 'silence') {
    const classes = fault.heartbeat === 'both' ? (['lease', 'status'] as const) : [fault.heartbeat];
    return classes.map((about) => swallowRule(about, false));
  }
  if (fault.kind === 'flap') return isUp ? [] : [swallowRule('all', true)];
  if (fault.kind === 'partition') return [buildPartition(fault)];
  if (fault.kind === 'lag') {
    const { delayMs: ms, jitterMs, on } = fault;
    return [{ about: { class: 'all' }, effect: { kind: 'delay', ms, jitterMs, on }, stallsWatches: false }];
  }
  if (fault.kind === 'errors') {
    const { code, rate, verb, resource } = fault;
    return [{ about: { class: 'all', verb, resource }, effect: { kind: 'refuse', code, rate }, stallsWatches: false }];
  }
  if (fault.kind === 'ignore-deletes') {
    return [{ about: { class: 'deletions' }, effect: { kind: 'reset' }, stallsWatches: false }];
  }
  return [];
}

function buildPartition({ direction, manner }: Extract<Fault, { kind: 'partition' }>): NetworkRule {
  return {
    about: { class: direction === 'watch' ? 'none' : 'all' },
    effect: { kind: manner === 'reset' ? 'reset' : 'swallow' },
    stallsWatches: direction !== 'writes',
  };
}

function swallowRule(about: RequestClass, stallsWatches: boolean): NetworkRule {
  return { about: { class: about }, effect: { kind: 'swallow' }, stallsWatches };
}

function containerEffectsOf(fault: Fault): readonly Partial<ContainerScript>[] {
  if (fault.kind === 'slow-termination') {
    return [fault.stopMs === 'stuck' ? { stuckKill: true } : { stopMs: fault.stopMs }];
  }
  if (fault.kind === 'slow-start') return [{ startMs: fault.startMs }];
  if (fault.kind === 'image-pull-failure') return [{ pullFailure: fault.message }];
  if (fault.kind === 'crash-loop') return [{ exitAfterMs: fault.afterMs, exitCode: fault.exitCode }];
  return [];
}

function mergeSize(fault: Fault): Partial<Machine> {
  if (fault.kind !== 'capacity') return {};
  const { cpuCores, memoryMiB, podsMax } = fault;
  return {
    ...(cpuCores === undefined ? {} : { cpuCores }),
    ...(memoryMiB === undefined ? {} : { memoryMiB }),
    ...(podsMax === undefined ? {} : { podsMax }),
  };
}
