import { coversJson } from '../../../machinery/api/json-values.ts';
import type { Node } from '../../../machinery/api/node.ts';
import { formatBinary, formatDecimal } from '../../../machinery/api/quantity.ts';
import type { Machine } from '../profile.ts';
import { customConditions, diskPressure, memoryPressure, pidPressure, ready } from './condition-setters.ts';
import { mergeStatus, type SetterContext, type StatusSetter } from './setter-context.ts';

/** Port of the kubelet's API. */
const kubeletPort = 10_250;
const versions = {
  kernelVersion: '6.12.0-hollow',
  osImage: 'Hollow Linux',
  containerRuntimeVersion: 'hollow://1.0.0',
  kubeletVersion: 'v1.37.0-hollow',
  kubeProxyVersion: '',
} as const;
const bytesPerMiB = 1_024 * 1_024;
const daemonEndpoints = { kubeletEndpoint: { Port: kubeletPort } };

/** One address as an InternalIP, the hostname, and the capacity (kubelet setters `NodeAddress`, `MachineInfo`). */
const machineInfo: StatusSetter = (node, { machine, nodeName }) => {
  const description = machine.describe();
  const addresses = [
    { type: 'InternalIP', address: description.address },
    { type: 'Hostname', address: nodeName },
  ];
  return mergeStatus(node, { addresses, daemonEndpoints, ...buildCapacity(node, description) });
};

/** Capacity and allocatable, which are equal here (kubelet setter `MachineInfo`). Entries of other clients stay. */
function buildCapacity(
  { status = {} }: Node,
  { cpuCores, memoryMiB, ephemeralStorageMiB, podsMax }: Machine,
): Pick<NonNullable<Node['status']>, 'capacity' | 'allocatable'> {
  const capacity = {
    ...status.capacity,
    cpu: String(cpuCores),
    'ephemeral-storage': storageQuantity(ephemeralStorageMiB),
    memory: memoryQuantity(memoryMiB),
    pods: String(podsMax),
  };
  return { capacity, allocatable: { ...status.allocatable, ...capacity } };
}

/** The shortest exact form, as the API server writes it back. */
export function memoryQuantity(mebibytes: number): string {
  return formatBinary(mebibytes * bytesPerMiB);
}

/** Kubelet 1.37 reports ephemeral storage without powers of 1024. */
export function storageQuantity(mebibytes: number): string {
  return formatDecimal(mebibytes * bytesPerMiB);
}

/** A boot id that differs from the stored one is a reboot. */
const nodeInfo: StatusSetter = (node, context) => {
  const { machine, platform } = context;
  recordReboot(node, context);
  const info = {
    machineID: `machine-${machine.name}`,
    systemUUID: `system-${machine.name}`,
    bootID: machine.bootId,
    ...versions,
    operatingSystem: platform.os,
    architecture: platform.architecture,
  };
  const known = node.status?.nodeInfo ?? {};
  if (coversJson(known, info)) return node;
  // API servers before 1.37 drop this field: on its own it is no change, which would be written each time.
  return mergeStatus(node, { nodeInfo: { ...known, ...info, runningInUserNamespace: false } });
};

function recordReboot(node: Node, { machine, nodeName, memory, recordEvent }: SetterContext): void {
  const { bootId } = machine;
  const stored = node.status?.nodeInfo?.bootID ?? '';
  if (stored === '' || stored === bootId || memory.rebootReported) return;
  recordEvent('Warning', 'Rebooted', `Node ${nodeName} has been rebooted, boot id: ${bootId}`);
  memory.rebootReported = true;
}

/** Changes nothing: records an Event when the node becomes unschedulable or schedulable. */
const schedulable: StatusSetter = (node, { memory, recordEvent }) => {
  const unschedulable = node.spec?.unschedulable === true;
  if (unschedulable === memory.unschedulable) return node;
  memory.unschedulable = unschedulable;
  recordEvent('Normal', unschedulable ? 'NodeNotSchedulable' : 'NodeSchedulable');
  return node;
};

/**
 * The chain, in an order that clients rely on: machine facts, pressures, forced conditions, and Ready as the last
 * condition (kubelet `defaultNodeStatusFuncs`).
 */
export const statusSetters: readonly StatusSetter[] = [
  machineInfo,
  nodeInfo,
  memoryPressure,
  diskPressure,
  pidPressure,
  customConditions,
  ready,
  schedulable,
];
