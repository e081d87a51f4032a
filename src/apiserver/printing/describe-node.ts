import type { PrintedRow, Printer } from './column.ts';
import { ageSince } from './describe-age.ts';
import { ageColumn, column, nameColumn, wideColumn } from './describe-columns.ts';
import { type Fields, fieldsAt, listAt, textAt, valueAt } from './derive-field.ts';

const rolePrefix = 'node-role.kubernetes.io/';
const roleLabel = 'kubernetes.io/role';

/** Nodes (upstream `printNode`). */
export const nodePrinter: Printer = {
  columns: [
    nameColumn,
    column('Status', 'Whether the node is ready, and whether new pods may be put on it.'),
    column('Roles', 'What the node is for, as its labels say.'),
    ageColumn,
    column('Version', 'Version of the kubelet on the node.'),
    wideColumn('Internal-IP', 'First address of the node inside the cluster.'),
    wideColumn('External-IP', 'First address of the node seen from outside.'),
    wideColumn('OS-Image', 'Operating system of the node.'),
    wideColumn('Kernel-Version', 'Kernel of the node and its architecture.'),
    wideColumn('Container-Runtime', 'Name and version of what runs the containers.'),
  ],
  print: describeNode,
};

function describeNode(node: Fields, nowMs: number): PrintedRow {
  const info = fieldsAt(node, 'status', 'nodeInfo');
  const architecture = textAt(info, 'architecture');
  const kernel = textAt(info, 'kernelVersion') || '<unknown>';
  return {
    cells: [
      textAt(node, 'metadata', 'name'),
      describeStatus(node),
      describeRoles(fieldsAt(node, 'metadata', 'labels')),
      ageSince(textAt(node, 'metadata', 'creationTimestamp'), nowMs),
      textAt(info, 'kubeletVersion'),
      addressOf(node, 'InternalIP'),
      addressOf(node, 'ExternalIP'),
      textAt(info, 'osImage') || '<unknown>',
      architecture === '' ? kernel : `${kernel} (${architecture})`,
      textAt(info, 'containerRuntimeVersion') || '<unknown>',
    ],
  };
}

/** A Ready condition of status Unknown prints as NotReady: only a node that has no such condition prints as Unknown. */
function describeStatus(node: Fields): string {
  const ready = listAt(node, 'status', 'conditions').findLast((condition) => textAt(condition, 'type') === 'Ready');
  const words = [ready === undefined ? 'Unknown' : textAt(ready, 'status') === 'True' ? 'Ready' : 'NotReady'];
  if (valueAt(node, 'spec', 'unschedulable') === true) words.push('SchedulingDisabled');
  return words.join(',');
}

function describeRoles(labels: Fields): string {
  const named = Object.keys(labels)
    .filter((key) => key.startsWith(rolePrefix))
    .map((key) => key.slice(rolePrefix.length));
  const roles = new Set([...named, textAt(labels, roleLabel)].filter((role) => role !== ''));
  return [...roles].sort().join(',') || '<none>';
}

function addressOf(node: Fields, type: string): string {
  const found = listAt(node, 'status', 'addresses').find((address) => textAt(address, 'type') === type);
  return found === undefined ? '<none>' : textAt(found, 'address');
}
