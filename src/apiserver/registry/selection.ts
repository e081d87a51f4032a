/** Which objects a list or a watch is about: both selectors together, and the narrowest place to look for them. */
import { objectKey } from '../../api/object-key.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import { bucketOf } from '../storage/watch-hub.ts';
import { type FieldRequirement, matchesFields, parseFieldSelector } from './field-selector.ts';
import { type LabelRequirement, matchesLabels, parseLabelSelector } from './label-selector.ts';
import { badRequest } from './refusals.ts';

export interface SelectionQuery {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

/** What a resource lets one select by, and under which other names. An alias may stand for what has no label itself. */
export interface FieldLabels {
  readonly labels: readonly string[];
  readonly aliases?: Readonly<Record<string, string>>;
}

export interface Selection {
  readonly namespace: string | undefined;
  /** The one object that can match, where the field selector names it. */
  readonly name: string | undefined;
  /** Where in the watch hub its changes arrive. */
  readonly bucket: string;
  /** Nothing but the namespace restricts it. */
  readonly all: boolean;
  matches(object: StoredObject): boolean;
}

/** Throws a 400 ApiError for a bad selector or a field one cannot select by. */
export function parseSelection(query: SelectionQuery, known: FieldLabels): Selection {
  const labels = parseLabelSelector(query.labelSelector ?? '');
  const fields = parseFieldSelector(query.fieldSelector ?? '').map((field) => resolve(field, known));
  const name = exactly(fields, 'metadata.name');
  const namespace = query.namespace ?? exactly(fields, 'metadata.namespace');
  return {
    namespace,
    name,
    bucket: bucket({ namespace, name, nodeName: exactly(fields, 'spec.nodeName') }, known),
    all: labels.length === 0 && fields.length === 0,
    matches: (object) =>
      (namespace === undefined || object.namespace === namespace) && matchesBoth(labels, fields, object),
  };
}

function matchesBoth(
  labels: readonly LabelRequirement[],
  fields: readonly FieldRequirement[],
  object: StoredObject,
): boolean {
  return matchesLabels(labels, object.labels) && matchesFields(fields, object.fields);
}

function resolve(requirement: FieldRequirement, known: FieldLabels): FieldRequirement {
  const alias = known.aliases?.[requirement.field];
  if (alias === undefined && !known.labels.includes(requirement.field)) {
    throw badRequest(`field label not supported: ${requirement.field}`);
  }
  return { ...requirement, field: alias ?? requirement.field };
}

function exactly(fields: readonly FieldRequirement[], label: string): string | undefined {
  const found = fields.find((requirement) => requirement.field === label && requirement.equal);
  return found === undefined || found.value === '' ? undefined : found.value;
}

interface Place {
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly nodeName: string | undefined;
}

function bucket({ namespace, name, nodeName }: Place, known: FieldLabels): string {
  const namespaced = known.labels.includes('metadata.namespace');
  const located = name !== undefined && (!namespaced || namespace !== undefined);
  return bucketOf({
    namespace,
    nodeName,
    key: located ? objectKey(namespaced ? namespace : undefined, name) : undefined,
  });
}
