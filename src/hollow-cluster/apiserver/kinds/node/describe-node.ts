import type { JsonMap } from '../../../../machinery/api/json-map.ts';
import { mapAt, mapsAt, textAt, valueAt } from '../../../../machinery/api/select-field.ts';
import { ageColumn, column, nameColumn, type PrintedColumn, wideColumn } from '../../printing/describe-columns.ts';

const rolePrefix = 'node-role.kubernetes.io/';
const roleLabel = 'kubernetes.io/role';

/** Nodes (upstream `printNode`). */
export const nodeColumns: readonly PrintedColumn[] = [
  nameColumn,
  column('Status', 'Whether the node is ready, and whether it is schedulable.', describeStatus),
  column('Roles', 'Roles of the node, from its labels.', (node) => describeRoles(mapAt(node, 'metadata', 'labels'))),
  ageColumn,
  column('Version', 'Version of the kubelet on the node.', (node) => infoOf(node, 'kubeletVersion')),
  wideColumn('Internal-IP', 'First internal IP address of the node.', (node) => addressOf(node, 'InternalIP')),
  wideColumn('External-IP', 'First external IP address of the node.', (node) => addressOf(node, 'ExternalIP')),
  wideColumn('OS-Image', 'Operating system of the node.', (node) => infoOf(node, 'osImage') || '<unknown>'),
  wideColumn('Kernel-Version', 'Kernel version and architecture of the node.', (node) => {
    const [kernel, architecture] = [infoOf(node, 'kernelVersion') || '<unknown>', infoOf(node, 'architecture')];
    return architecture === '' ? kernel : `${kernel} (${architecture})`;
  }),
  wideColumn('Container-Runtime', 'Name and version of the container runtime.', (node) => {
    return infoOf(node, 'containerRuntimeVersion') || '<unknown>';
  }),
];

function infoOf(node: JsonMap, field: string): string {
  return textAt(node, 'status', 'nodeInfo', field);
}

/** Ready=Unknown prints as NotReady: only a node without a Ready condition prints as Unknown. */
function describeStatus(node: JsonMap): string {
  const ready = mapsAt(node, 'status', 'conditions').findLast((condition) => textAt(condition, 'type') === 'Ready');
  const words = [ready === undefined ? 'Unknown' : textAt(ready, 'status') === 'True' ? 'Ready' : 'NotReady'];
  if (valueAt(node, 'spec', 'unschedulable') === true) words.push('SchedulingDisabled');
  return words.join(',');
}

function describeRoles(labels: JsonMap): string {
  const named = Object.keys(labels)
    .filter((key) => key.startsWith(rolePrefix))
    .map((key) => key.slice(rolePrefix.length));
  const roles = new Set([...named, textAt(labels, roleLabel)].filter((role) => role !== ''));
  return [...roles].sort().join(',') || '<none>';
}

function addressOf(node: JsonMap, type: string): string {
  const found = mapsAt(node, 'status', 'addresses').find((address) => textAt(address, 'type') === type);
  return found === undefined ? '<none>' : textAt(found, 'address');
}
