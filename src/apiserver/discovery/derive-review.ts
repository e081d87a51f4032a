/**
 * Answers to the reviews a client asks about itself (`kubectl auth can-i`, `auth whoami`). The embedded server lets
 * every authenticated user do everything, and says so here rather than claim rules it does not check.
 */

/** Who sent the request, as authentication found out. */
export interface ReviewedUser {
  readonly name: string;
  readonly uid?: string | undefined;
  readonly groups: readonly string[];
}

/** A review as sent or answered: no object of the store. */
export interface Review {
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
 * The answer to one review by the kind of {@link servedResources} that was posted to; undefined where the kind is no
 * review. `body` is the decoded request; what was asked comes back with the answer, but for the rules of a namespace.
 */
export function deriveReview(kind: string, body: ReviewRequest, user: ReviewedUser): Review | undefined {
  if (kind === 'SelfSubjectAccessReview') return reviewOf(authorizationVersion, kind, body, alwaysAllowed);
  if (kind === 'SelfSubjectRulesReview') return reviewOf(authorizationVersion, kind, { ...body, spec: {} }, everyRule);
  if (kind !== 'SelfSubjectReview') return undefined;
  return reviewOf('authentication.k8s.io/v1', kind, {}, { userInfo: userInfo(user) });
}

function reviewOf(apiVersion: string, kind: string, body: ReviewRequest, status: Review['status']): Review {
  const metadata = isRecord(body.metadata) ? body.metadata : {};
  return { kind, apiVersion, metadata, ...(body.spec === undefined ? {} : { spec: body.spec }), status };
}

function userInfo(user: ReviewedUser): Readonly<Record<string, unknown>> {
  const uid = user.uid === undefined || user.uid === '' ? {} : { uid: user.uid };
  return { username: user.name, ...uid, groups: [...user.groups] };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
