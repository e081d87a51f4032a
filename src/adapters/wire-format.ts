// Two forms in which an API server answers. What we ask for is a wish; the answer's Content-Type says what came.
import type { ListMeta } from '../api/meta.ts';
import type { WatchEvent } from '../ports/kube-reader.ts';

export const protobufType = 'application/vnd.kubernetes.protobuf';
export const jsonType = 'application/json';

/** Reads one watch, chunk by chunk. */
export interface WatchDecoder {
  /** Adds the events that this chunk completes. */
  push(chunk: Buffer, events: WatchEvent[]): void;
  /** Bytes of an event whose end has not arrived. */
  readonly begunBytes: number;
}

/** Reads one list, chunk by chunk; gives its items away as they arrive. */
export interface ListDecoder {
  push(chunk: Buffer): void;
  /** After the last chunk. Throws where that is not the end of a list. */
  end(): ListMeta;
}

export type WireType = typeof jsonType | typeof protobufType;

/** JSON is always good enough: who cannot give what we would rather have gives that. */
export function acceptHeader(wanted: WireType, parameters: string): string {
  return wanted === jsonType ? jsonType : `${wanted}${parameters},${jsonType}`;
}

/** The value of a Content-Type header, without what follows the media type. */
export function isProtobuf(contentType: string | undefined): boolean {
  return contentType?.split(';', 1)[0]?.trim().toLowerCase() === protobufType;
}
