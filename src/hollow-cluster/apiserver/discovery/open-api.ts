/** The OpenAPI v3 documents, one for each group version. They are built at the first request and cached. */
import { getOrInsert } from '../../../machinery/api/get-or-insert.ts';
import { messageNameOf } from '../codec/message-table.ts';
import { type EncodedDocument, encodeDocument } from './content-hash.ts';
import { pathsOf } from './open-api-paths.ts';
import {
  customSchemas,
  listSchema,
  objectMetaMessage,
  type Schema,
  schemaName,
  schemasOf,
} from './open-api-schemas.ts';
import {
  apiVersionOf,
  type GroupVersionKind,
  resourcesOf,
  servedGroups,
  type ServedResource,
  servedResources,
} from '../resources.ts';

/** Serves `/openapi/v3` and the paths below it. */
export class OpenApi {
  readonly #info: { readonly title: string; readonly version: string };
  readonly #served: readonly ServedResource[];
  readonly #documents = new Map<string, EncodedDocument>();
  #index: EncodedDocument | undefined;

  /** `version` is the server version, as in `/version`. */
  constructor(info: { readonly title: string; readonly version: string }, served = servedResources) {
    this.#info = info;
    this.#served = served;
  }

  /** The response to `/openapi/v3`: the URL of each document, with a hash that allows clients to cache it without limit. */
  index(): EncodedDocument {
    const entry = (path: string): Schema => ({
      serverRelativeURL: `/openapi/v3/${path}?hash=${this.document(path)?.hash ?? ''}`,
    });
    const paths = Object.fromEntries(this.#paths().map((path) => [path, entry(path)]));
    this.#index ??= encodeDocument({ paths });
    return this.#index;
  }

  /** The response to `/openapi/v3/PATH`, PATH being `api/v1` or `apis/GROUP/VERSION`; undefined if it is not served. */
  document(path: string): EncodedDocument | undefined {
    if (!this.#paths().includes(path)) return undefined;
    return getOrInsert(this.#documents, path, () => encodeDocument(this.#describe(path)));
  }

  #describe(path: string): Schema {
    const parts = path.split('/');
    const [group = '', version = ''] = parts.length === 2 ? ['', parts[1]] : parts.slice(1);
    return {
      openapi: '3.0.0',
      info: this.#info,
      paths: Object.fromEntries(resourcesOf(group, version, this.#served).flatMap(pathsOf)),
      components: { schemas: schemasFor({ group, version }, this.#served) },
    };
  }

  #paths(): readonly string[] {
    return [...servedGroups(this.#served)].flatMap(([group, versions]) =>
      versions.map((version) => (group === '' ? `api/${version}` : `apis/${group}/${version}`)),
    );
  }
}

/** A kind of another group may be part of an object, as a PersistentVolumeClaim of a StatefulSet: it is an object there too. */
function schemasFor(
  { group, version }: Omit<GroupVersionKind, 'kind'>,
  all: readonly ServedResource[],
): Readonly<Record<string, Schema>> {
  const served = resourcesOf(group, version, all);
  const options = { group, version, kind: 'DeleteOptions' };
  const subresources = served.flatMap((resource) => resource.subresources.map(({ responseKind }) => responseKind));
  const own = kindsByMessage([...served, ...subresources, options]);
  const kinds = new Map([...kindsByMessage(all), ...own]);
  const lists = served
    .filter((resource) => resource.verbs.includes('list'))
    .flatMap((kind) => {
      const message = messageOf(kind);
      return message === undefined ? [] : [listSchema(kind, schemaName(message))];
    });
  const custom = served.flatMap((resource) => customSchemas(resource));
  const roots = [...own.keys(), ...(custom.length > 0 ? [objectMetaMessage] : [])];
  return { ...schemasOf(roots, kinds), ...Object.fromEntries([...lists, ...custom]) };
}

function kindsByMessage(kinds: readonly GroupVersionKind[]): ReadonlyMap<string, readonly GroupVersionKind[]> {
  return new Map(
    kinds.flatMap((kind) => {
      const message = messageOf(kind);
      return message === undefined ? [] : [[message, [kind]] as const];
    }),
  );
}

function messageOf(kind: GroupVersionKind): string | undefined {
  return messageNameOf(apiVersionOf(kind), kind.kind);
}
