/** Who sends a request, for whom, and whether that user may: authentication, impersonation, authorization, in this order. */
import type { Authorizer } from '../authorization/authorizer.ts';
import { forbiddenRequest } from '../authorization/forbidden-request.ts';
import type { Impersonator } from '../authorization/impersonator.ts';
import { parseAttributes } from '../authorization/parse-attributes.ts';
import { anonymous, type User } from '../authentication/user.ts';
import type { Authenticator } from './authenticator.ts';
import type { Exchange } from './exchange.ts';

interface AccessControlOptions {
  readonly authenticator: Authenticator;
  readonly impersonator: Impersonator;
  readonly authorizer: Authorizer;
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
    const { allowed, reason } = authorizer.decide(user, attributes);
    if (!allowed) throw forbiddenRequest(user, attributes, reason);
    return user;
  }

  /** PUT and apply create a missing object only for a user who may create it (upstream `withAuthorization`). */
  assertMayCreate(exchange: Exchange): void {
    const attributes = parseAttributes(exchange);
    if (attributes.kind !== 'resource') return;
    const creation = { ...attributes, verb: 'create' };
    const { allowed, reason } = this.#options.authorizer.decide(exchange.user, creation);
    if (!allowed) throw forbiddenRequest(exchange.user, creation, reason);
  }
}
