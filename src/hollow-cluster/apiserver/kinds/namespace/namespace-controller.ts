/**
 * Empties namespaces that are deleted, and removes them (upstream `pkg/controller/namespace/deletion`): pods first, with
 * their grace period, then everything else. What remains is named in the conditions of the namespace.
 */
import type { Clock } from '../../../../machinery/ports/clock.ts';
import type { ObjectRegistry } from '../../registry/object-registry.ts';
import type { Target } from '../../registry/request-target.ts';
import { mapsAt } from '../../select-field.ts';
import { listOf } from '../../../../machinery/api/json-map.ts';
import type { Draft, StoredObject } from '../../storage/stored-object.ts';
import type { VersionedStore } from '../../storage/versioned-store.ts';
import { buildNamespaceConditions, type Remaining } from './build-namespace-conditions.ts';
import type { ServerController } from '../../controllers/controller-loop.ts';
import { createSystemNamespaces } from '../initial-objects.ts';
import type { ServedTargets } from '../../registry/served-targets.ts';
import type { StoreChange } from '../../storage/store-change.ts';

interface NamespaceControllerOptions {
  readonly store: VersionedStore;
  readonly registry: ObjectRegistry;
  readonly clock: Clock;
  /** All namespaces. */
  readonly target: Target;
  /** All namespaced resources that can be deleted, each without namespace and name. */
  readonly contents: readonly Target[];
}

const finalizer = 'kubernetes';
/** Objects that a failed or delayed deletion left are retried after this time. */
const retryMs = 1_000;

export class NamespaceController implements ServerController {
  readonly name = 'namespace-controller';
  readonly tables: readonly string[];
  readonly #options: NamespaceControllerOptions;

  constructor(options: NamespaceControllerOptions) {
    this.#options = options;
    this.tables = ['namespaces', ...new Set(options.contents.map(({ strategy }) => strategy.table))];
  }

  sync(): number | undefined {
    const namespaces = [...this.#options.store.table('namespaces').now().from('')];
    const deleted = namespaces.filter(({ content }) => content.metadata.deletionTimestamp !== undefined);
    const errors = deleted.flatMap((namespace) => this.#errorOfSync(namespace));
    if (errors.length > 0) throw new AggregateError(errors, `${errors.length} namespaces could not be emptied`);
    return deleted.length === 0 ? undefined : retryMs;
  }

  /** Error of one namespace, which does not stop the others. */
  #errorOfSync(namespace: StoredObject): readonly unknown[] {
    try {
      this.#syncNamespace(namespace);
      return [];
    } catch (error) {
      return [error];
    }
  }

  #syncNamespace({ name, content }: StoredObject): void {
    if (!listOf(content.spec?.['finalizers']).includes(finalizer)) return;
    const remaining = this.#empty(name);
    const isEmpty = remaining.objects.size === 0 && remaining.failures.length === 0;
    const { registry, clock, target } = this.#options;
    const setConditions = (draft: Draft): void => {
      const conditions = buildNamespaceConditions(mapsAt(draft, 'status', 'conditions'), remaining, clock.nowMs());
      draft.status = { ...draft.status, conditions };
    };
    registry.amend({ ...target, name, endpoint: 'status' }, setConditions, false);
    if (isEmpty) this.#finalize(name);
  }

  /** Deletes what can be deleted now, and returns what is left. Other resources wait until the pods are gone. */
  #empty(namespace: string): Remaining {
    const { contents } = this.#options;
    const pods = contents.filter(({ served }) => served.kind === 'Pod');
    const remaining = this.#deleteAll(namespace, pods);
    if (remaining.objects.size > 0 || remaining.failures.length > 0) return remaining;
    return this.#deleteAll(
      namespace,
      contents.filter(({ served }) => served.kind !== 'Pod'),
    );
  }

  #deleteAll(namespace: string, targets: readonly Target[]): Remaining {
    const failures: string[] = [];
    const objects = new Map<string, number>();
    const finalizers = new Map<string, number>();
    for (const target of targets) {
      for (const { name } of this.#objectsIn(target, namespace)) {
        try {
          this.#options.registry.delete({ ...target, namespace, name }, { dryRun: false, propagation: 'Background' });
        } catch (error) {
          failures.push(error instanceof Error ? error.message : String(error));
        }
      }
      const left = this.#objectsIn(target, namespace);
      if (left.length > 0) objects.set(`${target.served.plural}.${target.served.group}`, left.length);
      for (const key of left.flatMap(({ content }) => content.metadata.finalizers ?? [])) {
        finalizers.set(key, (finalizers.get(key) ?? 0) + 1);
      }
    }
    return { objects, finalizers, failures };
  }

  #objectsIn({ strategy }: Target, namespace: string): readonly StoredObject[] {
    const prefix = `${namespace}/`;
    const found: StoredObject[] = [];
    for (const object of this.#options.store.table(strategy.table).now().from(prefix)) {
      if (!object.key.startsWith(prefix)) break;
      found.push(object);
    }
    return found;
  }

  /** Removes the finalizer; the server removes a namespace without finalizers. */
  #finalize(name: string): void {
    const { registry, target } = this.#options;
    const at = { ...target, name, endpoint: 'finalize' } as const;
    const { metadata, spec } = registry.get(at).content;
    const finalizers = listOf(spec?.['finalizers']).filter((key) => key !== finalizer);
    const body = { metadata, spec: { ...spec, finalizers } };
    registry.update(at, body, { dryRun: false, fieldValidation: 'Ignore', manager: 'kube-controller-manager' });
  }
}

/** Creates the namespaces of the system again when they are gone (upstream `controlplane/controller/systemnamespaces`). */
export class SystemNamespaceController implements ServerController {
  readonly name = 'system-namespaces-controller';
  readonly tables = ['namespaces'];
  readonly #registry: ObjectRegistry;
  readonly #targets: ServedTargets;

  constructor(registry: ObjectRegistry, targets: ServedTargets) {
    this.#registry = registry;
    this.#targets = targets;
  }

  concerns(_table: string, { kind }: StoreChange): boolean {
    return kind === 'deleted';
  }

  sync(): undefined {
    createSystemNamespaces(this.#registry, this.#targets);
  }
}
