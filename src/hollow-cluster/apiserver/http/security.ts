/** Authentication and authorization of a server, from its options. */
import { serverAudiences, Authenticator } from './authenticator.ts';
import { AccessReviews } from '../authorization/access-reviews.ts';
import { alwaysAllow, RbacAuthorizer } from '../authorization/authorizer.ts';
import { bootstrapPolicy } from '../authorization/bootstrap-policy.ts';
import { GrantGuard } from '../authorization/grant-guard.ts';
import { Impersonator } from '../authorization/impersonator.ts';
import { RbacTables, rbacGroup } from '../authorization/rbac-tables.ts';
import { RuleResolver } from '../authorization/rule-resolver.ts';
import type { ObjectRegistry } from '../registry/object-registry.ts';
import type { ServedTargets } from '../registry/served-targets.ts';
import type { VersionedStore } from '../storage/versioned-store.ts';
import { AccessControl } from './access-control.ts';
import { isPublicPath } from './document-handler.ts';
import { StaticTokens, type TokenUser } from './static-tokens.ts';

export type AuthorizationMode = 'AlwaysAllow' | 'RBAC';

interface SecurityOptions {
  readonly store: VersionedStore;
  readonly mode: AuthorizationMode;
  readonly tokens: readonly TokenUser[];
}

interface Security {
  readonly access: AccessControl;
  readonly reviews: AccessReviews;
}

export function makeSecurity(options: SecurityOptions): Security {
  const { store, mode } = options;
  const isRbac = mode === 'RBAC';
  const resolver = new RuleResolver(new RbacTables(store));
  const authorizer = isRbac ? new RbacAuthorizer(resolver) : alwaysAllow;
  // As kube-apiserver: with AlwaysAllow, an anonymous user would be allowed everything.
  const authenticator = new Authenticator({ tokens: new StaticTokens(options.tokens), allowsAnonymous: isRbac });
  return {
    access: new AccessControl({
      authenticator,
      authorizer,
      impersonator: new Impersonator(authorizer),
      grants: isRbac ? new GrantGuard(authorizer, resolver) : undefined,
      isPublic: isRbac ? () => false : isPublicPath,
    }),
    reviews: new AccessReviews({ authorizer, tokens: authenticator, audiences: serverAudiences }),
  };
}

/** Creates the roles and bindings of a new cluster that do not exist yet. */
export function createBootstrapPolicy(registry: ObjectRegistry, targets: ServedTargets): void {
  for (const { plural, namespace, name, body } of bootstrapPolicy()) {
    const target = { ...targets.of(rbacGroup, plural), namespace };
    if (registry.exists({ ...target, name })) continue;
    registry.create(target, body, { dryRun: false, fieldValidation: 'Strict', manager: 'kube-apiserver' });
  }
}
