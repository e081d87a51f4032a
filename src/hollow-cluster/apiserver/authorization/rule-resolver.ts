/** The rules that apply to a user (upstream `pkg/registry/rbac/validation.DefaultRuleResolver`). */
import type { PolicyRule } from './decide-rule.ts';
import { type Binding, rbacGroup, type RbacTables, type RoleRef, type Subject } from './rbac-tables.ts';
import { accountUserName, type User } from '../authentication/user.ts';

interface GrantedRule {
  readonly rule: PolicyRule;
  /** Where it comes from, as the reason of an allowed request says it. */
  readonly source: string;
}

interface ResolvedRules {
  readonly granted: readonly GrantedRule[];
  /** Errors, one for each binding whose role is missing; the others apply nevertheless. */
  readonly errors: readonly string[];
}

export class RuleResolver {
  readonly #tables: RbacTables;

  constructor(tables: RbacTables) {
    this.#tables = tables;
  }

  /** The rules of all bindings of the cluster, and of those of the namespace unless it is empty. */
  resolve(user: User, namespace: string): ResolvedRules {
    const granted: GrantedRule[] = [];
    const errors: string[] = [];
    const ofNamespace = namespace === '' ? [] : this.#tables.roleBindings(namespace);
    for (const binding of [...this.#tables.clusterRoleBindings(), ...ofNamespace]) {
      const subject = binding.subjects.find((candidate) => appliesTo(candidate, user, binding.namespace));
      if (subject === undefined) continue;
      const rules = this.#tables.rulesOf(binding.roleRef, binding.namespace);
      if (rules === undefined) errors.push(describeMissing(binding.roleRef));
      else granted.push(...rules.map((rule) => ({ rule, source: describeGrant(binding, subject) })));
    }
    return { granted, errors };
  }
}

/** Bindings with another kind of role are not stored. */
function describeMissing({ kind, name }: RoleRef): string {
  return `${kind.toLowerCase()}.${rbacGroup} ${JSON.stringify(name)} not found`;
}

function appliesTo(subject: Subject, user: User, bindingNamespace: string): boolean {
  switch (subject.kind) {
    case 'User':
      return subject.name === user.name;
    case 'Group':
      return user.groups.includes(subject.name);
    case 'ServiceAccount': {
      const namespace = subject.namespace || bindingNamespace;
      return namespace !== '' && user.name === accountUserName(namespace, subject.name);
    }
    default:
      return false;
  }
}

/** Text of a grant as in kube-apiserver, the namespace of a binding after its name included. */
function describeGrant({ kind, name, namespace, roleRef }: Binding, subject: Subject): string {
  const binding = kind === 'RoleBinding' ? `${name}/${namespace}` : name;
  const role = `${roleRef.kind} ${JSON.stringify(roleRef.name)}`;
  return `${kind} ${JSON.stringify(binding)} of ${role} to ${describeSubject(subject, namespace)}`;
}

function describeSubject({ kind, name, namespace }: Subject, bindingNamespace: string): string {
  if (kind !== 'ServiceAccount') return `${kind} ${JSON.stringify(name)}`;
  return `${kind} ${JSON.stringify(`${name}/${namespace || bindingNamespace}`)}`;
}
