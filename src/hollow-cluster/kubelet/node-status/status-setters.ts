import { coversJson } from '../../../machinery/api/json-values.ts';
import type { Node } from '../../../machinery/api/node.ts';
import { buildAddresses, buildCapacity } from './build-machine-info.ts';
import { customConditions, diskPressure, memoryPressure, pidPressure, ready } from './condition-setters.ts';
import { mergeStatus, type SetterContext, type StatusSetter } from './setter-context.ts';

/** Port of the kubelet's API. */
const kubeletPort = 10_250;
const versions = {
  kernelVersion: '6.12.0-hollow',
  osImage: 'Hollow Linux',
  containerRuntimeVersion: 'hollow://1.0.0',
  kubeletVersion: 'v1.36.0-hollow',
  kubeProxyVersion: '',
} as const;
const daemonEndpoints = { kubeletEndpoint: { Port: kubeletPort } };

const machineInfo: StatusSetter = (node, { machine, nodeName }) => {
  const description = machine.describe();
  const addresses = buildAddresses(description, nodeName);
  return mergeStatus(node, { addresses, daemonEndpoints, ...buildCapacity(node, description) });
};

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
  return coversJson(known, info) ? node : mergeStatus(node, { nodeInfo: { ...known, ...info } });
};

function recordReboot(node: Node, { machine, nodeName, memory, recordEvent }: SetterContext): void {
  const { bootId } = machine;
  const stored = node.status?.nodeInfo?.['bootID'] ?? '';
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
