import type { Node } from '../../api/node.ts';
import type { Machine } from '../profile.ts';

/** Name as in the API, then the value. */
type Quantities = Readonly<Record<string, string>>;

const binarySuffixes = ['Mi', 'Gi', 'Ti', 'Pi'] as const;

/** The node's addresses (kubelet setter `NodeAddress`). */
export function deriveAddresses(node: Node, machine: Machine): Node {
  const addresses = [
    { type: 'InternalIP', address: machine.address },
    { type: 'Hostname', address: node.metadata.name ?? '' },
  ];
  return { ...node, status: { ...node.status, addresses } };
}

/** Capacity and allocatable (kubelet setter `MachineInfo`). Nothing is reserved; what others put there stays. */
export function deriveCapacity(node: Node, machine: Machine): Node {
  const capacity: Quantities = {
    cpu: String(machine.cpuCores),
    'ephemeral-storage': binaryQuantity(machine.ephemeralStorageMiB),
    memory: binaryQuantity(machine.memoryMiB),
    pods: String(machine.podsMax),
  };
  return {
    ...node,
    status: {
      ...node.status,
      capacity: { ...node.status?.capacity, ...capacity },
      allocatable: { ...node.status?.allocatable, ...capacity },
    },
  };
}

/** What runs on the node (kubelet setter `VersionInfo`). The ids are the name's: a restart is no reboot. */
export function deriveVersionInfo(node: Node): Node {
  const name = node.metadata.name ?? '';
  const nodeInfo = {
    machineID: `machine-${name}`,
    systemUUID: `system-${name}`,
    bootID: `boot-${name}`,
    kernelVersion: '6.12.0-hollow',
    osImage: 'Hollow Linux',
    containerRuntimeVersion: 'hollow://1.0.0',
    kubeletVersion: 'v1.36.0-hollow',
    kubeProxyVersion: '',
    operatingSystem: 'linux',
    architecture: 'amd64',
  };
  return { ...node, status: { ...node.status, nodeInfo: { ...node.status?.nodeInfo, ...nodeInfo } } };
}

/** The shortest exact form, as the API server writes it back: anything else would look changed for ever. */
export function binaryQuantity(mebibytes: number): string {
  let value = mebibytes;
  let suffix = 0;
  while (value > 0 && value % 1_024 === 0 && suffix < binarySuffixes.length - 1) {
    value /= 1_024;
    suffix += 1;
  }
  return value === 0 ? '0' : `${value}${binarySuffixes[suffix]}`;
}
