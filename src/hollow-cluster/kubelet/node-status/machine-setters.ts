import type { Node } from '../../../machinery/api/node.ts';
import { coversJson } from '../../../machinery/api/json-values.ts';
import { buildAddresses, buildCapacity, buildImages } from './build-machine-info.ts';
import { mergeStatus, type SetterContext, type StatusSetter, withoutField } from './setter-context.ts';

/** Set only by a kubelet with a built-in cloud provider. */
const providedAddressAnnotation = 'alpha.kubernetes.io/provided-node-ip';
/** Of the kubelet's API. */
const kubeletPort = 10_250;
const kernelVersion = '6.12.0-hollow';
const osImage = 'Hollow Linux';
const runtimeType = 'hollow';
const runtimeVersion = '1.0.0';
const kubeletVersions = { 'v1.8': 'v1.8.0-hollow', 'v1.36': 'v1.36.0-hollow' } as const;

const nodeAddress: StatusSetter = {
  name: 'NodeAddress',
  set(node, { machine, nodeName, profile, report }) {
    const stored = node.status?.addresses ?? [];
    if (profile.externalCloudProvider && stored.length > 0) return withoutProvidedAddress(node);
    if (machine.fails('addresses')) {
      report(`can't get ip address of node ${nodeName}. error: no address`);
      return node;
    }
    const addresses = machine.addresses ?? buildAddresses(machine.describe(), nodeName);
    return withoutProvidedAddress(mergeStatus(node, { addresses }));
  },
};

const machineInfo: StatusSetter = {
  name: 'MachineInfo',
  set(node, context) {
    const { machine, profile, report } = context;
    const description = machine.describe();
    const fails = machine.fails('machine-info');
    if (fails) report('Error getting machine info');
    const described = fails ? node : withMachineIds(node, context);
    const capacity = buildCapacity(described, {
      machine: fails ? undefined : description,
      podsMax: description.podsMax,
      podsPerCore: profile.podsPerCore,
      extended: machine.extendedResources,
    });
    return mergeStatus(described, capacity);
  },
};

/**
 * A boot id that differs from the stored one is a reboot. Kubelet v1.8 repeats the Event until the status is written.
 */
function withMachineIds(node: Node, context: SetterContext): Node {
  const { machine, nodeName, memory, profile, recordNodeEvent } = context;
  const { bootId } = machine;
  const stored = node.status?.nodeInfo?.['bootID'] ?? '';
  if (stored !== '' && stored !== bootId && (profile.kind === 'v1.8' || !memory.rebootReported)) {
    recordNodeEvent('Warning', 'Rebooted', `Node ${nodeName} has been rebooted, boot id: ${bootId}`);
    memory.rebootReported = true;
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
      kubeProxyVersion: profile.kind === 'v1.8' ? kubeletVersion : '',
    });
  },
};

const daemonEndpoints = { kubeletEndpoint: { Port: kubeletPort } };
const setDaemonEndpoints: StatusSetter = {
  name: 'DaemonEndpoints',
  set: (node) => mergeStatus(node, { daemonEndpoints }),
};

const images: StatusSetter = {
  name: 'Images',
  set(node, { machine, profile, report }) {
    if (machine.fails('images')) {
      report('error getting image list');
      return withoutField(node, 'images');
    }
    const listed = buildImages(machine.describe().images ?? [], profile.nodeStatusMaxImages);
    return listed.length === 0 ? withoutField(node, 'images') : mergeStatus(node, { images: listed });
  },
};

const goRuntime: StatusSetter = {
  name: 'GoRuntime',
  set: (node, { platform }) =>
    withNodeInfo(node, { operatingSystem: platform.os, architecture: platform.architecture }),
};

const runtimeHandlers = described('RuntimeHandlers', 'runtimeHandlers');
const nodeFeatures = described('NodeFeatures', 'features');

/** Runs after all others: features that pods may rely on (kubelet `setNodeStatus`). */
export const declaredFeatures = described('DeclaredFeatures', 'declaredFeatures');

/** Machine facts, in the order in which they are set. */
export const machineSetters: Readonly<Record<'v1.8' | 'v1.36', readonly StatusSetter[]>> = {
  'v1.8': [nodeAddress, machineInfo, versionInfo, setDaemonEndpoints, images, goRuntime],
  'v1.36': [
    nodeAddress,
    machineInfo,
    versionInfo,
    setDaemonEndpoints,
    images,
    goRuntime,
    runtimeHandlers,
    nodeFeatures,
  ],
};

/** Sets a field of the status to that of the machine's description, if it has one. */
function described(name: string, field: 'runtimeHandlers' | 'features' | 'declaredFeatures'): StatusSetter {
  return {
    name,
    set(node, { machine }) {
      const value = machine.describe()[field];
      return value === undefined ? node : mergeStatus(node, { [field]: value });
    },
  };
}

function withNodeInfo(node: Node, info: Readonly<Record<string, string>>): Node {
  const known = node.status?.nodeInfo ?? {};
  return coversJson(known, info) ? node : mergeStatus(node, { nodeInfo: { ...known, ...info } });
}

function withoutProvidedAddress(node: Node): Node {
  if (node.metadata.annotations?.[providedAddressAnnotation] === undefined) return node;
  const { [providedAddressAnnotation]: _, ...annotations } = node.metadata.annotations;
  return { ...node, metadata: { ...node.metadata, annotations } };
}
