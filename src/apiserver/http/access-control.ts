/** Who sends a request, for whom, and whether that user may: authentication, impersonation, authorization, in this order. */
import { forbidden } from '../api-errors/api-errors.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import { forbiddenRequest } from '../authorization/forbidden-request.ts';
import type { GrantCheck, GrantGuard } from '../authorization/grant-guard.ts';
import type { Impersonator } from '../authorization/impersonator.ts';
import { parseAttributes, type ResourceAttributes } from '../authorization/parse-attributes.ts';
import { anonymous, type User } from '../authentication/user.ts';
import { sameJson } from '../../api/same-json.ts';
import { mapsAt, textAt } from '../select-field.ts';
import type { WriteOptions } from '../registry/object-registry.ts';
import type { Draft } from '../storage/stored-object.ts';
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

type WriteChecks = Pick<WriteOptions, 'authorize' | 'authorizeChange'>;

interface Change {
  readonly draft: Draft;
  readonly stored: Draft;
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
    const user = impersonator.userFor(requester, request.incoming.rawHeaders, attributes);
    const { allowed, reason } = authorizer.decide(user, attributes);
    if (!allowed) throw forbiddenRequest(user, attributes, reason);
    return user;
  }

  /** The checks of the object that the request writes; none if it may be any. */
  checksOf(exchange: Exchange): WriteChecks {
    const attributes = parseAttributes(exchange);
    const { grants } = this.#options;
    if (attributes.kind !== 'resource' || grants === undefined) return {};
    const { user } = exchange;
    const check = grants.checkFor(user, attributes);
    const authorize: GrantCheck = (draft, stored) => {
      if (stored === undefined) this.#assertMayCreate(user, attributes);
      check?.(draft, stored);
    };
    if (!isCertificateRequest(attributes)) return { authorize };
    return {
      authorize,
      authorizeChange: (draft, stored) => this.#assertMayDecide(user, attributes, { draft, stored }),
    };
  }

  /** PUT and apply create a missing object only for a user who may create it (upstream `withAuthorization`). */
  #assertMayCreate(user: User, attributes: ResourceAttributes): void {
    const creation = { ...attributes, verb: 'create' };
    const { allowed, reason } = this.#options.authorizer.decide(user, creation);
    if (!allowed) throw forbiddenRequest(user, creation, reason);
  }

  /**
   * Approvals, and changes of conditions or certificate through the status, need a permission for the signer of the request
   * (upstream admission plugins `CertificateApproval`, `CertificateSigning`).
   */
  #assertMayDecide(user: User, attributes: ResourceAttributes, { draft, stored }: Change): void {
    const { subresource } = attributes;
    if (subresource === 'approval') this.#assertMayUseSigner(user, attributes, { verb: 'approve', stored });
    if (subresource !== 'status' || sameDecision(draft, stored)) return;
    this.#assertMayUseSigner(user, attributes, { verb: 'sign', stored });
  }

  /** By its name, or for all of its domain. */
  #assertMayUseSigner(
    user: User,
    attributes: ResourceAttributes,
    { verb, stored }: { readonly verb: 'approve' | 'sign'; readonly stored: Draft },
  ): void {
    const signerName = textAt(stored.spec, 'signerName');
    const signer = { ...attributes, verb, resource: 'signers', subresource: '' };
    const names = [signerName, `${signerName.split('/')[0] ?? ''}/*`];
    if (names.some((name) => this.#options.authorizer.decide(user, { ...signer, name }).allowed)) return;
    const why = `user not permitted to ${verb} requests with signerName ${JSON.stringify(signerName)}`;
    throw forbidden({ group: attributes.group, name: attributes.resource }, attributes.name, why);
  }
}

function isCertificateRequest({ group, resource }: ResourceAttributes): boolean {
  return group === 'certificates.k8s.io' && resource === 'certificatesigningrequests';
}

function sameDecision({ status: after }: Draft, { status: before }: Draft): boolean {
  const conditions = sameJson(mapsAt(after, 'conditions'), mapsAt(before, 'conditions'));
  return conditions && sameJson(after?.['certificate'], before?.['certificate']);
}
