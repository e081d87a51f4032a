// The two encodings of API server responses. The Accept header is a preference; the response's Content-Type decides.
import type { KubeObject, ListMeta } from '../api/meta.ts';
import type { UndecodableObject, WatchEvent } from '../ports/kube-reader.ts';

export const protobufType = 'application/vnd.kubernetes.protobuf';
export const jsonType = 'application/json';

/** Decodes one watch, chunk by chunk. */
export interface WatchDecoder {
  /** Adds the events that this chunk completes. */
  push(chunk: Buffer, events: WatchEvent[]): void;
  /** Bytes of a partial event. */
  readonly begunBytes: number;
}

/** Receivers of the items of a list. */
export interface ListTakers {
  readonly take: (item: KubeObject) => unknown;
  /** For an item that could not be decoded. */
  readonly skip: (item: UndecodableObject) => unknown;
}

/** Decodes one list, chunk by chunk; passes items on as they arrive. */
export interface ListDecoder {
  push(chunk: Buffer): void;
  /** After the last chunk. Throws if the list is incomplete. */
  end(): ListMeta;
}

export type WireType = typeof jsonType | typeof protobufType;

/** JSON is always accepted as a fallback. */
export function acceptHeader(wanted: WireType, parameters: string): string {
  return wanted === jsonType ? jsonType : `${wanted}${parameters},${jsonType}`;
}

/** Whether the media type of a Content-Type header is protobuf. */
export function isProtobuf(contentType: string | undefined): boolean {
  return contentType?.split(';', 1)[0]?.trim().toLowerCase() === protobufType;
}
