/** Reads roles and bindings from the store. Parsed forms are kept per stored version, which never changes. */
import { getOrInsert } from '../../../machinery/api/get-or-insert.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { VersionedStore } from '../storage/versioned-store.ts';
import { mapAt, mapsAt, textAt } from '../../../machinery/api/select-field.ts';
import { type PolicyRule, rulesOf } from './decide-rule.ts';

export const rbacGroup = 'rbac.authorization.k8s.io';

export interface RoleRef {
  readonly apiGroup: string;
  readonly kind: string;
  readonly name: string;
}

export interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
}

export interface Binding {
  /** `ClusterRoleBinding` or `RoleBinding`. */
  readonly kind: string;
  readonly name: string;
  /** Empty for a ClusterRoleBinding. */
  readonly namespace: string;
  readonly roleRef: RoleRef;
  readonly subjects: readonly Subject[];
}

function tableOf(plural: string): string {
  return `${plural}.${rbacGroup}`;
}

export class RbacTables {
  readonly #store: VersionedStore;
  readonly #bindings = new WeakMap<StoredObject, Binding>();
  readonly #rules = new WeakMap<StoredObject, readonly PolicyRule[]>();

  constructor(store: VersionedStore) {
    this.#store = store;
  }

  clusterRoleBindings(): readonly Binding[] {
    return this.#objects('clusterrolebindings').map((stored) => this.#binding('ClusterRoleBinding', stored));
  }

  roleBindings(namespace: string): readonly Binding[] {
    return this.#objects('rolebindings', namespace).map((stored) => this.#binding('RoleBinding', stored));
  }

  /** The rules of the referenced role; undefined if it does not exist. `namespace` is that of the binding. */
  rulesOf({ kind, name }: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    const [plural, key] = kind === 'Role' ? ['roles', `${namespace}/${name}`] : ['clusterroles', name];
    const stored = this.#store.get(tableOf(plural), key);
    return stored === undefined ? undefined : getOrInsert(this.#rules, stored, ({ content }) => rulesOf(content));
  }

  #objects(plural: string, namespace?: string): readonly StoredObject[] {
    return [...this.#store.table(tableOf(plural)).now().list(namespace)];
  }

  #binding(kind: string, stored: StoredObject): Binding {
    return getOrInsert(this.#bindings, stored, ({ content, name, namespace }) => {
      return { kind, name, namespace, roleRef: roleRefOf(content), subjects: subjectsOf(content) };
    });
  }
}

/** The role of a binding. */
export function roleRefOf(binding: unknown): RoleRef {
  const ref = mapAt(binding, 'roleRef');
  return { apiGroup: textAt(ref, 'apiGroup'), kind: textAt(ref, 'kind'), name: textAt(ref, 'name') };
}

function subjectsOf(binding: unknown): readonly Subject[] {
  return mapsAt(binding, 'subjects').map((subject) => ({
    kind: textAt(subject, 'kind'),
    name: textAt(subject, 'name'),
    namespace: textAt(subject, 'namespace'),
  }));
}
