// TokenReview and SubjectAccessReview: requests to the API server, created as objects that are never stored. The first
// authenticates a token, the second authorizes a user. Only the fields that decide are declared.
import { FieldReader } from './field-reader.ts';

export const tokenReviewPath = '/apis/authentication.k8s.io/v1/tokenreviews';
export const subjectAccessReviewPath = '/apis/authorization.k8s.io/v1/subjectaccessreviews';

/** The audience of tokens for the pages of the controller: every other server rejects them, the API server included. */
export const pagesAudience = 'node-lifecycle-controller';

/** An authenticated user (apiserver `user.Info`). */
export interface UserInfo {
  readonly username: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** Attributes of a request that names no object. */
export interface NonResourceAccess {
  /** The HTTP method in lower case. */
  readonly verb: string;
  readonly path: string;
}

/** `error` is the API server's error, for the log; it contains no token. */
export type TokenAuthentication =
  | { readonly authenticated: true; readonly user: UserInfo }
  | { readonly authenticated: false; readonly error: string };

export interface AccessDecision {
  readonly allowed: boolean;
  /** The API server's reason; empty if it gives none. */
  readonly reason: string;
}

/** Without an audience the API server uses its own, as kube-controller-manager does. */
export function tokenReview(token: string, audience?: string): object {
  const spec = audience === undefined ? { token } : { token, audiences: [audience] };
  return { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', metadata: {}, spec };
}

export function subjectAccessReview(user: UserInfo, { verb, path }: NonResourceAccess): object {
  const { username, uid, groups, extra } = user;
  return {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    metadata: {},
    spec: { user: username, uid, groups, extra, nonResourceAttributes: { path, verb } },
  };
}

/**
 * A missing or malformed status is not authenticated, nor is one without the audience that the review asked for: an
 * authenticator that knows no audiences returns none.
 */
export function transformTokenReview(answer: object, audience?: string): TokenAuthentication {
  const fields = new FieldReader();
  const status = statusOf(fields, answer);
  if (audience !== undefined && !stringsOf(status['audiences']).includes(audience))
    return { authenticated: false, error: `the token is not for the audience ${audience}` };
  const user = transformUser(fields, fields.part('status.user', status['user']));
  const error = fields.text('status.error', status['error']);
  if (status['authenticated'] !== true || user.username === '') return { authenticated: false, error };
  return { authenticated: true, user };
}

/** Only `allowed: true` allows; `denied` and no opinion both deny. */
export function transformAccessReview(answer: object): AccessDecision {
  const fields = new FieldReader();
  const status = statusOf(fields, answer);
  const reason = fields.text('status.reason', status['reason']);
  return { allowed: status['allowed'] === true && status['denied'] !== true, reason };
}

function statusOf(fields: FieldReader, answer: object): Readonly<Record<string, unknown>> {
  return fields.part('status', fields.part('review', answer)['status']);
}

function transformUser(fields: FieldReader, user: Readonly<Record<string, unknown>>): UserInfo {
  const extra = fields.part('status.user.extra', user['extra']);
  return {
    username: fields.text('status.user.username', user['username']),
    uid: fields.text('status.user.uid', user['uid']),
    groups: stringsOf(user['groups']),
    extra: Object.fromEntries(Object.entries(extra).map(([name, values]) => [name, stringsOf(values)])),
  };
}

function stringsOf(value: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [];
  return list.filter((text) => typeof text === 'string');
}
