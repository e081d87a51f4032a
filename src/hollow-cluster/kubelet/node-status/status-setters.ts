import { coversJson } from '../../../machinery/api/json-values.ts';
import type { Node } from '../../../machinery/api/node.ts';
import { buildAddresses, buildCapacity, buildImages } from './build-machine-info.ts';
import { customConditions, diskPressure, memoryPressure, outOfDisk, pidPressure, ready } from './condition-setters.ts';
import { mergeStatus, type SetterContext, type StatusSetter, withoutField } from './setter-context.ts';

/** Set only by a kubelet with a built-in cloud provider. */
const providedAddressAnnotation = 'alpha.kubernetes.io/provided-node-ip';
/** Port of the kubelet's API. */
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
const declaredFeatures = described('DeclaredFeatures', 'declaredFeatures');

/** Machine facts, in the order in which they are set. */
const machineSetters: Readonly<Record<'v1.8' | 'v1.36', readonly StatusSetter[]>> = {
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

/**
 * Written only after the volumes in use are known: a kubelet that just started would remove entries that it has yet to
 * find.
 */
const volumesInUse: StatusSetter = {
  name: 'VolumesInUse',
  set(node, { volumes }) {
    if (!volumes.hasSynced()) return node;
    const inUse = volumes.volumesInUse();
    return inUse.length === 0 ? withoutField(node, 'volumesInUse') : mergeStatus(node, { volumesInUse: inUse });
  },
};

/** Changes nothing: records an Event when the node becomes unschedulable or schedulable. */
const schedulable: StatusSetter = {
  name: 'Schedulable',
  set(node, { memory, recordNodeStatusEvent }) {
    const unschedulable = node.spec?.unschedulable === true;
    if (unschedulable === memory.unschedulable) return node;
    memory.unschedulable = unschedulable;
    recordNodeStatusEvent('Normal', unschedulable ? 'NodeNotSchedulable' : 'NodeSchedulable');
    return node;
  },
};

const chains: Readonly<Record<'v1.8' | 'v1.36', readonly StatusSetter[]>> = {
  'v1.8': [
    ...machineSetters['v1.8'],
    outOfDisk,
    memoryPressure,
    diskPressure,
    customConditions,
    ready,
    volumesInUse,
    schedulable,
  ],
  'v1.36': [
    ...machineSetters['v1.36'],
    memoryPressure,
    diskPressure,
    pidPressure,
    customConditions,
    ready,
    volumesInUse,
    schedulable,
    declaredFeatures,
  ],
};

/**
 * The chain, in an order that clients rely on: machine facts, pressures, custom conditions (forced ones and `extra`),
 * Ready as the last condition, then what is not a condition (kubelet `defaultNodeStatusFuncs`). Throws a RangeError for
 * a custom setter whose `before` names no setter.
 */
export function statusSetters(
  kind: 'v1.8' | 'v1.36' = 'v1.36',
  extra: readonly StatusSetter[] = [],
): readonly StatusSetter[] {
  if (extra.length === 0) return chains[kind];
  const chain = [...chains[kind]];
  for (const setter of extra) {
    const anchor = setter.before ?? 'Ready';
    const index = chain.findIndex(({ name }) => name === anchor);
    if (index < 0) throw new RangeError(`status setter: before must name a setter of the chain (got ${anchor})`);
    chain.splice(index, 0, setter);
  }
  return chain;
}

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
