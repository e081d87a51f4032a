/** The OpenAPI v3 documents: one for each group version, made when first asked for and kept. */
import { messageNameOf } from '../codec/message-table.ts';
import { contentHash } from './content-hash.ts';
import { pathsOf } from './open-api-paths.ts';
import { listSchema, type Schema, schemasOf } from './open-api-schemas.ts';
import { apiVersionOf, type GroupVersionKind, resourcesOf, servedGroups } from './served-resources.ts';

/** A document as it is sent. */
export interface EncodedDocument {
  /** JSON text. */
  readonly text: string;
  /** Changes with the text; the document's ETag without the quotes. */
  readonly hash: string;
}

/** Answers `/openapi/v3` and what lies below it. */
export class OpenApi {
  readonly #title: string;
  readonly #version: string;
  readonly #documents = new Map<string, EncodedDocument>();
  #index: EncodedDocument | undefined;

  /** `version` is that of the server, as `/version` tells it. */
  constructor(options: { readonly title: string; readonly version: string }) {
    this.#title = options.title;
    this.#version = options.version;
  }

  /** The answer to `/openapi/v3`: where each document is, with a hash that lets clients keep it for good. */
  index(): EncodedDocument {
    this.#index ??= encode({ paths: Object.fromEntries(groupVersionPaths().map((path) => [path, this.#entry(path)])) });
    return this.#index;
  }

  /** The answer to `/openapi/v3/PATH`, PATH being `api/v1` or `apis/GROUP/VERSION`; undefined where none is served. */
  document(path: string): EncodedDocument | undefined {
    const known = this.#documents.get(path);
    if (known !== undefined || !groupVersionPaths().includes(path)) return known;
    const made = encode(this.#describe(path));
    this.#documents.set(path, made);
    return made;
  }

  #entry(path: string): Schema {
    return { serverRelativeURL: `/openapi/v3/${path}?hash=${this.document(path)?.hash ?? ''}` };
  }

  #describe(path: string): Schema {
    const parts = path.split('/');
    const [group = '', version = ''] = parts.length === 2 ? ['', parts[1]] : parts.slice(1);
    return {
      openapi: '3.0.0',
      info: { title: this.#title, version: this.#version },
      paths: Object.fromEntries(resourcesOf(group, version).flatMap(pathsOf)),
      components: { schemas: schemasFor(group, version) },
    };
  }
}

function groupVersionPaths(): readonly string[] {
  return [...servedGroups()].flatMap(([group, versions]) =>
    versions.map((version) => (group === '' ? `api/${version}` : `apis/${group}/${version}`)),
  );
}

function schemasFor(group: string, version: string): Readonly<Record<string, Schema>> {
  const served = resourcesOf(group, version);
  const options = { group, version, kind: 'DeleteOptions' };
  const subresources = served.flatMap((resource) => resource.subresources.map(({ responseKind }) => responseKind));
  const kinds = new Map<string, readonly GroupVersionKind[]>();
  for (const kind of [...served, ...subresources, options]) {
    const message = messageOf(kind);
    if (message !== undefined) kinds.set(message, [kind]);
  }
  const lists = served
    .filter((resource) => resource.verbs.includes('list'))
    .flatMap((kind) => {
      const message = messageOf(kind);
      return message === undefined ? [] : [listSchema(kind, message)];
    });
  return { ...schemasOf([...kinds.keys()], kinds), ...Object.fromEntries(lists) };
}

function messageOf(kind: GroupVersionKind): string | undefined {
  return messageNameOf(apiVersionOf(kind), kind.kind);
}

function encode(document: Schema): EncodedDocument {
  const text = JSON.stringify(document);
  return { text, hash: contentHash(text) };
}
