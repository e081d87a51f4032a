import type { Node } from '../../api/node.ts';
import { deriveAddresses, deriveCapacity, deriveImages } from './derive-machine-info.ts';
import type { SetterContext, StatusSetter } from './setter-context.ts';

/** Only a cloud provider of the kubelet's own would leave it. */
const providedAddressAnnotation = 'alpha.kubernetes.io/provided-node-ip';
const kubeletPort = 10_250;
const kernelVersion = '6.12.0-hollow';
const osImage = 'Hollow Linux';
const runtimeType = 'hollow';
const runtimeVersion = '1.0.0';
const kubeletVersions = { classic: 'v1.8.0-hollow', modern: 'v1.36.0-hollow' } as const;

const nodeAddress: StatusSetter = {
  name: 'NodeAddress',
  set(node, { machine, nodeName, profile, report }) {
    const stored = node.status?.addresses ?? [];
    if (profile.externalCloudProvider && stored.length > 0) return withoutProvidedAddress(node);
    if (machine.fails('addresses')) {
      report(`can't get ip address of node ${nodeName}. error: no address`);
      return node;
    }
    const addresses = machine.addresses ?? deriveAddresses(machine.describe(), nodeName);
    return withoutProvidedAddress({ ...node, status: { ...node.status, addresses } });
  },
};

const machineInfo: StatusSetter = {
  name: 'MachineInfo',
  set(node, context) {
    const { machine, profile, report } = context;
    const description = machine.describe();
    const fails = machine.fails('machine-info');
    if (fails) report('Error getting machine info');
    const told = fails ? node : tellMachine(node, context);
    return deriveCapacity(told, {
      machine: fails ? undefined : description,
      podsMax: description.podsMax,
      podsPerCore: profile.podsPerCore,
      extended: machine.extendedResources,
    });
  },
};

/** Another boot id than the stored one is a reboot. Kubelets of old told of it until the status had arrived. */
function tellMachine(node: Node, context: SetterContext): Node {
  const { machine, nodeName, memory, profile, recordNodeEvent } = context;
  const { bootId } = machine;
  const stored = node.status?.nodeInfo?.['bootID'] ?? '';
  if (stored !== '' && stored !== bootId && (profile.kind === 'classic' || !memory.toldReboot)) {
    recordNodeEvent('Warning', 'Rebooted', `Node ${nodeName} has been rebooted, boot id: ${bootId}`);
    memory.toldReboot = true;
  }
  const machineID = `machine-${machine.name}`;
  const systemUUID = `system-${machine.name}`;
  return withNodeInfo(node, { machineID, systemUUID, bootID: bootId });
}

const versionInfo: StatusSetter = {
  name: 'VersionInfo',
  set(node, { machine, profile, report }) {
    if (machine.fails('version-info')) {
      report('error getting version info');
      return node;
    }
    const kubeletVersion = kubeletVersions[profile.kind];
    return withNodeInfo(node, {
      kernelVersion,
      osImage,
      containerRuntimeVersion: `${runtimeType}://${machine.fails('runtime-version') ? 'Unknown' : runtimeVersion}`,
      kubeletVersion,
      kubeProxyVersion: profile.kind === 'classic' ? kubeletVersion : '',
    });
  },
};

const daemonEndpoints: StatusSetter = {
  name: 'DaemonEndpoints',
  set: (node) => ({
    ...node,
    status: { ...node.status, daemonEndpoints: { kubeletEndpoint: { Port: kubeletPort } } },
  }),
};

const images: StatusSetter = {
  name: 'Images',
  set(node, { machine, profile, report }) {
    const { images: _, ...status } = node.status ?? {};
    if (machine.fails('images')) {
      report('error getting image list');
      return { ...node, status };
    }
    const listed = deriveImages(machine.describe().images ?? [], profile.nodeStatusMaxImages);
    return { ...node, status: listed.length === 0 ? status : { ...status, images: listed } };
  },
};

const goRuntime: StatusSetter = {
  name: 'GoRuntime',
  set: (node, { platform }) =>
    withNodeInfo(node, { operatingSystem: platform.os, architecture: platform.architecture }),
};

const runtimeHandlers: StatusSetter = {
  name: 'RuntimeHandlers',
  set(node, { machine }) {
    const { runtimeHandlers: handlers } = machine.describe();
    return handlers === undefined ? node : { ...node, status: { ...node.status, runtimeHandlers: handlers } };
  },
};

const nodeFeatures: StatusSetter = {
  name: 'NodeFeatures',
  set(node, { machine }) {
    const { features } = machine.describe();
    return features === undefined ? node : { ...node, status: { ...node.status, features } };
  },
};

/** After all others: what pods may rely on (kubelet `setNodeStatus`). */
export const declaredFeatures: StatusSetter = {
  name: 'DeclaredFeatures',
  set(node, { machine }) {
    const { declaredFeatures: declared } = machine.describe();
    return declared === undefined ? node : { ...node, status: { ...node.status, declaredFeatures: declared } };
  },
};

/** What the machine is, in the order in which it is told. */
export const machineSetters: Readonly<Record<'classic' | 'modern', readonly StatusSetter[]>> = {
  classic: [nodeAddress, machineInfo, versionInfo, daemonEndpoints, images, goRuntime],
  modern: [nodeAddress, machineInfo, versionInfo, daemonEndpoints, images, goRuntime, runtimeHandlers, nodeFeatures],
};

function withNodeInfo(node: Node, info: Readonly<Record<string, string>>): Node {
  return { ...node, status: { ...node.status, nodeInfo: { ...node.status?.nodeInfo, ...info } } };
}

function withoutProvidedAddress(node: Node): Node {
  if (node.metadata.annotations?.[providedAddressAnnotation] === undefined) return node;
  const { [providedAddressAnnotation]: _, ...annotations } = node.metadata.annotations;
  return { ...node, metadata: { ...node.metadata, annotations } };
}
