/** All objects for the table printers, in the order in which they are created. */
import {
  apiVersionOf,
  type ServedResource,
  servedResources,
} from '../../../../src/hollow-cluster/apiserver/resources.ts';
import { clusterObjects } from './cluster-objects.ts';
import { nodesAndWorkloads } from './nodes-and-workloads.ts';
import type { PrintedObject } from './printed-object.ts';

export const printedObjects: readonly PrintedObject[] = [...nodesAndWorkloads, ...clusterObjects];

/** The resources of these objects, with the path of their collections. Those of the other kinds have name and age only. */
export const printedResources: readonly { readonly path: string; readonly served: ServedResource }[] = servedResources
  .map((served) => ({ path: pathOf(served), served }))
  .filter(({ path }) => printedObjects.some((object) => path === object.path.replace(/\/namespaces\/[^/]+(?=\/)/, '')));

function pathOf(served: ServedResource): string {
  return `${served.group === '' ? '/api' : '/apis'}/${apiVersionOf(served)}/${served.plural}`;
}
