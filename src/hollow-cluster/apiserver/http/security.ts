/** Authentication and authorization of a server, from its options. */
import { Authenticator, serverAudiences } from './authenticator.ts';
import { AccessReviews } from '../authorization/access-reviews.ts';
import { alwaysAllow, RbacAuthorizer } from '../authorization/authorizer.ts';
import { GrantGuard } from '../authorization/grant-guard.ts';
import { Impersonator } from '../authorization/impersonator.ts';
import { RbacTables } from '../authorization/rbac-tables.ts';
import { RuleResolver } from '../authorization/rule-resolver.ts';
import type { VersionedStore } from '../storage/versioned-store.ts';
import { AccessControl } from './access-control.ts';
import { isPublicPath } from './document-handler.ts';
import type { TokenUser } from './static-tokens.ts';

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
  const tables = new RbacTables(store);
  const authorizer = isRbac ? new RbacAuthorizer(new RuleResolver(tables)) : alwaysAllow;
  // As kube-apiserver: with AlwaysAllow, an anonymous user would be allowed everything.
  const authenticator = new Authenticator(options.tokens, isRbac);
  return {
    access: new AccessControl({
      authenticator,
      authorizer,
      impersonator: new Impersonator(authorizer),
      grants: isRbac ? new GrantGuard(authorizer, tables) : undefined,
      isPublic: isRbac ? () => false : isPublicPath,
    }),
    reviews: new AccessReviews({ authorizer, tokens: authenticator, audiences: serverAudiences }),
  };
}
