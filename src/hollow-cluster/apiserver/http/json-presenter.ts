/**
 * Stored objects as JSON, in the form that a client requested. The plain form is the stored bytes behind a short prefix;
 * tables, metadata and events.k8s.io/v1 are built from the parsed object each time.
 */
import { stringifyExact } from '../codec/parse-exact-json.ts';
import type { KubeObject, ListMeta, Status } from '../../../machinery/api/meta.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';
import { apiVersionOf, eventsV1Group, type ServedResource } from '../resources.ts';
import { type IncludeObject, metaVersion, partialMetadata, printRow, printTable } from '../printing/table.ts';
import { toWireForm } from '../codec/wire-form.ts';
import type { EventType } from '../registry/watched-change.ts';
import { asEventV1 } from '../kinds/event/event-forms.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import { jsonType, type ResponseForm } from './accept.ts';
import { asKubeObject, bookmarkMetadata, type Presenter } from './presenter.ts';

interface Presentation extends ResponseForm {
  readonly includeObject: IncludeObject;
}

const comma = Buffer.from(',');
const brace = Buffer.from('{');
const indentSpaces = 2;

export class JsonPresenter implements Presenter {
  readonly contentType = jsonType;
  readonly watchType = jsonType;
  readonly usesJson = true;
  readonly #served: ServedResource;
  readonly #presentation: Presentation;
  readonly #clock: Clock;
  readonly #apiVersion: string;
  readonly #prefix: Buffer;

  constructor(served: ServedResource, presentation: Presentation, clock: Clock) {
    this.#served = served;
    this.#presentation = presentation;
    this.#clock = clock;
    this.#apiVersion = apiVersionOf(served);
    this.#prefix = Buffer.from(`{"kind":"${served.kind}","apiVersion":"${this.#apiVersion}",`);
  }

  /** Tables, which print ages, have none. */
  get eventKey(): string | undefined {
    const { as, version } = this.#presentation;
    return as === 'table' ? undefined : `json/${as}/${version}/${this.#served.group}`;
  }

  object(stored: StoredObject): Buffer {
    if (this.#isStoredForm() && !this.#presentation.pretty) return Buffer.concat([this.#prefix, ...stored.tail]);
    return this.#encode(this.#formOf(stored, true));
  }

