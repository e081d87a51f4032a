/** CertificateSigningRequests (upstream `pkg/registry/certificates/certificates/strategy.go`, `ValidateCertificateSigningRequest...`). */
import { sameJson } from '../../api/same-json.ts';
import { forbidden } from '../api-errors/api-errors.ts';
import {
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  unsupportedField,
} from '../api-errors/field-errors.ts';
import {
  CertificateRequestError,
  findCertificateProblem,
  readCertificateRequest,
  type VerifySignature,
} from '../codec/certificate-request.ts';
import { mapsAt, type MutableJsonMap, textAt } from '../select-field.ts';
import type { Draft } from '../storage/stored-object.ts';
import { findRepeated } from '../validation/find-repeated.ts';
import { explainLabel, explainSubdomain } from '../validation/formats.ts';
import { explainPathSegment } from './rbac-strategies.ts';
import { type Endpoint, plainStrategy, type Strategy, takeField, type WriteContext } from './strategy.ts';

const secondsMin = 600;
const legacySigner = 'kubernetes.io/legacy-unknown';
const clientSigner = 'kubernetes.io/kube-apiserver-client';
const resource = { group: 'certificates.k8s.io', name: 'certificatesigningrequests' } as const;
const userFields = ['username', 'uid', 'groups', 'extra'] as const;
const decisions = ['Approved', 'Denied'] as const;
const lasting = [...decisions, 'Failed'] as const;
const usages = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
] as const;

/** `verify` checks the signature of a request. */
export function certificateRequestStrategy(verify: VerifySignature): Strategy {
  const validate = (draft: Draft): readonly FieldError[] => validateRequest(draft, verify);
  return {
    ...plainStrategy,
    table: 'certificatesigningrequests.certificates.k8s.io',
    namespaced: false,
    explainName: explainPathSegment,
    fieldLabels: { labels: ['metadata.name', 'spec.signerName'] },
    admit: (draft, _context, stored) => {
      if (stored === undefined) assertSubjectAllowed(draft, verify);
    },
    prepareCreate: (draft, context) => {
      draft.spec = withUser(draft.spec ?? {}, context);
      draft.status = {};
    },
    prepareUpdate,
    validateCreate: validate,
    validateUpdate: (draft, stored, endpoint) => [...validate(draft), ...validateChange(draft, stored, endpoint)],
    fieldsOf: ({ spec }) => ({ 'spec.signerName': textAt(spec, 'signerName') }),
  };
}

