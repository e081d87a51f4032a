import type { KubeObject } from '../api/meta.ts';
import type { Node } from '../api/node.ts';
import type { Pod } from '../api/pod.ts';
import type { ResourceName } from '../api/resources.ts';
import { SharedInformer, type SharedInformerOptions } from '../informer/shared-informer.ts';
import { indexByNode, nodeIndex } from './pod-config/pod-router.ts';

/** What an informer needs beyond saying what it keeps. */
export type InformerMeans = Pick<
  SharedInformerOptions<KubeObject, KubeObject>,
  'api' | 'clock' | 'random' | 'logger' | 'meter'
>;

/** All pods as they are on the wire but for their managed fields, found by the node they are bound to. */
export function podInformer(means: InformerMeans): SharedInformer<Pod, Pod> {
  return rawInformer<Pod>('pods', { ...means, indexes: { [nodeIndex]: indexByNode } });
}

/** All nodes, likewise. */
export function nodeInformer(means: InformerMeans): SharedInformer<Node, Node> {
  return rawInformer<Node>('nodes', means);
}

function rawInformer<T extends KubeObject>(
  resource: ResourceName,
  means: InformerMeans & Pick<SharedInformerOptions<T, T>, 'indexes'>,
): SharedInformer<T, T> {
  return new SharedInformer<T, T>({
    ...means,
    resource,
    view: withoutManagedFields,
    identity: ({ metadata }) => ({ uid: metadata.uid ?? '', resourceVersion: metadata.resourceVersion ?? '' }),
  });
}

/** Nobody here asks who wrote what, and it is a third of a node. */
function withoutManagedFields<T extends KubeObject>(object: T): T {
  const { managedFields: _, ...metadata }: KubeObject['metadata'] & { readonly managedFields?: unknown } =
    object.metadata;
  return { ...object, metadata };
}
