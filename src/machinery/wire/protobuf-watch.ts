import type { WatchEvent } from '../ports/kube-reader.ts';
import { ChunkBuffer, ChunkTooLongError } from './chunk-buffer.ts';
import type { ProtobufEnvelope } from './protobuf-envelope.ts';
import type { ProtobufResource } from './protobuf-objects.ts';
import type { WatchDecoder } from './wire-format.ts';

const lengthBytes = 4;
const frameBytesMax = 16 * 1024 * 1024;

/**
 * The events of a protobuf watch. Each is in a frame of its own, after its length as a 4-byte big-endian integer; a chunk
 * is copied only if it completes a frame that began in an earlier one.
 */
export class ProtobufWatchDecoder implements WatchDecoder {
  readonly #envelope: ProtobufEnvelope;
  readonly #resource: ProtobufResource;
  readonly #buffer = new ChunkBuffer(lengthBytes);

  constructor(envelope: ProtobufEnvelope, resource: ProtobufResource) {
    this.#envelope = envelope;
    this.#resource = resource;
  }

  /** Throws a {@link ChunkTooLongError}. */
  push(chunk: Buffer, events: WatchEvent[]): void {
    const bytes = this.#buffer.push(chunk);
    if (bytes === undefined) return;
    for (let at = 0; ; ) {
      const end = at + lengthBytes + lengthOf(bytes, at);
      if (end > bytes.length) return this.#buffer.retain(bytes.subarray(at), end - at);
      events.push(this.#envelope.readEvent(this.#resource, bytes, at + lengthBytes, end));
      at = end;
    }
  }

  get begunBytes(): number {
    return this.#buffer.bytes;
  }
}

/** 0 while the length itself is incomplete. */
function lengthOf(bytes: Buffer, at: number): number {
  if (bytes.length - at < lengthBytes) return 0;
  const length = bytes.readUInt32BE(at);
  if (length > frameBytesMax) throw new ChunkTooLongError(`a frame of more than ${frameBytesMax} bytes`);
  return length;
}
