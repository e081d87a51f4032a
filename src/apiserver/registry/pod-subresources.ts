/** Binding and eviction: what the scheduler and `kubectl drain` do to pods (upstream `pkg/registry/core/pod/storage`). */
import { formatTime } from '../../api/timestamps.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Draft, JsonMap } from '../storage/stored-object.ts';
import type { DeleteRequest, ObjectRegistry } from './object-registry.ts';
import { badRequest, conflict, refusal } from './refusals.ts';
import { resourceName, type Target } from './request-target.ts';
import { isRecord, mapsOf, textAt } from './strategy.ts';

const bindings = { group: '', name: 'pods/binding' } as const;

const evicted = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'EvictionByEvictionAPI',
  message: 'Eviction API: evicting',
} as const;

export class PodSubresources {
  readonly #registry: ObjectRegistry;
  readonly #clock: Clock;

  constructor(registry: ObjectRegistry, clock: Clock) {
    this.#registry = registry;
    this.#clock = clock;
  }

  /** Puts the pod on a node, once. Throws 404, 409 or 422 ApiErrors. */
  bind(target: Target, binding: JsonMap, dryRun: boolean): void {
    const nodeName = validateBinding(binding);
    assertSameObject(this.#registry, target, binding);
    const condition = { type: 'PodScheduled', status: 'True', lastTransitionTime: this.#now(), lastProbeTime: null };
    const change = (draft: Draft): void => {
      assertBindable(draft, target.name ?? '');
      draft.spec = { ...draft.spec, nodeName };
      draft.status = withCondition(draft.status ?? {}, condition);
      const annotations = isRecord(binding['metadata']) ? binding['metadata']['annotations'] : undefined;
      if (isRecord(annotations)) Object.assign((draft.metadata.annotations ??= {}), annotations);
    };
    this.#registry.amend(target, change, dryRun);
  }

  /**
   * Deletes the pod and says why. There are no disruption budgets here, so none is asked. Throws 400, 404 or 409
   * ApiErrors.
   */
  evict(target: Target, eviction: JsonMap, request: DeleteRequest): void {
    const name = textAt(eviction, 'metadata', 'name');
    if (name !== '' && name !== target.name) {
      throw badRequest('name in URL does not match name in Eviction object');
    }
    const before = this.#registry.get(target);
    const { resourceVersion, uid } = request;
    const changed = (resourceVersion ?? String(before.revision)) !== String(before.revision);
    if (changed || (uid ?? before.uid) !== before.uid) throw this.#refusedDelete(target, request);
    const condition = { ...evicted, lastTransitionTime: this.#now(), lastProbeTime: null };
    const mark = (draft: Draft): void => {
      draft.status = withCondition(draft.status ?? {}, condition);
    };
    this.#registry.amend(target, mark, request.dryRun);
    // The versions were compared above; the condition just written has moved on from them.
    this.#registry.delete(target, { ...request, resourceVersion: undefined });
  }

  /** Lets the deletion itself say which precondition failed. */
  #refusedDelete(target: Target, request: DeleteRequest): unknown {
    try {
      this.#registry.delete(target, { ...request, dryRun: true });
    } catch (error) {
      return error;
    }
    return new Error('a deletion was expected to be refused and was not');
  }

  #now(): string {
    return formatTime(this.#clock.nowMs());
  }
}

/** Upstream answers a bad target with 500 and no causes. */
function validateBinding(binding: JsonMap): string {
  const kind = textAt(binding, 'target', 'kind');
  const name = textAt(binding, 'target', 'name');
  if (!['', 'Node'].includes(kind)) {
    throw refusal(500, '', `target.kind: Unsupported value: "${kind}": supported values: "Node", "<empty>"`);
  }
  if (name === '') throw refusal(500, '', 'target.name: Required value');
  return name;
}

/** A binding may say of which pod and of which version of it it speaks. */
function assertSameObject(registry: ObjectRegistry, target: Target, binding: JsonMap): void {
  const stored = registry.get(target);
  const uid = textAt(binding, 'metadata', 'uid');
  const version = textAt(binding, 'metadata', 'resourceVersion');
  const name = target.name ?? '';
  if (uid !== '' && uid !== stored.uid) {
    throw conflict(
      resourceName(target),
      name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${stored.uid}`,
    );
  }
  if (version !== '' && version !== String(stored.revision)) {
    const why = `Precondition failed: ResourceVersion in precondition: ${version}, ResourceVersion in object meta: ${stored.revision}`;
    throw conflict(resourceName(target), name, why);
  }
}

function assertBindable({ metadata, spec }: Draft, name: string): void {
  if (metadata.deletionTimestamp !== undefined) {
    throw conflict(bindings, name, `pod ${name} is being deleted, cannot be assigned to a host`);
  }
  const nodeName = textAt(spec, 'nodeName');
  if (nodeName !== '') throw conflict(bindings, name, `pod ${name} is already assigned to node "${nodeName}"`);
  if (mapsOf(spec?.['schedulingGates']).length > 0) {
    throw conflict(bindings, name, `pod ${name} has non-empty .spec.schedulingGates`);
  }
}

function withCondition(status: JsonMap, condition: JsonMap): JsonMap {
  const others = mapsOf(status['conditions']).filter((other) => other['type'] !== condition['type']);
  return { ...status, conditions: [...others, condition] };
}

/** The options inside of an Eviction. */
export function deleteOptionsOf(eviction: JsonMap): JsonMap {
  return isRecord(eviction['deleteOptions']) ? eviction['deleteOptions'] : {};
}
