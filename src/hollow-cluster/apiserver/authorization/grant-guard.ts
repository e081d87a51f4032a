/**
 * Keeps users from granting permissions that they do not have, by writing roles or bindings (upstream
 * `pkg/registry/rbac/*\/policybased`). Members of system:masters may grant everything; the verbs `escalate` on roles
 * and `bind` on a role permit it explicitly.
 */
import { sameJson } from '../../../machinery/api/json-values.ts';
import { forbidden, notFound } from '../api-errors/api-errors.ts';
import { mapsAt } from '../../../machinery/api/select-field.ts';
import type { Draft } from '../storage/stored-object.ts';
import type { Authorizer } from './authorizer.ts';
import { everything, type PolicyRule, rulesOf } from './decide-rule.ts';
import type { ResourceAttributes } from './parse-attributes.ts';
import { rbacGroup, type RbacTables, roleRefOf } from './rbac-tables.ts';
import { describeList, describeRule, selectMissingRules } from './select-missing-rules.ts';
import { mastersGroup, type User } from '../authentication/user.ts';

/** Called with the object to be written and the stored one. Throws if the user must not write it. */
export type GrantCheck = (draft: Draft, stored: Draft | undefined) => void;

export class GrantGuard {
  readonly #authorizer: Authorizer;
  readonly #tables: RbacTables;

  constructor(authorizer: Authorizer, tables: RbacTables) {
    this.#authorizer = authorizer;
    this.#tables = tables;
  }

  /** The check of writes to that resource; undefined if it grants nothing. */
  checkFor(user: User, attributes: ResourceAttributes): GrantCheck | undefined {
    if (attributes.group !== rbacGroup || user.groups.includes(mastersGroup)) return undefined;
    const { resource } = attributes;
    if (resource === 'roles' || resource === 'clusterroles') {
      return (draft, stored) => this.#checkRole(user, attributes, { draft, stored });
    }
    if (resource !== 'rolebindings' && resource !== 'clusterrolebindings') return undefined;
    return (draft, stored) => this.#checkBinding(user, attributes, { draft, stored });
  }

  #checkRole(user: User, attributes: ResourceAttributes, { draft, stored }: Change): void {
    if (changesOnlyOwnership(draft, stored)) return;
    const escalation = { ...attributes, verb: 'escalate', subresource: '' };
    if (this.#authorizer.decide(user, escalation).allowed) return;
    this.#assertHeld(user, attributes, { name: draft.metadata.name ?? '', rules: rulesOf(draft) });
    const aggregates = [draft, stored].some(
      (role) => mapsAt(role, 'aggregationRule', 'clusterRoleSelectors').length > 0,
    );
    if (!aggregates || this.#missing(user, attributes.namespace, everything).length === 0) return;
    const why = 'must have cluster-admin privileges to use the aggregationRule';
    throw forbidden({ group: rbacGroup, name: attributes.resource }, draft.metadata.name ?? '', why);
  }

  #checkBinding(user: User, attributes: ResourceAttributes, { draft, stored }: Change): void {
    if (changesOnlyOwnership(draft, stored)) return;
    const roleRef = roleRefOf(draft);
    const resource = roleRef.kind === 'Role' ? 'roles' : 'clusterroles';
    const { namespace } = attributes;
    const bind = {
      ...attributes,
      verb: 'bind',
      subresource: '',
      group: roleRef.apiGroup,
      resource,
      name: roleRef.name,
    };
    if (this.#authorizer.decide(user, bind).allowed) return;
    const rules = this.#tables.rulesOf(roleRef, namespace);
    // As kube-apiserver, which names the resource of the request.
    if (rules === undefined) throw notFound({ group: rbacGroup, name: attributes.resource }, roleRef.name);
    this.#assertHeld(user, attributes, { name: draft.metadata.name ?? '', rules });
  }

  #assertHeld(
    user: User,
    { namespace, resource }: ResourceAttributes,
    granted: { readonly name: string; readonly rules: readonly PolicyRule[] },
  ): void {
    const missing = this.#missing(user, namespace, granted.rules);
    if (missing.length === 0) return;
    const who = `user ${JSON.stringify(user.name)} (groups=${describeList(user.groups)})`;
    const what = [...new Set(missing.map(describeRule))].sort().join('\n');
    const { error } = this.#authorizer.rulesFor(user, namespace);
    const unresolved = error === '' ? '' : `; resolution errors: ${error}`;
    const why = `${who} is attempting to grant RBAC permissions not currently held:\n${what}${unresolved}`;
    throw forbidden({ group: rbacGroup, name: resource }, granted.name, why);
  }

  #missing(user: User, namespace: string, wanted: readonly PolicyRule[]): readonly PolicyRule[] {
    return selectMissingRules(this.#authorizer.rulesFor(user, namespace).rules, wanted);
  }
}

interface Change {
  readonly draft: Draft;
  readonly stored: Draft | undefined;
}

/** Finalizers and owner references of an existing object may be written by the garbage collector. */
function changesOnlyOwnership(draft: Draft, stored: Draft | undefined): boolean {
  if (stored === undefined) return false;
  const { ownerReferences, finalizers, managedFields } = stored.metadata;
  const { kind, apiVersion } = draft;
  const metadata = { ...draft.metadata, ownerReferences, finalizers, managedFields };
  return sameJson({ ...draft, metadata }, { ...stored, kind, apiVersion });
}
