/**
 * Responses to the self-review APIs (`kubectl auth can-i`, `auth whoami`). The embedded server authorizes every
 * authenticated user for everything; the reviews report exactly that.
 */

import { mapAt } from '../select-field.ts';

/** The authenticated user of a request. */
export interface User {
  readonly name: string;
  readonly uid?: string | undefined;
  readonly groups: readonly string[];
}

/** A review as returned; never stored. */
interface Review {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly spec?: unknown;
  readonly status: Readonly<Record<string, unknown>>;
}

interface ReviewRequest {
  readonly metadata?: unknown;
  readonly spec?: unknown;
}

const authorizationVersion = 'authorization.k8s.io/v1';
const alwaysAllowed = { allowed: true, reason: 'the embedded API server allows everything' } as const;
const everyRule = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  incomplete: false,
} as const;

/**
 * The response to one review, by the kind of `servedResources` of the request path; undefined for a kind that is
 * not a review. `body` is the decoded request; its spec is returned, except for the rules of a namespace.
 */
export function buildReview(kind: string, body: ReviewRequest, user: User): Review | undefined {
  if (kind === 'SelfSubjectAccessReview') return reviewOf(authorizationVersion, kind, body, alwaysAllowed);
  if (kind === 'SelfSubjectRulesReview') return reviewOf(authorizationVersion, kind, { ...body, spec: {} }, everyRule);
  if (kind !== 'SelfSubjectReview') return undefined;
  const { name: username, uid = '', groups } = user;
  const userInfo = { username, ...(uid === '' ? {} : { uid }), groups: [...groups] };
  return reviewOf('authentication.k8s.io/v1', kind, {}, { userInfo });
}

function reviewOf(apiVersion: string, kind: string, body: ReviewRequest, status: Review['status']): Review {
  return {
    kind,
    apiVersion,
    metadata: mapAt(body.metadata),
    ...(body.spec === undefined ? {} : { spec: body.spec }),
    status,
  };
}
