/**
 * Writes the replicas of an object through its subresource `scale` (upstream `ScaleREST`): the Scale and its owners are derived
 * from the object, changed as an object of their own, and what became of them is written to the object.
 */
import { formatTime } from '../../../../machinery/api/timestamps.ts';
import type { Clock } from '../../../../machinery/ports/clock.ts';
import { toWireForm } from '../../codec/wire-form.ts';
import { fromScaleOwners, scaleVersion, toScaleOwners } from '../../managed-fields/scale-owners.ts';
import type { ManagerEntry } from '../../managed-fields/manager-entry.ts';
import { apiVersionOf, type ServedResource } from '../../resources.ts';
import type { MutableJsonMap } from '../../select-field.ts';
import type { StoredObject } from '../../storage/stored-object.ts';
import { applyConfiguration, ownersAfterUpdate, shareOwners } from '../../registry/field-owners.ts';
import type { ApplyOptions, ObjectRegistry, WriteOptions } from '../../registry/object-registry.ts';
import type { Target } from '../../registry/request-target.ts';
import { buildScale, patchForScale } from './scale.ts';
import { alignNamespace, assertNamed } from '../../registry/typed-body.ts';

const subresource = 'scale';

/** A Scale as a resource. */
const served: ServedResource = {
  group: 'autoscaling',
  version: 'v1',
  kind: 'Scale',
  plural: 'scales',
  singular: 'scale',
  namespaced: true,
  shortNames: [],
  categories: [],
  verbs: [],
  subresources: [],
  review: false,
};

export class ScaleSubresource {
  readonly #registry: ObjectRegistry;
  readonly #clock: Clock;

  constructor(registry: ObjectRegistry, clock: Clock) {
    this.#registry = registry;
    this.#clock = clock;
  }

  /** Throws a 404 ApiError if the object does not exist. */
  get(target: Target): MutableJsonMap {
    return buildScale(this.#registry.get(target));
  }

  /** Writes a complete Scale; returns that of the object afterwards. Throws an ApiError, as an update does. */
  update(target: Target, scale: MutableJsonMap, options: WriteOptions): MutableJsonMap {
    assertNamed(scale, target.name ?? '');
    const stored = this.#registry.get(target);
    const { manager } = options;
    if (manager === undefined) return this.#write(target, scale, options);
    const writer = { manager: manager || 'unknown', subresource, now: this.#now() };
    const managers = ownersAfterUpdate(scaleTarget(target), ownedScale(target, stored), scale, {
      given: undefined,
      writer,
    });
    return this.#write(target, scale, { ...options, owners: moveOwners(target, stored, managers) });
  }

  /** Server-side apply to a Scale. Throws an ApiError, as an apply does. */
  apply(target: Target, body: MutableJsonMap, options: ApplyOptions): MutableJsonMap {
    const stored = this.#registry.get(target);
    const { force, manager } = options;
    const configuration = { body, force, manager, subresource, now: this.#now() };
    const applied = applyConfiguration(scaleTarget(target), ownedScale(target, stored), configuration);
    const { object } = toWireForm(scaleVersion, served.kind, applied.object);
    alignNamespace(object, target.namespace);
    assertNamed(object, target.name ?? '');
    return this.#write(target, object, { ...options, owners: moveOwners(target, stored, applied.managers) });
  }

  #write(target: Target, scale: MutableJsonMap, options: WriteOptions): MutableJsonMap {
    const patch = { type: 'merge', body: patchForScale(scale, target.name ?? '') } as const;
    return buildScale(this.#registry.patch(target, patch, options).object);
  }

  #now(): string {
    return formatTime(this.#clock.nowMs());
  }
}

function scaleTarget(target: Target): Target {
  return { ...target, served };
}

/** The owners of the object, from those of its Scale. */
function moveOwners(
  { served: { group, version } }: Target,
  stored: StoredObject,
  managers: readonly ManagerEntry[],
): readonly ManagerEntry[] {
  return shareOwners(fromScaleOwners(stored.managers, managers, apiVersionOf({ group, version })));
}

function ownedScale(
  target: Target,
  stored: StoredObject,
): { readonly content: MutableJsonMap; readonly managers: readonly ManagerEntry[] } {
  const { kind: _kind, apiVersion: _apiVersion, ...scale } = buildScale(stored);
  return {
    content: toWireForm(scaleVersion, served.kind, scale).object,
    managers: toScaleOwners(stored.managers, apiVersionOf(target.served)),
  };
}
