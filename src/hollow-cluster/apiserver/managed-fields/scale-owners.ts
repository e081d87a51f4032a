/**
 * Moves ownership of the replicas between a scaled object and its Scale (upstream `managedfields/scalehandler.go`). Only that
 * field is common to both.
 */
import { FieldSet } from './field-set.ts';
import { isSameManager, lastOfEach, type ManagerEntry } from './manager-entry.ts';
import { fieldElement } from './path-element.ts';

export const scaleVersion = 'autoscaling/v1';

/** Path of the replicas, in a Scale and in all resources that have one. */
const replicasPath = ['spec', 'replicas'].map(fieldElement);
const replicas = FieldSet.of(replicasPath);

/** The owners of a Scale; `apiVersion` is that of the scaled object. */
export function toScaleOwners(owners: readonly ManagerEntry[], apiVersion: string): readonly ManagerEntry[] {
  return lastOfEach(owners)
    .filter((entry) => entry.apiVersion === apiVersion && entry.fields.has(replicasPath))
    .map((entry) => ({ ...entry, apiVersion: scaleVersion, fields: replicas }));
}

/**
 * The owners of the scaled object after a write of its Scale. As upstream, an updater is another manager in the version of the
 * Scale: it loses the replicas and receives them again in an entry without a time, even if others are those that changed them.
 */
export function fromScaleOwners(
  before: readonly ManagerEntry[],
  scale: readonly ManagerEntry[],
  apiVersion: string,
): readonly ManagerEntry[] {
  const known = lastOfEach(before).filter((entry) => entry.apiVersion === apiVersion);
  const kept = known.flatMap((entry) => {
    if (!entry.fields.has(replicasPath) || scale.some((other) => isSameManager(other, entry))) return [entry];
    const fields = entry.fields.difference(replicas);
    return fields.isEmpty ? [] : [{ ...entry, fields }];
  });
  const moved = scale.filter(
    ({ fields, ...entry }) =>
      fields.has(replicasPath) && !known.some((other) => isSameManager(other, { ...entry, fields })),
  );
  return [...kept, ...moved.map((entry) => ({ ...entry, apiVersion, fields: replicas, time: undefined }))];
}
