/** All objects for the table printers, in the order in which they are created. */
import { clusterObjects } from './cluster-objects.ts';
import { moreWorkloads } from './more-workloads.ts';
import { networkObjects } from './network-objects.ts';
import { nodesAndWorkloads } from './nodes-and-workloads.ts';
import type { PrintedObject } from './printed-object.ts';
import { storageObjects } from './storage-objects.ts';

export const printedObjects: readonly PrintedObject[] = [
  ...nodesAndWorkloads,
  ...moreWorkloads,
  ...networkObjects,
  ...storageObjects,
  ...clusterObjects,
];