/** Whatever the client sent about itself is replaced. */
function withUser(spec: MutableJsonMap, { user }: WriteContext): MutableJsonMap {
  const given = Object.fromEntries(
    Object.entries(spec).filter(([field]) => !userFields.some((name) => name === field)),
  );
  if (user === undefined) return given;
  const { name: username, uid = '', groups, extra = {} } = user;
  return {
    ...given,
    username,
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups: [...groups] }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

/** Upstream admission plugin `CertificateSubjectRestriction`. */
function assertSubjectAllowed({ metadata, spec }: Draft, verify: VerifySignature): void {
  if (textAt(spec, 'signerName') !== clientSigner) return;
  const request = tryRead(spec, verify);
  if (request instanceof CertificateRequestError || !request.organizations.includes('system:masters')) return;
  const why = `use of ${clientSigner} signer with system:masters group is not allowed`;
  throw forbidden(resource, metadata.name ?? '', why);
}

function tryRead(
  spec: unknown,
  verify: VerifySignature,
): ReturnType<typeof readCertificateRequest> | CertificateRequestError {
  try {
    return readCertificateRequest(Buffer.from(textAt(spec, 'request'), 'base64').toString(), verify);
  } catch (error) {
    if (error instanceof CertificateRequestError) return error;
    throw error;
  }
}

/** `/approval` changes the conditions, `/status` all of the status but decisions; nothing changes the spec. */
function prepareUpdate(draft: Draft, stored: Draft, endpoint: Endpoint, { now }: WriteContext): void {
  takeField(draft, stored, 'spec');
  const before = mapsAt(stored.status, 'conditions');
  const given = mapsAt(draft.status, 'conditions');
  if (endpoint === '') {
    takeField(draft, stored, 'status');
    return;
  }
  const kept = endpoint === 'status' ? decisions.reduce((all, type) => keepInstances(all, before, type), given) : given;
  const { conditions: _conditions, ...others } = (endpoint === 'status' ? draft.status : stored.status) ?? {};
  const times = new Map(before.toReversed().map((condition) => [kindOf(condition), condition['lastTransitionTime']]));
  const conditions = kept.map((condition) => withTimes(condition, times, now));
  draft.status = { ...others, ...(conditions.length === 0 ? {} : { conditions }) };
}

function keepInstances(
  given: readonly MutableJsonMap[],
  before: readonly MutableJsonMap[],
  type: string,
): readonly MutableJsonMap[] {
  const earlier = ofType(before, type);
  if (ofType(given, type).length !== earlier.length) return given;
  const rest = [...earlier];
  return given.map((condition) => (condition['type'] === type ? (rest.shift() ?? condition) : condition));
}

/** Type and status of a condition. */
function kindOf({ type, status }: MutableJsonMap): string {
  return JSON.stringify([type, status]);
}

/** `times` are the ones of the stored conditions; of equal ones the first counts. */
function withTimes(condition: MutableJsonMap, times: ReadonlyMap<string, unknown>, now: string): MutableJsonMap {
  const lastTransitionTime = condition['lastTransitionTime'] ?? times.get(kindOf(condition)) ?? now;
  return { ...condition, lastUpdateTime: condition['lastUpdateTime'] ?? now, lastTransitionTime };
}

function ofType(conditions: readonly MutableJsonMap[], type: string): readonly MutableJsonMap[] {
  return conditions.filter((condition) => condition['type'] === type);
}

function validateRequest({ spec, status }: Draft, verify: VerifySignature): readonly FieldError[] {
  const request = tryRead(spec, verify);
  const seconds = spec?.['expirationSeconds'];
  const tooShort = typeof seconds === 'number' && seconds < secondsMin;
  const certificate = textAt(status, 'certificate');
  const problem =
    certificate === '' ? undefined : findCertificateProblem(Buffer.from(certificate, 'base64').toString());
  const detail = 'may not specify a duration less than 600 seconds (10 minutes)';
  return [
    ...(request instanceof CertificateRequestError
      ? [invalidField('spec.request', spec?.['request'] ?? null, request.message)]
      : []),
    ...validateUsages(spec?.['usages']),
    ...validateSigner(textAt(spec, 'signerName')),
    ...(tooShort ? [invalidField('spec.expirationSeconds', seconds, detail)] : []),
    ...validateConditions(mapsAt(status, 'conditions')),
    ...(problem === undefined ? [] : [invalidField('status.certificate', '<certificate data>', problem)]),
  ];
}

function validateUsages(given: unknown): readonly FieldError[] {
  const values: readonly unknown[] = Array.isArray(given) ? given : [];
  if (values.length === 0) return [requiredField('spec.usages')];
  const path = (index: number): string => `spec.usages[${index}]`;
  const repeated = findRepeated(values);
  return [
    ...values.flatMap((value, index) =>
      usages.some((known) => known === value) ? [] : [unsupportedField(path(index), value, usages)],
    ),
    ...values.flatMap((value, index) => (repeated.has(index) ? [duplicateField(path(index), value)] : [])),
  ];
}

function validateSigner(name: string): readonly FieldError[] {
  const field = 'spec.signerName';
  if (name === '') return [requiredField(field)];
  if (name === legacySigner) {
    return [invalidField(field, name, 'the legacy signerName is not allowed via this API version')];
  }
  const [domain = '', path, ...more] = name.split('/');
  if (path === undefined || more.length > 0) {
    const detail = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    return [invalidField(field, name, detail)];
  }
  const dots = domain.includes('.') ? [] : ['should be a domain with at least two segments separated by dots'];
  return [
    ...[...explainParts(domain, explainLabel), ...dots].map((detail) => invalidField(field, domain, detail)),
    ...explainParts(path, explainSubdomain).map((detail) => invalidField(field, path, detail)),
  ];
}

/** Of the first part between dots that is wrong. */
function explainParts(text: string, explain: (part: string) => readonly string[]): readonly string[] {
  const wrong = text.split('.').find((part) => explain(part).length > 0);
  return wrong === undefined
    ? []
    : explain(wrong).map((detail) => `validating label ${JSON.stringify(wrong)}: ${detail}`);
}

function validateConditions(conditions: readonly MutableJsonMap[]): readonly FieldError[] {
  const types = conditions.map((condition) => textAt(condition, 'type'));
  const repeated = findRepeated(types);
  const firstOf = new Map(types.map((type, index) => [type, index] as const).reverse());
  return conditions.flatMap((condition, index) => {
    const type = types[index] ?? '';
    const opposite = decisions.find((decision) => decision !== type && decisions.some((known) => known === type));
    const path = `status.conditions[${index}]`;
    const detail = 'Approved and Denied conditions are mutually exclusive';
    return [
      ...(type === '' ? [requiredField(`${path}.type`)] : []),
      ...validateConditionStatus(type, textAt(condition, 'status'), path),
      ...(opposite !== undefined && (firstOf.get(opposite) ?? index) < index
        ? [invalidField('status.conditions', type, detail)]
        : []),
      ...(repeated.has(index) ? [duplicateField(`${path}.type`, type)] : []),
    ];
  });
}

function validateConditionStatus(type: string, status: string, path: string): readonly FieldError[] {
  if (status === '') return [requiredField(`${path}.status`)];
  const allowed = lasting.some((known) => known === type) ? ['True'] : ['False', 'True', 'Unknown'];
  return allowed.includes(status) ? [] : [unsupportedField(`${path}.status`, status, allowed)];
}

function validateChange(draft: Draft, stored: Draft, endpoint: Endpoint): readonly FieldError[] {
  const [given, before] = [mapsAt(draft.status, 'conditions'), mapsAt(stored.status, 'conditions')];
  const count = (conditions: readonly MutableJsonMap[], type: string): number => ofType(conditions, type).length;
  const refuse = (what: string, type: string): FieldError =>
    forbiddenField('status.conditions', `updates may not ${what} a condition of type "${type}"`);
  const removed = lasting.filter((type) => count(given, type) < count(before, type));
  const added = endpoint === 'approval' ? [] : decisions.filter((type) => count(given, type) > count(before, type));
  return [
    ...removed.map((type) => refuse('remove', type)),
    ...added.map((type) => refuse('add', type)),
    ...validateCertificateChange(draft, stored),
  ];
}

function validateCertificateChange(draft: Draft, stored: Draft): readonly FieldError[] {
  const before = stored.status?.['certificate'];
  if (before === undefined || sameJson(draft.status?.['certificate'], before)) return [];
  return [forbiddenField('status.certificate', 'updates may not modify existing certificate content')];
}
