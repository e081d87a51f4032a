/**
 * Responses to the review APIs: who the user is, and what a user may do (`kubectl auth can-i`, `auth whoami`, delegated
 * authentication and authorization). Nothing is stored.
 */
import type { User } from '../authentication/user.ts';
import { badRequest, invalid } from '../api-errors/api-errors.ts';
import { isMap, mapAt, type MutableJsonMap, textAt } from '../../../machinery/api/select-field.ts';
import type { Authorizer } from './authorizer.ts';
import { type PolicyRule, textsOf } from './decide-rule.ts';
import type { Attributes } from './parse-attributes.ts';
import { validateReview } from './validate-review.ts';

interface TokenReader {
  /** Undefined for an unknown token. */
  userOf(token: string): User | undefined;
}

interface ReviewRequest {
  readonly kind: string;
  /** The decoded request body. */
  readonly body: MutableJsonMap;
  /** Namespace of the path; undefined for a kind without namespace. */
  readonly namespace: string | undefined;
  readonly user: User;
}

interface AccessReviewsOptions {
  readonly authorizer: Authorizer;
  readonly tokens: TokenReader;
  /** Audiences for which tokens are valid. */
  readonly audiences: readonly string[];
}

const authorizationVersion = 'authorization.k8s.io/v1';
const authenticationVersion = 'authentication.k8s.io/v1';

export class AccessReviews {
  readonly #options: AccessReviewsOptions;

  constructor(options: AccessReviewsOptions) {
    this.#options = options;
  }

  /** The response; undefined for a kind that is not a review. Throws 400 and 422 ApiErrors. */
  review(request: ReviewRequest): MutableJsonMap | undefined {
    switch (request.kind) {
      case 'SelfSubjectReview':
        return response(request, authenticationVersion, { userInfo: describeUser(request.user) });
      case 'TokenReview':
        return this.#reviewToken(request);
      case 'SelfSubjectRulesReview':
        return this.#reviewRules(request);
      case 'SelfSubjectAccessReview':
      case 'SubjectAccessReview':
      case 'LocalSubjectAccessReview':
        return this.#reviewAccess(request);
      default:
        return undefined;
    }
  }

  #reviewAccess(request: ReviewRequest): MutableJsonMap {
    const { kind, body, namespace, user } = request;
    const errors = validateReview(kind, body);
    // As kube-apiserver, whose message leaves out the kind.
    if (errors.length > 0) throw invalid({ group: 'authorization.k8s.io', name: '' }, '', errors);
    if (namespace !== undefined && textAt(body, 'metadata', 'namespace') !== namespace) {
      throw badRequest(`spec.resourceAttributes.namespace must match namespace: ${namespace}`);
    }
    const subject = kind === 'SelfSubjectAccessReview' ? user : userOfSpec(mapAt(body, 'spec'));
    const { allowed, reason } = this.#options.authorizer.decide(subject, attributesOf(mapAt(body, 'spec')));
    const status = { allowed, ...(reason === '' ? {} : { reason }) };
    return response(request, authorizationVersion, status, body['spec']);
  }

  #reviewRules(request: ReviewRequest): MutableJsonMap {
    const namespace = textAt(request.body, 'spec', 'namespace');
    if (namespace === '') throw badRequest('no namespace on request');
    const { rules, error } = this.#options.authorizer.rulesFor(request.user, namespace);
    const status = {
      resourceRules: rules.filter(({ resources }) => resources.length > 0).map(describeResourceRule),
      nonResourceRules: rules
        .filter(({ nonResourceURLs }) => nonResourceURLs.length > 0)
        .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
      incomplete: false,
      ...(error === '' ? {} : { evaluationError: error }),
    };
    return response(request, authorizationVersion, status, {});
  }

  #reviewToken(request: ReviewRequest): MutableJsonMap {
    const spec = mapAt(request.body, 'spec');
    const token = textAt(spec, 'token');
    if (token === '') throw badRequest('token is required for TokenReview in authentication');
    const user = this.#options.tokens.userOf(token);
    const audiences = this.#acceptedAudiences(textsOf(spec['audiences']));
    const status =
      user === undefined || audiences.length === 0
        ? { user: {}, error: 'invalid bearer token' }
        : { authenticated: true, user: describeUser(user), audiences };
    return response(request, authenticationVersion, status, spec);
  }

  /** A review that names no audience is about those of this server. */
  #acceptedAudiences(wanted: readonly string[]): readonly string[] {
    const { audiences } = this.#options;
    return wanted.length === 0 ? audiences : wanted.filter((audience) => audiences.includes(audience));
  }
}

function response(request: ReviewRequest, apiVersion: string, status: unknown, spec?: unknown): MutableJsonMap {
  const { kind, body } = request;
  return { kind, apiVersion, metadata: mapAt(body, 'metadata'), ...(spec === undefined ? {} : { spec }), status };
}

function describeUser({ name: username, uid = '', groups, extra = {} }: User): MutableJsonMap {
  return {
    username,
    ...(uid === '' ? {} : { uid }),
    groups: [...groups],
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

function describeResourceRule({ verbs, apiGroups, resources, resourceNames }: PolicyRule): MutableJsonMap {
  return { verbs, apiGroups, resources, ...(resourceNames.length === 0 ? {} : { resourceNames }) };
}

function userOfSpec(spec: MutableJsonMap): User {
  const extra = Object.entries(mapAt(spec, 'extra')).map(([key, values]) => [key, textsOf(values)] as const);
  return {
    name: textAt(spec, 'user'),
    uid: textAt(spec, 'uid'),
    groups: textsOf(spec['groups']),
    extra: Object.fromEntries(extra),
  };
}

function attributesOf(spec: MutableJsonMap): Attributes {
  const { resourceAttributes: attributes, nonResourceAttributes: ofPath } = spec;
  if (!isMap(attributes)) return { kind: 'path', verb: textAt(ofPath, 'verb'), path: textAt(ofPath, 'path') };
  return {
    kind: 'resource',
    verb: textAt(attributes, 'verb'),
    group: textAt(attributes, 'group'),
    resource: textAt(attributes, 'resource'),
    subresource: textAt(attributes, 'subresource'),
    namespace: textAt(attributes, 'namespace'),
    name: textAt(attributes, 'name'),
  };
}
