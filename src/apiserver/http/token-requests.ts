/** Creates tokens of service accounts (`serviceaccounts/NAME/token`, `kubectl create token`). */
import { ownValue } from '../../api/json-map.ts';
import { formatTime } from '../../api/timestamps.ts';
import type { Clock } from '../../ports/clock.ts';
import { badRequest, conflict, invalid, notFound } from '../api-errors/api-errors.ts';
import { type FieldError, invalidField } from '../api-errors/field-errors.ts';
import type { AccountClaims } from '../authentication/account-claims.ts';
import type { AccountTokens } from '../authentication/account-tokens.ts';
import { isMap, mapAt, type MutableJsonMap, textAt } from '../select-field.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { VersionedStore } from '../storage/versioned-store.ts';
import { serverAudiences } from './authenticator.ts';

interface TokenRequestsOptions {
  readonly store: VersionedStore;
  readonly tokens: AccountTokens;
  readonly clock: Clock;
}

type Bound = Pick<AccountClaims, 'pod' | 'node' | 'secret'>;

const requestKind = { group: 'authentication.k8s.io', name: 'TokenRequest' } as const;
const secondsDefault = 3_600;
const secondsMin = 600;
const secondsMax = 2 ** 32;
/** Tables of the objects to which a token can be bound. */
const boundKinds: Readonly<Record<string, { readonly table: string; readonly namespaced: boolean }>> = {
  Pod: { table: 'pods', namespaced: true },
  Secret: { table: 'secrets', namespaced: true },
  Node: { table: 'nodes', namespaced: false },
};

export class TokenRequests {
  readonly #options: TokenRequestsOptions;

  constructor(options: TokenRequestsOptions) {
    this.#options = options;
  }

  /** The TokenRequest with its token. Throws 400, 404, 409 or 422 ApiErrors. */
  create(account: StoredObject, body: MutableJsonMap): MutableJsonMap {
    assertSameAccount(account, mapAt(body, 'metadata'));
    const spec = mapAt(body, 'spec');
    const expirationSeconds = spec['expirationSeconds'] ?? secondsDefault;
    const audiences = audiencesOf(spec);
    assertExpiration(expirationSeconds);
    const { name, namespace, uid } = account;
    const bound = this.#bound(account, spec['boundObjectRef']);
    const subject = { namespace, account: { name, uid }, audiences, ...bound };
    const { token, expiresAtMs } = this.#options.tokens.issue(subject, expirationSeconds);
    return {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: { name, namespace, uid, creationTimestamp: formatTime(this.#options.clock.nowMs()) },
      spec: { ...spec, audiences, expirationSeconds, boundObjectRef: spec['boundObjectRef'] ?? null },
      status: { token, expirationTimestamp: formatTime(expiresAtMs) },
    };
  }

  #bound({ namespace, name }: StoredObject, given: unknown): Bound {
    if (!isMap(given)) return {};
    const ref = given;
    const kind = textAt(ref, 'kind');
    const object = this.#find(boundKindOf(ref), namespace, textAt(ref, 'name'));
    const isOther = kind === 'Pod' && textAt(object.content, 'spec', 'serviceAccountName') !== name;
    if (isOther) {
      const why = `cannot bind token for serviceaccount ${JSON.stringify(name)} to pod running with different serviceaccount name.`;
      throw badRequest(why);
    }
    const wanted = textAt(ref, 'uid');
    if (wanted !== '' && wanted !== object.uid) {
      const why = `the UID in the bound object reference (${wanted}) does not match the UID in record. The object might have been deleted and then recreated`;
      throw conflict({ group: '', name: kind }, object.name, why);
    }
    const reference = { name: object.name, uid: object.uid };
    if (kind === 'Pod') return { pod: reference, node: this.#nodeOf(object) };
    return kind === 'Node' ? { node: reference } : { secret: reference };
  }

  #find(
    { table, namespaced }: { readonly table: string; readonly namespaced: boolean },
    namespace: string,
    name: string,
  ): StoredObject {
    if (name === '') throw badRequest('Name parameter required.');
    const found = this.#options.store.get(table, namespaced ? `${namespace}/${name}` : name);
    if (found === undefined) throw notFound({ group: '', name: table }, name);
    return found;
  }

  /** Information only: the node need not exist. */
  #nodeOf(pod: StoredObject): Bound['node'] {
    const name = textAt(pod.content, 'spec', 'nodeName');
    return name === '' ? undefined : { name, uid: this.#options.store.get('nodes', name)?.uid ?? '' };
  }
}

/** Upstream considers the group only, which is that of the core for a version that it cannot read. */
function boundKindOf(ref: MutableJsonMap): { readonly table: string; readonly namespaced: boolean } {
  const parts = textAt(ref, 'apiVersion').split('/');
  const known = parts.length === 2 ? undefined : ownValue(boundKinds, textAt(ref, 'kind'));
  if (known !== undefined) return known;
  throw badRequest(`cannot bind token to object of type ${describeKind(ref)}`);
}

function audiencesOf(spec: MutableJsonMap): readonly string[] {
  const given = spec['audiences'];
  const audiences = Array.isArray(given) ? given.filter((item) => typeof item === 'string') : [];
  return audiences.length > 0 ? audiences : serverAudiences;
}

function assertSameAccount({ name, namespace, uid }: StoredObject, metadata: MutableJsonMap): void {
  const [givenName, givenNamespace, givenUid] = ['name', 'namespace', 'uid'].map((field) => textAt(metadata, field));
  const errors: FieldError[] = [];
  if (givenName !== '' && givenName !== name) {
    errors.push(invalidField('metadata.name', givenName, 'must match the service account name if specified'));
  } else if (givenNamespace !== '' && givenNamespace !== namespace) {
    const detail = 'must match the service account namespace if specified';
    errors.push(invalidField('metadata.namespace', givenNamespace, detail));
  }
  if (errors.length > 0) throw invalid(requestKind, name, errors);
  if (givenUid === '' || givenUid === uid) return;
  const why = `the UID in the token request (${givenUid}) does not match the UID of the service account (${uid})`;
  throw conflict(requestKind, name, why);
}

function assertExpiration(seconds: unknown): asserts seconds is number {
  const isNumber = typeof seconds === 'number' && Number.isInteger(seconds);
  if (isNumber && seconds >= secondsMin && seconds <= secondsMax) return;
  const detail =
    isNumber && seconds > secondsMax
      ? 'may not specify a duration larger than 2^32 seconds'
      : 'may not specify a duration less than 10 minutes';
  throw invalid(requestKind, '', [invalidField('spec.expirationSeconds', seconds, detail)]);
}

function describeKind(ref: MutableJsonMap): string {
  const [group = '', version] = textAt(ref, 'apiVersion').split('/');
  const groupVersion = version === undefined ? `/${group}` : `${group}/${version}`;
  return `${groupVersion}, Kind=${textAt(ref, 'kind')}`;
}