  *list(metadata: ListMeta, found: readonly StoredObject[]): Generator<Buffer> {
    const { head, open } = this.#listHead(metadata);
    if (this.#presentation.pretty) {
      yield* indentList(head, open, found, (item) => this.#item(item));
      return;
    }
    yield Buffer.from(`${stringifyExact(head).slice(0, -1)},"${open}":[`);
    for (const [index, item] of found.entries()) {
      if (index > 0) yield comma;
      yield* this.#itemParts(item);
    }
    yield Buffer.from(']}');
  }

  /** A line of a watch. `first` adds the columns of a table. */
  event(type: EventType, stored: StoredObject, first: boolean): Buffer {
    const start = `{"type":"${type}","object":`;
    if (!this.#isStoredForm()) {
      return Buffer.from(`${start}${stringifyExact(this.#formOf(stored, first))}}\n`);
    }
    return Buffer.concat([Buffer.from(start), this.#prefix, ...stored.tail, eventEnd]);
  }

  bookmark(revision: number, endsInitialEvents: boolean, first: boolean): Buffer {
    const metadata = bookmarkMetadata(revision, endsInitialEvents);
    return Buffer.from(`{"type":"BOOKMARK","object":${stringifyExact(this.#bookmarkObject(metadata, first))}}\n`);
  }

  error(status: Status | undefined): Buffer {
    return Buffer.from(`${stringifyExact({ type: 'ERROR', object: { metadata: {}, ...status } })}\n`);
  }

  #bookmarkObject(metadata: KubeObject['metadata'], withColumns: boolean): unknown {
    const plain = { kind: this.#served.kind, apiVersion: this.#apiVersion, metadata };
    if (this.#presentation.as === 'object') return plain;
    if (this.#presentation.as === 'partial') return this.#partial(plain);
    return this.#bookmarkTable(metadata, withColumns);
  }

  /** A row of an object without content. The mark of the end of the initial state is never left out. */
  #bookmarkTable(metadata: KubeObject['metadata'], withColumns: boolean): unknown {
    const { resourceVersion = '', annotations } = metadata;
    const options = { ...this.#printOptions(), withColumns };
    const isMark = annotations !== undefined && options.includeObject === 'None';
    const empty = { ...toWireForm(this.#apiVersion, this.#served.kind, {}).object, metadata };
    const included = isMark ? { includeObject: 'Metadata' as const } : {};
    return printTable(this.#served, [empty], { resourceVersion }, { ...options, ...included });
  }

  #isStoredForm(): boolean {
    return this.#presentation.as === 'object' && this.#served.group !== eventsV1Group;
  }

  #formOf(stored: StoredObject, withColumns: boolean): unknown {
    const object = this.#parse(stored);
    if (this.#presentation.as === 'object') return object;
    if (this.#presentation.as === 'partial') return this.#partial(object);
    const metadata = { resourceVersion: String(stored.revision) };
    return printTable(this.#served, [object], metadata, { ...this.#printOptions(), withColumns });
  }

  #partial({ metadata }: KubeObject): unknown {
    return partialMetadata(metadata, this.#presentation.version);
  }

  #listHead(metadata: ListMeta): { readonly head: object; readonly open: 'items' | 'rows' } {
    if (this.#presentation.as === 'table') {
      const { rows: _rows, ...head } = printTable(this.#served, [], metadata, this.#printOptions());
      return { head, open: 'rows' };
    }
    const partial = this.#presentation.as === 'partial';
    const kind = partial ? 'PartialObjectMetadataList' : `${this.#served.kind}List`;
    const apiVersion = partial ? metaVersion(this.#presentation.version) : this.#apiVersion;
    return { head: { kind, apiVersion, metadata }, open: 'items' };
  }

  *#itemParts(stored: StoredObject): Generator<Buffer> {
    if (this.#isStoredForm()) {
      yield this.#served.custom === undefined ? brace : this.#prefix;
      yield* stored.tail;
    } else {
      yield Buffer.from(stringifyExact(this.#item(stored)));
    }
  }

  /** Items of typed lists have no kind and apiVersion, custom resources have them. */
  #item(stored: StoredObject): unknown {
    const object = this.#parse(stored);
    if (this.#presentation.as === 'table') return printRow(this.#served, object, this.#printOptions());
    if (this.#presentation.as === 'partial') return this.#partial(object);
    const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
    return this.#served.custom === undefined ? rest : object;
  }

  #parse(stored: StoredObject): KubeObject {
    const draft = stored.presented();
    const { metadata, ...rest } = this.#served.group === eventsV1Group ? asEventV1(draft) : draft;
    return asKubeObject({ kind: this.#served.kind, apiVersion: this.#apiVersion, metadata, ...rest }, stored.key);
  }

  #printOptions(): Parameters<typeof printRow>[2] {
    const { includeObject, version } = this.#presentation;
    return { nowMs: this.#clock.nowMs(), includeObject, version };
  }

  #encode(value: unknown): Buffer {
    return Buffer.from(stringifyExact(value, this.#presentation.pretty ? indentSpaces : undefined));
  }
}

const eventEnd = Buffer.from('}\n');

/** The indented JSON of an object that has, after the fields of `head`, a list of these items. */
function* indentList<T>(
  head: object,
  field: string,
  items: readonly T[],
  valueOf: (item: T) => unknown,
): Generator<Buffer> {
  const start = stringifyExact({ ...head, [field]: [] }, indentSpaces);
  if (items.length === 0) {
    yield Buffer.from(start);
    return;
  }
  const end = ']\n}';
  yield Buffer.from(start.slice(0, -end.length));
  const margin = `\n${' '.repeat(2 * indentSpaces)}`;
  for (const [index, item] of items.entries()) {
    const lines = stringifyExact(valueOf(item), indentSpaces).replaceAll('\n', margin);
    yield Buffer.from(`${index > 0 ? ',' : ''}${margin}${lines}`);
  }
  yield Buffer.from(`\n${' '.repeat(indentSpaces)}${end}`);
}
