/**
 * Stored bytes in the form a client asked for. The plain form is the stored bytes behind a short prefix and costs nothing;
 * tables, metadata alone and the newer face of events are made from the parsed object each time.
 */
import type { KubeObject, ListMeta } from '../../api/meta.ts';
import type { Clock } from '../../ports/clock.ts';
import { apiVersionOf, type ServedResource } from '../discovery/served-resources.ts';
import { type IncludeObject, printRow, printTable } from '../printing/table.ts';
import { asNewerEvent, newerEventGroup } from '../registry/event-forms.ts';
import { decodeDraft, type StoredObject } from '../storage/stored-object.ts';
import type { AnswerForm } from './accept.ts';

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

export interface Presentation extends AnswerForm {
  readonly pretty: boolean;
  readonly includeObject: IncludeObject;
}

/** Marks the bookmark that ends the initial state of a watch. */
const initialEventsEnd = { 'k8s.io/initial-events-end': 'true' } as const;
const comma = Buffer.from(',');
const brace = Buffer.from('{');
const indentSpaces = 2;

export class Presenter {
  readonly #served: ServedResource;
  readonly #how: Presentation;
  readonly #clock: Clock;
  readonly #apiVersion: string;
  readonly #prefix: Buffer;

  constructor(served: ServedResource, how: Presentation, clock: Clock) {
    this.#served = served;
    this.#how = how;
    this.#clock = clock;
    this.#apiVersion = apiVersionOf(served);
    this.#prefix = Buffer.from(`{"kind":"${served.kind}","apiVersion":"${this.#apiVersion}",`);
  }

  /** Two presenters of the same key write the same bytes for an event; tables, which show ages, have none. */
  get eventKey(): string | undefined {
    return this.#how.as === 'table' ? undefined : `${this.#how.as}/${this.#how.version}/${this.#served.group}`;
  }

  object(stored: StoredObject): Buffer {
    if (this.#isStoredForm() && !this.#how.pretty) return Buffer.concat([this.#prefix, stored.tail]);
    return this.#encode(this.#formOf(stored, true));
  }

  *list(metadata: ListMeta, items: readonly StoredObject[]): Generator<Buffer> {
    const { head, open } = this.#listHead(metadata);
    if (this.#how.pretty) {
      yield this.#encode({ ...head, [open]: items.map((item) => this.#item(item)) });
      return;
    }
    yield Buffer.from(`${JSON.stringify(head).slice(0, -1)},"${open}":[`);
    for (const [index, item] of items.entries()) {
      if (index > 0) yield comma;
      yield* this.#itemParts(item);
    }
    yield Buffer.from(']}');
  }

  /** One line of a watch. `first` adds the columns of a table. */
  event(type: EventType, stored: StoredObject, first: boolean): Buffer {
    const start = `{"type":"${type}","object":`;
    if (!this.#isStoredForm()) {
      return Buffer.from(`${start}${JSON.stringify(this.#formOf(stored, first))}}\n`);
    }
    return Buffer.concat([Buffer.from(start), this.#prefix, stored.tail, eventEnd]);
  }

  bookmark(revision: number, endsInitialEvents: boolean): Buffer {
    const annotations = endsInitialEvents ? { annotations: initialEventsEnd } : {};
    const metadata = { resourceVersion: String(revision), ...annotations };
    return Buffer.from(`{"type":"BOOKMARK","object":${JSON.stringify(this.#bookmarkObject(metadata))}}\n`);
  }

  #bookmarkObject(metadata: KubeObject['metadata']): unknown {
    const plain = { kind: this.#served.kind, apiVersion: this.#apiVersion, metadata };
    if (this.#how.as === 'object') return plain;
    const partial = { kind: 'PartialObjectMetadata', apiVersion: this.#metaVersion(), metadata };
    if (this.#how.as === 'partial') return partial;
    const { resourceVersion = '' } = metadata;
    const table = printTable(this.#served, [], { resourceVersion }, { nowMs: 0, version: this.#how.version });
    return { ...table, columnDefinitions: null, rows: [{ cells: [], object: partial }] };
  }

  #isStoredForm(): boolean {
    return this.#how.as === 'object' && this.#served.group !== newerEventGroup;
  }

  #formOf(stored: StoredObject, withColumns: boolean): unknown {
    const object = this.#parse(stored);
    if (this.#how.as === 'object') return object;
    if (this.#how.as === 'partial') return this.#partial(object);
    const metadata = { resourceVersion: String(stored.revision) };
    return printTable(this.#served, [object], metadata, { ...this.#printOptions(), withColumns });
  }

  #partial({ metadata }: KubeObject): unknown {
    return { kind: 'PartialObjectMetadata', apiVersion: this.#metaVersion(), metadata };
  }

  #listHead(metadata: ListMeta): { readonly head: object; readonly open: 'items' | 'rows' } {
    if (this.#how.as === 'table') {
      const { rows: _rows, ...head } = printTable(this.#served, [], metadata, this.#printOptions());
      return { head, open: 'rows' };
    }
    const partial = this.#how.as === 'partial';
    const kind = partial ? 'PartialObjectMetadataList' : `${this.#served.kind}List`;
    const apiVersion = partial ? this.#metaVersion() : this.#apiVersion;
    return { head: { kind, apiVersion, metadata }, open: 'items' };
  }

  *#itemParts(stored: StoredObject): Generator<Buffer> {
    if (this.#isStoredForm()) {
      yield brace;
      yield stored.tail;
    } else {
      yield Buffer.from(JSON.stringify(this.#item(stored)));
    }
  }

  /** Items of typed lists carry no kind of their own. */
  #item(stored: StoredObject): unknown {
    const object = this.#parse(stored);
    if (this.#how.as === 'table') return printRow(this.#served, object, this.#printOptions());
    if (this.#how.as === 'partial') return this.#partial(object);
    const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
    return rest;
  }

  #parse(stored: StoredObject): KubeObject {
    const draft = decodeDraft(stored);
    const { metadata, ...rest } = this.#served.group === newerEventGroup ? asNewerEvent(draft) : draft;
    const object: unknown = { kind: this.#served.kind, apiVersion: this.#apiVersion, metadata, ...rest };
    if (!isKubeObject(object)) throw new Error(`${stored.key} has no metadata`);
    return object;
  }

  #printOptions(): Parameters<typeof printRow>[2] {
    const { includeObject, version } = this.#how;
    return { nowMs: this.#clock.nowMs(), includeObject, version };
  }

  #metaVersion(): string {
    return `meta.k8s.io/${this.#how.version}`;
  }

  #encode(value: unknown): Buffer {
    return Buffer.from(JSON.stringify(value, undefined, this.#how.pretty ? indentSpaces : undefined));
  }
}

const eventEnd = Buffer.from('}\n');

function isKubeObject(value: unknown): value is KubeObject {
  return typeof value === 'object' && value !== null && 'metadata' in value;
}
