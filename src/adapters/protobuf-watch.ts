import type { WatchEvent } from '../ports/kube-reader.ts';
import { FrameSplitter } from './frame-splitter.ts';
import type { ProtobufEnvelope } from './protobuf-envelope.ts';
import type { ProtobufResource } from './protobuf-objects.ts';
import type { WatchDecoder } from './wire-format.ts';

/** The events of a watch in protobuf. */
export class ProtobufWatchDecoder implements WatchDecoder {
  readonly #envelope: ProtobufEnvelope;
  readonly #resource: ProtobufResource;
  readonly #frames = new FrameSplitter();

  constructor(envelope: ProtobufEnvelope, resource: ProtobufResource) {
    this.#envelope = envelope;
    this.#resource = resource;
  }

  push(chunk: Buffer, events: WatchEvent[]): void {
    this.#frames.push(chunk, (bytes, from, to) => {
      events.push(this.#envelope.readEvent(this.#resource, bytes, from, to));
    });
  }

  get begunBytes(): number {
    return this.#frames.begunBytes;
  }
}
