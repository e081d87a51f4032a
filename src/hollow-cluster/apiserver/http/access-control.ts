/** Who sends a request, for whom, and whether that user may: authentication, impersonation, authorization, in this order. */
import type { Authorizer } from '../authorization/authorizer.ts';
import { assertAllowed } from '../authorization/forbidden-request.ts';
import type { GrantCheck, GrantGuard } from '../authorization/grant-guard.ts';
import type { Impersonator } from '../authorization/impersonator.ts';
import { parseAttributes } from '../authorization/parse-attributes.ts';
import { anonymous, type User } from '../authentication/user.ts';
import type { Authenticator } from './authenticator.ts';
import type { Exchange } from './exchange.ts';

interface AccessControlOptions {
  readonly authenticator: Authenticator;
  readonly impersonator: Impersonator;
  readonly authorizer: Authorizer;
  /** Absent without RBAC: roles then grant nothing. */
  readonly grants: GrantGuard | undefined;
  /** Paths that need no user. */
  readonly isPublic: (path: string) => boolean;
}

export class AccessControl {
  readonly #options: AccessControlOptions;

  constructor(options: AccessControlOptions) {
    this.#options = options;
  }

  /** The user for whom the request is executed. Throws 400, 401 or 403 ApiErrors. */
  userFor(request: Omit<Exchange, 'user'>): User {
    const { authenticator, impersonator, authorizer, isPublic } = this.#options;
    if (isPublic(request.path)) return anonymous;
    const attributes = parseAttributes(request);
    const requester = authenticator.authenticate(request.incoming);
    const user = impersonator.userFor(requester, request.incoming.rawHeaders);
    assertAllowed(authorizer, user, attributes);
    return user;
  }

  /** The check of the object that the request writes; undefined if it may be any. */
  writeCheckOf(exchange: Exchange): GrantCheck | undefined {
    const attributes = parseAttributes(exchange);
    const { grants, authorizer } = this.#options;
    if (attributes.kind !== 'resource' || grants === undefined) return undefined;
    const { user } = exchange;
    const check = grants.checkFor(user, attributes);
    return (draft, stored) => {
      // PUT and apply create a missing object only for a user who may create it (upstream `withAuthorization`).
      if (stored === undefined) assertAllowed(authorizer, user, { ...attributes, verb: 'create' });
      check?.(draft, stored);
    };
  }
}
