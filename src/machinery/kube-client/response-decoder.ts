// Decodes responses. The response's Content-Type, not the requested one, selects JSON or protobuf.
import { ApiError } from '../api/api-error.ts';
import { isMap } from '../api/json-map.ts';
import type { KubeObject, ListMeta, Status } from '../api/meta.ts';
import type { ResourceName } from '../api/resources.ts';
import { type HttpResponse, limited, readBody } from './body.ts';
import { JsonListDecoder, parseJson } from '../wire/json-list.ts';
import { JsonWatchDecoder } from '../wire/json-watch.ts';
import { ChunkTooLongError } from '../wire/chunk-buffer.ts';
import { ProtobufEnvelope } from '../wire/protobuf-envelope.ts';
import { ProtobufListDecoder } from '../wire/protobuf-list.ts';
import { isProtobufResource, type ProtobufResource } from '../wire/protobuf-objects.ts';
import { MalformedProtobufError } from '../wire/protobuf-reader.ts';
import { ProtobufWatchDecoder } from '../wire/protobuf-watch.ts';
import { isProtobuf, type ListDecoder, type ListTakers, protobufType, type WatchDecoder } from '../wire/wire-format.ts';

interface ListReading extends ListTakers {
  readonly bytesMax: number;
}

/** Decodes the responses of one server. Throws an ApiError, or the error of the connection. */
export class ResponseDecoder {
  /** Created on first use: its caches take megabytes, and JSON needs none. */
  #createdEnvelope: ProtobufEnvelope | undefined;

  /** `resource`: undefined where only JSON was requested. */
  async readObject(
    resource: ResourceName | undefined,
    { contentType, chunks }: HttpResponse,
    bytesMax: number,
  ): Promise<KubeObject> {
    const body = await readBody(chunks, bytesMax);
    if (!isProtobuf(contentType)) return parseObject(body.toString('utf8'));
    return withResponseErrors(() => this.#envelope.readObject(protobufResource(resource), body));
  }

  async readList(
    resource: ResourceName,
    { contentType, chunks }: HttpResponse,
    reading: ListReading,
  ): Promise<ListMeta> {
    const decoder: ListDecoder = isProtobuf(contentType)
      ? new ProtobufListDecoder(this.#envelope, protobufResource(resource), reading)
      : new JsonListDecoder(reading);
    for await (const chunk of limited(chunks, reading.bytesMax)) withResponseErrors(() => decoder.push(chunk));
    return withResponseErrors(() => decoder.end());
  }

  watchDecoder(resource: ResourceName, contentType: string | undefined): WatchDecoder {
    return isProtobuf(contentType)
      ? new ProtobufWatchDecoder(this.#envelope, protobufResource(resource))
      : new JsonWatchDecoder();
  }

  get #envelope(): ProtobufEnvelope {
    this.#createdEnvelope ??= new ProtobufEnvelope();
    return this.#createdEnvelope;
  }
}

/** Shared by all clients. Its caches are allocated with the first object, and a Status is not cached. */
const statusEnvelope = new ProtobufEnvelope();

/** The Status of an error response in protobuf; undefined if it is not protobuf or cannot be decoded. */
export function statusOf(contentType: string | undefined, body: Buffer): Status | undefined {
  if (!isProtobuf(contentType)) return undefined;
  try {
    return statusEnvelope.readStatus(body);
  } catch (error) {
    // The status code alone then describes the error.
    if (error instanceof MalformedProtobufError) return undefined;
    throw error;
  }
}

function parseObject(text: string): KubeObject {
  const value = parseJson(text, 'the response');
  if (isMap(value) && isMap(value['metadata'])) return { ...value, metadata: value['metadata'] };
  throw new ApiError({ reason: 'internal', message: 'the response is not an API object' });
}

function protobufResource(resource: ResourceName | undefined): ProtobufResource {
  if (resource !== undefined && isProtobufResource(resource)) return resource;
  throw new ApiError({
    reason: 'internal',
    message: `${resource ?? 'a write'}: the response has the content type ${protobufType}, which was not requested`,
  });
}

/** Calls `act` and converts decoding errors to ApiErrors. */
function withResponseErrors<T>(decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    throw responseError(error);
  }
}

/** Converts a decoding error to an ApiError; any other error is returned unchanged. */
export function responseError(cause: unknown): unknown {
  if (cause instanceof ChunkTooLongError) return new ApiError({ reason: 'too-large', message: cause.message, cause });
  if (cause instanceof MalformedProtobufError) {
    return new ApiError({ reason: 'internal', message: `the response is malformed: ${cause.message}`, cause });
  }
  return cause;
}
