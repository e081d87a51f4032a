/** Namespaces as seen by what lives in them (upstream admission plugin `NamespaceLifecycle`). */
import { decodeDraft } from '../storage/stored-object.ts';
import type { VersionedStore } from '../storage/versioned-store.ts';
import { forbidden, notFound } from './refusals.ts';
import { resourceName, type Target } from './request-target.ts';

/** There from the start. */
export const initialNamespaces: readonly string[] = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];
const immortal: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public']);

const namespaces = { group: '', name: 'namespaces' } as const;

/** Throws 404 where the namespace does not exist and 403 while it is being deleted. */
export function assertNamespaceAccepts(target: Target, name: string, store: VersionedStore): void {
  const { namespace } = target;
  if (namespace === undefined) return;
  const found = store.get('namespaces', namespace);
  if (found === undefined) throw notFound(namespaces, namespace);
  if (found.fields['status.phase'] !== 'Terminating' && decodeDraft(found).metadata.deletionTimestamp === undefined) {
    return;
  }
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const cause = {
    reason: 'NamespaceTerminating',
    message: `namespace ${namespace} is being terminated`,
    field: 'metadata.namespace',
  };
  throw forbidden(resourceName(target), name, why, [cause]);
}

/** Throws 403 for those that hold the cluster together. */
export function assertNamespaceMortal(target: Target): void {
  const { strategy, name = '' } = target;
  if (strategy.kind !== 'Namespace' || !immortal.has(name)) return;
  throw forbidden(namespaces, name, 'this namespace may not be deleted');
}
