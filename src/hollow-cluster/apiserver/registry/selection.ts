/** The objects of a list or a watch: both selectors together, and the narrowest watch bucket that contains them. */
import { ownValue } from '../../../machinery/api/json-map.ts';
import { objectKey } from '../../../machinery/api/object-key.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import { bucketOf } from '../storage/watch-hub.ts';
import { matchesLabels, parseLabelSelector } from './label-selector.ts';
import { badRequest } from '../api-errors/api-errors.ts';

/** The field labels of a resource, and their aliases. An alias may refer to a field that has no label itself. */
export interface FieldLabels {
  readonly labels: readonly string[];
  readonly aliases?: Readonly<Record<string, string>>;
}

export interface Selection {
  readonly namespace: string | undefined;
  /** Bucket of the watch hub that receives its changes. */
  readonly bucket: string;
  /** Whether nothing but the namespace restricts the selection. */
  readonly all: boolean;
  matches(object: StoredObject): boolean;
}

/** `within` is the namespace of the URL. Throws a 400 ApiError for an invalid selector or an unsupported field label. */
export function parseSelection(query: URLSearchParams, within: string | undefined, known: FieldLabels): Selection {
  const labels = parseLabelSelector(query.get('labelSelector') ?? '');
  const fields = parseFieldSelector(query.get('fieldSelector') ?? '').map((field) => resolve(field, known));
  const name = exactly(fields, 'metadata.name');
  const namespace = within ?? exactly(fields, 'metadata.namespace');
  const namespaced = known.labels.includes('metadata.namespace');
  const located = name !== undefined && (!namespaced || namespace !== undefined);
  const key = located ? objectKey(namespaced ? namespace : undefined, name) : undefined;
  return {
    namespace,
    bucket: bucketOf({ namespace, nodeName: exactly(fields, 'spec.nodeName'), key }),
    all: labels.length === 0 && fields.length === 0,
    matches: (object) =>
      (namespace === undefined || object.namespace === namespace) &&
      matchesLabels(labels, object.labels) &&
      matchesFields(fields, object.fields),
  };
}

function resolve(requirement: FieldRequirement, known: FieldLabels): FieldRequirement {
  const alias = ownValue(known.aliases, requirement.field);
  if (alias === undefined && !known.labels.includes(requirement.field)) {
    throw badRequest(`field label not supported: ${requirement.field}`);
  }
  return { ...requirement, field: alias ?? requirement.field };
}

function exactly(fields: readonly FieldRequirement[], label: string): string | undefined {
  const found = fields.find((requirement) => requirement.field === label && requirement.equal);
  return found === undefined || found.value === '' ? undefined : found.value;
}

interface FieldRequirement {
  readonly field: string;
  readonly equal: boolean;
  readonly value: string;
}

/** A term ends at a comma without a preceding backslash. */
const termPattern = /(?:\\.|[^,\\])+|\\$/gsu;
const operatorPattern = /^(.*?)(==|!=|=)(.*)$/su;

/**
 * The requirements of a field selector, as `spec.nodeName=n1,status.phase!=Failed` (upstream `fields.ParseSelector`). Throws a
 * 400 ApiError for an invalid one. Empty text, and empty terms, select everything.
 */
function parseFieldSelector(text: string): readonly FieldRequirement[] {
  return (text.match(termPattern) ?? []).map(parseTerm);
}

function matchesFields(requirements: readonly FieldRequirement[], fields: Readonly<Record<string, string>>): boolean {
  return requirements.every(({ field, equal, value }) => ((ownValue(fields, field) ?? '') === value) === equal);
}

function parseTerm(term: string): FieldRequirement {
  const [, field, operator, value] = operatorPattern.exec(term) ?? [];
  if (field === undefined || value === undefined) {
    throw badRequest(`invalid selector: '${term}'; can't understand '${term}'`);
  }
  return { field, equal: operator !== '!=', value: unescape(value) };
}

function unescape(value: string): string {
  return value.replace(/\\(.?)|=/gsu, (whole, escaped: string | undefined) => {
    if (escaped === '\\' || escaped === ',' || escaped === '=') return escaped;
    throw badRequest(`invalid field selector: unexpected ${whole} in value ${value}`);
  });
}
