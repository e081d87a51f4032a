/** Stored objects in protobuf. Each is encoded from its value: none of its JSON is made for it. */
import type { ListMeta, Status } from '../../../machinery/api/meta.ts';
import { protobufContentType } from '../codec/protobuf-body.ts';
import { type EnvelopeType, encodeEnvelope, encodeWatchFrame, ListEncoder } from '../codec/protobuf-encoder.ts';
import { metaVersion } from '../printing/table.ts';
import { asEventV1 } from '../kinds/event/event-forms.ts';
import type { EventType } from '../registry/watched-change.ts';
import { apiVersionOf, eventsV1Group, type ServedResource } from '../resources.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { ResponseForm } from './accept.ts';
import { bookmarkMetadata, type Presenter } from './presenter.ts';

/** Encoded without a pause. */
const itemsPerPart = 10;
const nothing = Buffer.alloc(0);

const statusType: EnvelopeType = { apiVersion: 'v1', kind: 'Status' };

export class ProtobufPresenter implements Presenter {
  readonly contentType = protobufContentType;
  readonly watchType = `${protobufContentType};stream=watch`;
  readonly eventKey: string;
  readonly usesJson = false;
  readonly #type: EnvelopeType;
  readonly #renamesEvents: boolean;

  /** Tables have no protobuf form, and neither have custom resources but for their metadata. */
  constructor(served: ServedResource, { as, version }: Pick<ResponseForm, 'as' | 'version'>) {
    this.eventKey = `protobuf/${as}/${version}/${served.group}`;
    this.#type =
      as === 'partial'
        ? { apiVersion: metaVersion(version), kind: 'PartialObjectMetadata' }
        : { apiVersion: apiVersionOf(served), kind: served.kind };
    this.#renamesEvents = as === 'object' && served.group === eventsV1Group;
  }

  object(stored: StoredObject): Buffer {
    return encodeEnvelope(this.#type, this.#valueOf(stored));
  }

  /** A list in parts. The first byte is known when all items are encoded; until then the parts are empty. */
  *list(metadata: ListMeta, items: readonly StoredObject[]): Generator<Buffer> {
    const { apiVersion, kind } = this.#type;
    const list = new ListEncoder({ apiVersion, kind: `${kind}List` }, this.#type);
    for (let index = items.length - 1; index >= 0; index -= 1) {
      const item = items[index];
      if (item !== undefined) list.prepend(this.#valueOf(item));
      if (index % itemsPerPart === 0) yield nothing;
    }
    yield* list.finish(metadata);
  }

  event(type: EventType, stored: StoredObject): Buffer {
    return encodeWatchFrame(type, this.#type, this.#valueOf(stored));
  }

  bookmark(revision: number, endsInitialEvents: boolean): Buffer {
    return encodeWatchFrame('BOOKMARK', this.#type, { metadata: bookmarkMetadata(revision, endsInitialEvents) });
  }

  error(status: Status | undefined): Buffer {
    return encodeWatchFrame('ERROR', statusType, status);
  }

  #valueOf(stored: StoredObject): unknown {
    return this.#renamesEvents ? asEventV1(stored.encodable()) : stored.encodable();
  }
}
