/** The types of request bodies, flat and by name: used by decoding, OpenAPI and strict field validation. */
import { getOrInsert } from '../../../machinery/api/get-or-insert.ts';
import { apiVersionOf, servedResources, type GroupVersionKind } from '../resources.ts';

import descriptor from './descriptor.json' with { type: 'json' };

/** A field of the descriptor. */
export interface MessageField {
  /** A scalar's protobuf type, or the full name of a message. */
  readonly type: string;
  /** Field number. */
  readonly id: number;
  readonly rule?: 'repeated';
  /** Present for maps. */
  readonly keyType?: string;
  readonly options?: {
    readonly keep?: string;
    /** Whether the fields of the message are inlined into the enclosing message. */
    readonly inline?: boolean;
    readonly patchStrategy?: string;
    readonly mergeKey?: string;
  };
}

/** The fields of a message by their JSON name, inlined ones included. */
type MessageFields = ReadonlyMap<string, MessageField>;

const metaPackage = 'k8s.io.apimachinery.pkg.apis.meta.v1';

/** The package of each group version that is served. */
const packages: ReadonlyMap<string, string> = new Map(
  servedResources
    .flatMap((served) => [served, ...served.subresources.map(({ responseKind }) => responseKind)])
    .map((kind) => [apiVersionOf(kind), packageNameOf(kind)] as const),
);

/** Messages whose JSON form is a list of texts. */
export const textLists: ReadonlySet<string> = new Set([
  `${metaPackage}.Verbs`,
  'k8s.io.api.authentication.v1.ExtraValue',
  'k8s.io.api.authorization.v1.ExtraValue',
  'k8s.io.api.certificates.v1.ExtraValue',
]);

const declared = new Map(listMessages(descriptor, ''));
const flattened = new Map<string, MessageFields>();
const listed = new Map<string, readonly (readonly [string, MessageField])[]>();

/** Names of messages by group version and kind. */
const named = new Map<string, Map<string, string>>();

/**
 * Full name of the message for a kind; undefined if no request body has it. All group versions share one message for
 * options.
 */
export function messageNameOf(apiVersion: string, kind: string): string | undefined {
  const kinds = named.get(apiVersion) ?? new Map<string, string>();
  const known = kinds.get(kind);
  if (known !== undefined) return known;
  const name = findMessageName(apiVersion, kind);
  // Only messages that exist are remembered: they are few.
  if (name !== undefined) named.set(apiVersion, kinds.set(kind, name));
  return name;
}

function findMessageName(apiVersion: string, kind: string): string | undefined {
  const packageName = kind === 'DeleteOptions' ? metaPackage : packages.get(apiVersion);
  const name = `${packageName ?? ''}.${kind}`;
  return packageName !== undefined && declared.has(name) ? name : undefined;
}

/** Kinds of the metadata package that are responses, in the versions of requests and responses. */
const metaKinds: ReadonlySet<string> = new Set([
  'APIGroup',
  'APIGroupList',
  'APIResourceList',
  'APIVersions',
  'PartialObjectMetadata',
  'Status',
]);
const metaVersions: ReadonlySet<string> = new Set(['', 'v1', 'meta.k8s.io/v1', 'meta.k8s.io/v1beta1']);

/** Full name of the message for a kind of a response; undefined if there is none, as for a custom resource or a table. */
export function responseMessageOf(apiVersion: string, kind: string): string | undefined {
  if (metaKinds.has(kind) && metaVersions.has(apiVersion)) return `${metaPackage}.${kind}`;
  if (apiVersion === 'apidiscovery.k8s.io/v2') return `k8s.io.api.apidiscovery.v2.${kind}`;
  return messageNameOf(apiVersion, kind);
}

/** The fields of a message as declared, by name; throws a RangeError for an unknown message. */
export function declaredFields(name: string): Readonly<Record<string, MessageField>> {
  const fields = declared.get(name);
  if (fields === undefined) throw new RangeError(`unknown message ${name}`);
  return fields;
}

/** The JSON fields of a message by its full name; undefined for a scalar type. */
export function messageFields(name: string): MessageFields | undefined {
  const fields = declared.get(name);
  if (fields === undefined) return undefined;
  return getOrInsert(flattened, name, () => new Map(Object.entries(fields).flatMap(flatten)));
}

/** The entries of {@link messageFields}; empty for a scalar type. */
export function listMessageFields(name: string): readonly (readonly [string, MessageField])[] {
  return getOrInsert(listed, name, () => [...(messageFields(name) ?? [])]);
}

function flatten([name, field]: readonly [string, MessageField]): readonly (readonly [string, MessageField])[] {
  return field.options?.inline === true ? [...(messageFields(field.type) ?? [])] : [[name, field]];
}

type Fields = Readonly<Record<string, MessageField>>;

function listMessages(part: unknown, path: string): readonly (readonly [string, Fields])[] {
  if (!isFolder(part)) return isMessage(part) ? [[path, part.fields]] : [];
  return Object.entries(part.nested).flatMap(([name, inner]) =>
    listMessages(inner, path === '' ? name : `${path}.${name}`),
  );
}

function isFolder(part: unknown): part is { readonly nested: Readonly<Record<string, unknown>> } {
  return typeof part === 'object' && part !== null && 'nested' in part;
}

function isMessage(part: unknown): part is { readonly fields: Fields } {
  return typeof part === 'object' && part !== null && 'fields' in part;
}

/** The protobuf package of a built-in group version: it is named after the first part of the group. */
export function packageNameOf({ group, version }: Pick<GroupVersionKind, 'group' | 'version'>): string {
  const [first = ''] = group.split('.', 1);
  return `k8s.io.api.${first === '' ? 'core' : first}.${version}`;
}
