import type { EvictionSignal } from '../machine/classify-signal.ts';
import type { NetworkRule, RequestClass } from '../network-rule.ts';
import type { Machine } from '../profile.ts';
import type { ContainerTrouble, Fault, LastingFault } from './fault.ts';

/** What is the matter with a runtime, in its own words. */
export interface RuntimeTrouble {
  readonly down: string | undefined;
  readonly hangs: 'listing' | undefined;
  readonly network: string | undefined;
}

/** All that is the matter with a node, put together from its faults: what the node's parts are to be told. */
export interface Trouble {
  readonly network: readonly NetworkRule[];
  readonly runtime: RuntimeTrouble;
  /** Why the node says that it is not ready. */
  readonly unhealthy: string | undefined;
  /** Conditions that are told though no signal says so. */
  readonly conditions: readonly string[];
  /** Signals, and the share of the capacity that they say is left. */
  readonly signals: ReadonlyMap<EvictionSignal, number>;
  /** By the fault's id, so that only what changed is told anew. */
  readonly containers: ReadonlyMap<string, ContainerTrouble>;
  readonly clock: { readonly offsetMs: number; readonly driftMsPerHour: number };
  readonly machine: Partial<Machine>;
  readonly shutdown: boolean;
}

/** A fault that holds. A flapping node is down or up. */
export interface ActiveFault {
  readonly id: string;
  readonly fault: Fault;
  readonly isUp: boolean;
}

/** So little is left of what is short: below every default threshold. */
const shortShare = 0.001;
const signalsOf: Readonly<Record<string, readonly EvictionSignal[]>> = {
  memory: ['memory.available'],
  disk: ['nodefs.available'],
  pid: ['pid.available'],
};
const conditionOf: Readonly<Record<string, string>> = {
  memory: 'MemoryPressure',
  disk: 'DiskPressure',
  pid: 'PIDPressure',
};

/** Where faults contradict each other, the later one counts; what adds up, adds up. */
export function deriveTrouble(active: readonly ActiveFault[]): Trouble {
  const faults = active.map(({ fault }) => fault);
  const last = <K extends LastingFault['kind']>(kind: K): Extract<LastingFault, { kind: K }> | undefined =>
    faults.findLast((fault): fault is Extract<LastingFault, { kind: K }> => fault.kind === kind);
  const pressures = faults.filter((fault) => fault.kind === 'pressure');
  const skews = faults.filter((fault) => fault.kind === 'clock-skew');
  return {
    network: active.flatMap(deriveRules),
    runtime: {
      down: last('runtime-down')?.message,
      hangs: last('pleg-hang') === undefined ? undefined : 'listing',
      network: last('network-not-ready')?.message,
    },
    unhealthy: last('unhealthy')?.reason,
    conditions: pressures.filter(({ manner }) => manner === 'forced').map(({ of }) => conditionOf[of] ?? of),
    signals: new Map(
      pressures.filter(({ manner }) => manner === 'signal').flatMap(({ of }) => (signalsOf[of] ?? []).map(asShort)),
    ),
    containers: new Map(active.flatMap(({ id, fault }) => deriveContainerTrouble(fault).map((each) => [id, each]))),
    clock: {
      offsetMs: skews.reduce((sum, { offsetMs }) => sum + offsetMs, 0),
      driftMsPerHour: skews.reduce((sum, { driftMsPerHour }) => sum + driftMsPerHour, 0),
    },
    machine: Object.assign({}, ...faults.map(deriveSize)),
    shutdown: last('shutdown') !== undefined,
  };
}

function asShort(signal: EvictionSignal): [EvictionSignal, number] {
  return [signal, shortShare];
}

function deriveRules({ fault, isUp }: ActiveFault): readonly NetworkRule[] {
  if (fault.kind === 'silence') {
    return deriveSilence(fault.heartbeat).map((about) => swallowing(about, false));
  }
  if (fault.kind === 'flap') {
    return isUp ? [] : [swallowing('all', true)];
  }
  if (fault.kind === 'partition') return [derivePartition(fault)];
  if (fault.kind === 'lag') {
    return [
      {
        about: { class: 'all' },
        effect: { kind: 'delay', ms: fault.delayMs, jitterMs: fault.jitterMs, on: fault.on },
        blinds: false,
      },
    ];
  }
  if (fault.kind === 'errors') {
    const { code, rate, verb, resource } = fault;
    return [{ about: { class: 'all', verb, resource }, effect: { kind: 'refuse', code, rate }, blinds: false }];
  }
  if (fault.kind === 'ignore-deletes') {
    return [{ about: { class: 'deletions' }, effect: { kind: 'reset' }, blinds: false }];
  }
  return [];
}

function derivePartition({ direction, manner }: Extract<Fault, { kind: 'partition' }>): NetworkRule {
  return {
    about: { class: direction === 'watch' ? 'none' : 'all' },
    effect: { kind: manner === 'reset' ? 'reset' : 'swallow' },
    blinds: direction !== 'writes',
  };
}

function deriveSilence(heartbeat: 'lease' | 'status' | 'both'): readonly RequestClass[] {
  return heartbeat === 'both' ? ['lease', 'status'] : [heartbeat];
}

function swallowing(about: RequestClass, blinds: boolean): NetworkRule {
  return { about: { class: about }, effect: { kind: 'swallow' }, blinds };
}

function deriveContainerTrouble(fault: Fault): readonly ContainerTrouble[] {
  if (fault.kind === 'slow-termination') {
    return [fault.stopMs === 'stuck' ? { stuckKill: true } : { stopMs: fault.stopMs }];
  }
  if (fault.kind === 'slow-start') {
    return [{ startMs: fault.startMs }];
  }
  if (fault.kind === 'image-pull-failure') {
    return [{ pullFailure: fault.message }];
  }
  if (fault.kind === 'crash-loop') {
    return [{ exitAfterMs: fault.afterMs, exitCode: fault.exitCode }];
  }
  return [];
}

function deriveSize(fault: Fault): Partial<Machine> {
  if (fault.kind !== 'capacity') return {};
  const { cpuCores, memoryMiB, podsMax } = fault;
  return {
    ...(cpuCores === undefined ? {} : { cpuCores }),
    ...(memoryMiB === undefined ? {} : { memoryMiB }),
    ...(podsMax === undefined ? {} : { podsMax }),
  };
}
