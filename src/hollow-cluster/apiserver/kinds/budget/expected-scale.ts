/** Replicas that the controllers of pods want in total (upstream `DisruptionController.getExpectedScale`). */
import type { StoredObject } from '../../storage/stored-object.ts';
import type { VersionedStore } from '../../storage/versioned-store.ts';
import { type ControllerRef, factsOf } from '../../controllers/object-facts.ts';

/** Tables of the kinds that have a scale, by kind and group. */
const tablesByKind: ReadonlyMap<string, string> = new Map([
  ['apps/Deployment', 'deployments.apps'],
  ['apps/ReplicaSet', 'replicasets.apps'],
  ['apps/StatefulSet', 'statefulsets.apps'],
  ['/ReplicationController', 'replicationcontrollers'],
]);

export const scaleTables: readonly string[] = [...tablesByKind.values()];

/** Pods without a controller are not counted. One whose controller has no scale, or is gone, makes the sum unknown. */
export function expectedScale(
  store: VersionedStore,
  pods: readonly StoredObject[],
): number | { readonly error: string } {
  const scales = new Map<string, number>();
  const seen = new Set<string>();
  for (const pod of pods) {
    const owner = factsOf(pod).controller;
    if (owner === undefined || seen.has(owner.uid)) continue;
    seen.add(owner.uid);
    const table = tablesByKind.get(`${owner.group}/${owner.kind}`);
    if (table === undefined) return { error: `${describe(owner)} does not implement the scale subresource` };
    const scaled = topmost(store, pod.namespace, owner, table);
    if (scaled === undefined) return { error: `found no controllers for pod ${JSON.stringify(pod.name)}` };
    scales.set(scaled.uid, factsOf(scaled).replicas);
  }
  return [...scales.values()].reduce((sum, replicas) => sum + replicas, 0);
}

/** The owner, or the Deployment of a ReplicaSet. */
function topmost(
  store: VersionedStore,
  namespace: string,
  owner: ControllerRef,
  table: string,
): StoredObject | undefined {
  const found = store.get(table, `${namespace}/${owner.name}`);
  if (found?.uid !== owner.uid) return undefined;
  const above = factsOf(found).controller;
  if (above?.kind !== 'Deployment') return found;
  const deployment = store.get('deployments.apps', `${namespace}/${above.name}`);
  return deployment?.uid === above.uid ? deployment : undefined;
}

function describe({ group, kind }: ControllerRef): string {
  const plural = `${kind.toLowerCase()}s`;
  return group === '' ? plural : `${plural}.${group}`;
}
