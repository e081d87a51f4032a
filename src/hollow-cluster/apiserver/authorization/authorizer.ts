/** Decides which user may do what: everything (`AlwaysAllow`), or what roles and bindings grant (`RBAC`). */
import { everything, type PolicyRule, ruleAllows } from './decide-rule.ts';
import type { Attributes } from './parse-attributes.ts';
import type { RuleResolver } from './rule-resolver.ts';
import { mastersGroup, type User } from '../authentication/user.ts';

interface Decision {
  readonly allowed: boolean;
  /** May be empty. */
  readonly reason: string;
}

interface UserRules {
  readonly rules: readonly PolicyRule[];
  /** Empty if all bindings could be read. */
  readonly error: string;
}

export interface Authorizer {
  decide(user: User, attributes: Attributes): Decision;
  /** The rules of a user in a namespace. */
  rulesFor(user: User, namespace: string): UserRules;
}

/** Every authenticated user may do everything. */
export const alwaysAllow: Authorizer = {
  decide: () => ({ allowed: true, reason: '' }),
  rulesFor: () => ({ rules: everything, error: '' }),
};

export class RbacAuthorizer implements Authorizer {
  readonly #resolver: RuleResolver;

  constructor(resolver: RuleResolver) {
    this.#resolver = resolver;
  }

  decide(user: User, attributes: Attributes): Decision {
    if (user.groups.includes(mastersGroup)) return { allowed: true, reason: '' };
    const namespace = attributes.kind === 'resource' ? attributes.namespace : '';
    const { granted, errors } = this.#resolver.resolve(user, namespace);
    const found = granted.find(({ rule }) => ruleAllows(rule, attributes));
    if (found !== undefined) return { allowed: true, reason: `RBAC: allowed by ${found.source}` };
    return { allowed: false, reason: errors.length === 0 ? '' : `rbac: RBAC: ${joinErrors(errors)}` };
  }

  rulesFor(user: User, namespace: string): UserRules {
    const { granted, errors } = this.#resolver.resolve(user, namespace);
    return { rules: granted.map(({ rule }) => rule), error: joinErrors(errors) };
  }
}

/** Errors as apimachinery joins them: equal ones count once. */
function joinErrors(errors: readonly string[]): string {
  const unique = [...new Set(errors)];
  return unique.length > 1 ? `[${unique.join(', ')}]` : (unique[0] ?? '');
}
