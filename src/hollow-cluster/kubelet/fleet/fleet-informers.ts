import type { KubeObject } from '../../../machinery/api/meta.ts';
import type { Node } from '../../../machinery/api/node.ts';
import type { Pod } from '../../../machinery/api/pod.ts';
import type { ResourceName } from '../../../machinery/api/resources.ts';
import { SharedInformer, type SharedInformerOptions } from '../../../machinery/informer/shared-informer.ts';
import { indexByNode, nodeIndex } from '../pod-config/pod-router.ts';

/** The options of an informer apart from its resource. */
type InformerDependencies = Pick<
  SharedInformerOptions<KubeObject, KubeObject>,
  'api' | 'clock' | 'random' | 'logger' | 'meter'
>;

/** All pods in full except for their managed fields, indexed by node name. */
export function podInformer(dependencies: InformerDependencies): SharedInformer<Pod, Pod> {
  return rawInformer<Pod>('pods', { ...dependencies, indexes: { [nodeIndex]: indexByNode } });
}

/** All nodes, likewise. */
export function nodeInformer(dependencies: InformerDependencies): SharedInformer<Node, Node> {
  return rawInformer<Node>('nodes', dependencies);
}

function rawInformer<T extends KubeObject>(
  resource: ResourceName,
  dependencies: InformerDependencies & Pick<SharedInformerOptions<T, T>, 'indexes'>,
): SharedInformer<T, T> {
  return new SharedInformer<T, T>({
    ...dependencies,
    resource,
    transform: withoutManagedFields,
    identity: ({ metadata }) => ({ uid: metadata.uid ?? '', resourceVersion: metadata.resourceVersion ?? '' }),
  });
}

/** The managed fields are not used here, and they are a third of a node's size. */
function withoutManagedFields<T extends KubeObject>(object: T): T {
  const { managedFields: _, ...metadata }: KubeObject['metadata'] & { readonly managedFields?: unknown } =
    object.metadata;
  return { ...object, metadata };
}
