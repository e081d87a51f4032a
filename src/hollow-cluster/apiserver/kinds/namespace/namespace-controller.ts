/**
 * Empties namespaces that are deleted, and removes them (upstream `pkg/controller/namespace/deletion`): pods first, with
 * their grace period, then everything else. What remains is named in the conditions of the namespace.
 */
import type { Target } from '../../registry/request-target.ts';
import { mapsAt } from '../../../../machinery/api/select-field.ts';
import { listOf } from '../../../../machinery/api/json-map.ts';
import type { Draft, StoredObject } from '../../storage/stored-object.ts';
import { buildNamespaceConditions, type Remaining } from './build-namespace-conditions.ts';
import type { ControllerContext, ServerController } from '../../controllers/controller-loop.ts';
import { createSystemNamespaces } from '../initial-objects.ts';
import type { StoreChange } from '../../storage/store-change.ts';

const finalizer = 'kubernetes';
/** Objects that a failed or delayed deletion left are retried after this time. */
const retryMs = 1_000;

export class NamespaceController implements ServerController {
  readonly name = 'namespace-controller';
  readonly tables: readonly string[];
  readonly #context: ControllerContext;
  readonly #target: Target;
  /** All namespaced resources that can be deleted, each without namespace and name. */
  readonly #contents: readonly Target[];

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#target = context.targets.of('', 'namespaces');
    this.#contents = context.targets.namespaced();
    this.tables = ['namespaces', ...this.#contents.map(({ strategy }) => strategy.table)];
  }

  sync(): number | undefined {
    const namespaces = [...this.#context.store.table('namespaces').now().list()];
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
    const { registry, clock } = this.#context;
    const setConditions = (draft: Draft): void => {
      const conditions = buildNamespaceConditions(mapsAt(draft, 'status', 'conditions'), remaining, clock.nowMs());
      draft.status = { ...draft.status, conditions };
    };
    registry.amend({ ...this.#target, name, endpoint: 'status' }, setConditions, false);
    if (isEmpty) this.#finalize(name);
  }

  /** Deletes what can be deleted now, and returns what is left. Other resources wait until the pods are gone. */
  #empty(namespace: string): Remaining {
    const isPod = ({ served }: Target): boolean => served.kind === 'Pod';
    const remaining = this.#deleteAll(namespace, this.#contents.filter(isPod));
    if (remaining.objects.size > 0 || remaining.failures.length > 0) return remaining;
    const others = this.#contents.filter((target) => !isPod(target));
    return this.#deleteAll(namespace, others);
  }

  #deleteAll(namespace: string, targets: readonly Target[]): Remaining {
    const failures: string[] = [];
    const objects = new Map<string, number>();
    const finalizers = new Map<string, number>();
    for (const target of targets) {
      for (const { name } of this.#objectsIn(target, namespace)) {
        try {
          this.#context.registry.delete({ ...target, namespace, name }, { dryRun: false, propagation: 'Background' });
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
    return [...this.#context.store.table(strategy.table).now().list(namespace)];
  }

  /** Removes the finalizer; the server removes a namespace without finalizers. */
  #finalize(name: string): void {
    const { registry } = this.#context;
    const at = { ...this.#target, name, endpoint: 'finalize' } as const;
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
  readonly #context: ControllerContext;

  constructor(context: ControllerContext) {
    this.#context = context;
  }

  concerns(_table: string, { kind }: StoreChange): boolean {
    return kind === 'deleted';
  }

  sync(): undefined {
    createSystemNamespaces(this.#context.registry, this.#context.targets);
  }
}
