/** Replicas that the controllers of pods want in total (upstream `DisruptionController.getExpectedScale`). */
import { mapsAt, numberAt, textAt } from '../select-field.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { VersionedStore } from '../storage/versioned-store.ts';

/** Tables of the kinds that have a scale, by kind and group. */
const tablesByKind: ReadonlyMap<string, string> = new Map([
  ['apps/Deployment', 'deployments.apps'],
  ['apps/ReplicaSet', 'replicasets.apps'],
  ['apps/StatefulSet', 'statefulsets.apps'],
  ['/ReplicationController', 'replicationcontrollers'],
]);

export const scaleTables: readonly string[] = [...tablesByKind.values()];

interface Owner {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** Pods without a controller are not counted. One whose controller has no scale, or is gone, makes the sum unknown. */
export function expectedScale(
  store: VersionedStore,
  pods: readonly StoredObject[],
): number | { readonly error: string } {
  const scales = new Map<string, number>();
  const seen = new Set<string>();
  for (const pod of pods) {
    const owner = controllerOf(pod);
    if (owner === undefined || seen.has(owner.uid)) continue;
    seen.add(owner.uid);
    const table = tablesByKind.get(`${owner.group}/${owner.kind}`);
    if (table === undefined) return { error: `${describe(owner)} does not implement the scale subresource` };
    const scaled = topmost(store, pod.namespace, owner, table);
    if (scaled === undefined) return { error: `found no controllers for pod ${JSON.stringify(pod.name)}` };
    scales.set(scaled.uid, numberAt(scaled.content, 'spec', 'replicas'));
  }
  return [...scales.values()].reduce((sum, replicas) => sum + replicas, 0);
}

/** The owner, or the Deployment of a ReplicaSet. */
function topmost(store: VersionedStore, namespace: string, owner: Owner, table: string): StoredObject | undefined {
  const found = store.get(table, `${namespace}/${owner.name}`);
  if (found?.uid !== owner.uid) return undefined;
  const above = controllerOf(found);
  if (above?.kind !== 'Deployment') return found;
  const deployment = store.get('deployments.apps', `${namespace}/${above.name}`);
  return deployment?.uid === above.uid ? deployment : undefined;
}

function controllerOf({ content }: StoredObject): Owner | undefined {
  const found = mapsAt(content, 'metadata', 'ownerReferences').find(({ controller }) => controller === true);
  if (found === undefined) return undefined;
  const [group, version] = textAt(found, 'apiVersion').split('/');
  const [kind, name, uid] = [textAt(found, 'kind'), textAt(found, 'name'), textAt(found, 'uid')];
  return { group: version === undefined ? '' : (group ?? ''), kind, name, uid };
}

function describe({ group, kind }: Owner): string {
  const plural = `${kind.toLowerCase()}s`;
  return group === '' ? plural : `${plural}.${group}`;
}
