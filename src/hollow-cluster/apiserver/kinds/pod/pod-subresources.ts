/** Binding and eviction, used by the scheduler and `kubectl drain` (upstream `pkg/registry/core/pod/storage`). */
import { formatTime } from '../../../../machinery/api/timestamps.ts';
import type { Clock } from '../../../../machinery/ports/clock.ts';
import type { Draft } from '../../storage/stored-object.ts';
import type { DisruptionBudgets } from '../budget/disruption-budgets.ts';
import type { DeleteRequest, ObjectRegistry } from '../../registry/object-registry.ts';
import { badRequest, conflict, statusError } from '../../api-errors/api-errors.ts';
import { resourceName, type Target } from '../../registry/request-target.ts';
import { mapAt, mapsAt, type MutableJsonMap, textAt } from '../../../../machinery/api/select-field.ts';

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
  readonly #budgets: DisruptionBudgets;

  constructor(registry: ObjectRegistry, clock: Clock, budgets: DisruptionBudgets) {
    this.#registry = registry;
    this.#clock = clock;
    this.#budgets = budgets;
  }

  /** Binds the pod to a node, once. Throws 404, 409 or 422 ApiErrors. */
  bind(target: Target, binding: MutableJsonMap, dryRun: boolean): void {
    assertSameName(binding, target, 'Binding');
    const nodeName = validateBinding(binding);
    assertSameObject(this.#registry, target, binding);
    const condition = { type: 'PodScheduled', status: 'True', lastTransitionTime: this.#now(), lastProbeTime: null };
    const change = (draft: Draft): void => {
      assertBindable(draft, target.name ?? '');
      draft.spec = { ...draft.spec, nodeName };
      draft.status = withCondition(draft.status ?? {}, condition);
      const annotations = mapAt(binding, 'metadata', 'annotations');
      if (Object.keys(annotations).length > 0) Object.assign((draft.metadata.annotations ??= {}), annotations);
    };
    this.#registry.amend(target, change, dryRun);
  }

  /**
   * Deletes the pod with a DisruptionTarget condition if its disruption budget allows it. Throws 400, 403, 404, 409, 429
   * or 500 ApiErrors.
   */
  evict(target: Target, eviction: MutableJsonMap, request: DeleteRequest): void {
    assertSameName(eviction, target, 'Eviction');
    const before = this.#registry.get(target);
    const decision = this.#budgets.assertEvictable(before);
    // As upstream, before the preconditions: an eviction that fails them takes a disruption too.
    this.#budgets.spend(decision, before, request.dryRun);
    const { resourceVersion, uid } = request;
    const changed = (resourceVersion ?? String(before.revision)) !== String(before.revision);
    if (changed || (uid ?? before.uid) !== before.uid) throw this.#deletionError(target, request);
    const condition = { ...evicted, lastTransitionTime: this.#now(), lastProbeTime: null };
    const mark = (draft: Draft): void => {
      draft.status = withCondition(draft.status ?? {}, condition);
    };
    this.#registry.amend(target, mark, request.dryRun);
    // The versions were compared above; writing the condition changed them.
    this.#registry.delete(target, { ...request, resourceVersion: undefined });
  }

  /** Returns the error of the deletion, which names the failed precondition. */
  #deletionError(target: Target, request: DeleteRequest): unknown {
    try {
      this.#registry.delete(target, { ...request, dryRun: true });
    } catch (error) {
      return error;
    }
    return new Error('the deletion was not rejected as expected');
  }

  #now(): string {
    return formatTime(this.#clock.nowMs());
  }
}

function assertSameName(object: MutableJsonMap, { name }: Target, kind: string): void {
  if (textAt(object, 'metadata', 'name') === name) return;
  throw badRequest(`name in URL does not match name in ${kind} object`);
}

/** Upstream responds with 500 and no causes to an invalid target. */
function validateBinding(binding: MutableJsonMap): string {
  const kind = textAt(binding, 'target', 'kind');
  const name = textAt(binding, 'target', 'name');
  if (!['', 'Node'].includes(kind)) {
    throw statusError(500, '', `target.kind: Unsupported value: "${kind}": supported values: "Node", "<empty>"`);
  }
  if (name === '') throw statusError(500, '', 'target.name: Required value');
  return name;
}

/** A binding may contain the uid and version of its pod. */
function assertSameObject(registry: ObjectRegistry, target: Target, binding: MutableJsonMap): void {
  const stored = registry.get(target);
  const { uid, revision } = stored;
  for (const [field, what, actual] of [
    ['uid', 'UID', uid],
    ['resourceVersion', 'ResourceVersion', String(revision)],
  ] as const) {
    const wanted = textAt(binding, 'metadata', field);
    if (wanted === '' || wanted === actual) continue;
    const why = `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${actual}`;
    throw conflict(resourceName(target), target.name ?? '', why);
  }
}

function assertBindable({ metadata, spec }: Draft, name: string): void {
  if (metadata.deletionTimestamp !== undefined) {
    throw conflict(bindings, name, `pod ${name} is being deleted, cannot be assigned to a host`);
  }
  const nodeName = textAt(spec, 'nodeName');
  if (nodeName !== '') throw conflict(bindings, name, `pod ${name} is already assigned to node "${nodeName}"`);
  if (mapsAt(spec, 'schedulingGates').length > 0) {
    throw conflict(bindings, name, `pod ${name} has non-empty .spec.schedulingGates`);
  }
}

function withCondition(status: MutableJsonMap, condition: MutableJsonMap): MutableJsonMap {
  const others = mapsAt(status, 'conditions').filter((other) => other['type'] !== condition['type']);
  return { ...status, conditions: [...others, condition] };
}
