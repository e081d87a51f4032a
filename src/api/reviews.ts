// Two questions that are asked of the API server by creating an object that is never stored: whose token is this, and may
// this user do that? Only the fields that decide something are here.
import { FieldReader } from './field-reader.ts';

export const tokenReviewPath = '/apis/authentication.k8s.io/v1/tokenreviews';
export const subjectAccessReviewPath = '/apis/authorization.k8s.io/v1/subjectaccessreviews';

/** Whoever has shown who it is (apiserver `user.Info`). */
export interface UserInfo {
  readonly username: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** A request that is about no object. */
export interface NonResourceAccess {
  /** The HTTP method in lower case. */
  readonly verb: string;
  readonly path: string;
}

/** `error` is the API server's, for the log; it holds no token. */
export type TokenVerdict =
  | { readonly authenticated: true; readonly user: UserInfo }
  | { readonly authenticated: false; readonly error: string };

export interface AccessVerdict {
  readonly allowed: boolean;
  /** Why, as far as the API server says. */
  readonly reason: string;
}

/** Audiences are left out: the API server then takes its own, as kube-controller-manager lets it. */
export function tokenReview(token: string): object {
  return { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', metadata: {}, spec: { token } };
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

/** What is missing or malformed counts as not authenticated. */
export function viewTokenVerdict(answer: object): TokenVerdict {
  const fields = new FieldReader();
  const status = statusIn(fields, answer);
  const user = viewUser(fields, fields.part('status.user', status['user']));
  const error = fields.text('status.error', status['error']);
  if (status['authenticated'] !== true || user.username === '') return { authenticated: false, error };
  return { authenticated: true, user };
}

/** Only `allowed: true` allows; `denied` and no opinion are the same to who asks. */
export function viewAccessVerdict(answer: object): AccessVerdict {
  const fields = new FieldReader();
  const status = statusIn(fields, answer);
  const reason = fields.text('status.reason', status['reason']);
  return { allowed: status['allowed'] === true && status['denied'] !== true, reason };
}

function statusIn(fields: FieldReader, answer: object): Readonly<Record<string, unknown>> {
  return fields.part('status', fields.part('review', answer)['status']);
}

function viewUser(fields: FieldReader, user: Readonly<Record<string, unknown>>): UserInfo {
  const extra = fields.part('status.user.extra', user['extra']);
  return {
    username: fields.text('status.user.username', user['username']),
    uid: fields.text('status.user.uid', user['uid']),
    groups: textsIn(user['groups']),
    extra: Object.fromEntries(Object.entries(extra).map(([name, values]) => [name, textsIn(values)])),
  };
}

function textsIn(value: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [];
  return list.filter((text) => typeof text === 'string');
}
