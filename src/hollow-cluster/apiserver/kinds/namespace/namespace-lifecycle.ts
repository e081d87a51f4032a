/** Namespace checks for namespaced objects (upstream admission plugin `NamespaceLifecycle`). */
import type { VersionedStore } from '../../storage/versioned-store.ts';
import { forbidden, notFound } from '../../api-errors/api-errors.ts';
import { resourceName, type Target } from '../../registry/request-target.ts';

/** Created at startup. */
export const initialNamespaces: readonly string[] = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];
const undeletable: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public']);

const namespaces = { group: '', name: 'namespaces' } as const;

/** Throws 404 if the namespace does not exist and 403 while it is being deleted. */
export function assertNamespaceAccepts(target: Target, name: string, store: VersionedStore): void {
  const { namespace } = target;
  if (namespace === undefined) return;
  const found = store.get('namespaces', namespace);
  if (found === undefined) throw notFound(namespaces, namespace);
  if (found.fields['status.phase'] !== 'Terminating' && found.content.metadata.deletionTimestamp === undefined) {
    return;
  }
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const message = `namespace ${namespace} is being terminated`;
  const cause = { reason: 'NamespaceTerminating', message, field: 'metadata.namespace' };
  throw forbidden(resourceName(target), name, why, [cause]);
}

/** Throws 403 for system namespaces. */
export function assertNamespaceDeletable(target: Target): void {
  const { served, name = '' } = target;
  if (served.kind !== 'Namespace' || !undeletable.has(name)) return;
  throw forbidden(namespaces, name, 'this namespace may not be deleted');
}
