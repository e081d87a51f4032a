// What an answer says, whichever of the two forms it comes in: its Content-Type decides, not what we asked for.
import { ApiError } from '../api/api-error.ts';
import type { KubeObject, ListMeta, Status } from '../api/meta.ts';
import type { ResourceName } from '../api/resources.ts';
import { type HttpAnswer, limited, readBody } from './http-body.ts';
import { JsonListDecoder } from './json-list.ts';
import { isJsonObject, parseJson } from './json-text.ts';
import { JsonWatchDecoder } from './json-watch.ts';
import { PieceTooLongError } from './piece-gatherer.ts';
import { ProtobufEnvelope } from './protobuf-envelope.ts';
import { ProtobufListDecoder } from './protobuf-list.ts';
import { isProtobufResource, type ProtobufResource } from './protobuf-objects.ts';
import { MalformedProtobufError } from './protobuf-source.ts';
import { ProtobufWatchDecoder } from './protobuf-watch.ts';
import { isProtobuf, type ListDecoder, protobufType, type WatchDecoder } from './wire-format.ts';

export interface ListReading {
  readonly bytesMax: number;
  readonly take: (item: KubeObject) => unknown;
}

/** Reads the answers of one server. Whatever it throws is an ApiError, or what the connection says. */
export class HttpAnswers {
  /** Its caches take megabytes, and who speaks JSON needs none. */
  #known: ProtobufEnvelope | undefined;

  /** The answer to a write, which is always JSON. */
  async readWritten({ chunks }: HttpAnswer, bytesMax: number): Promise<KubeObject> {
    return parseObject((await readBody(chunks, bytesMax)).toString('utf8'));
  }

  async readObject(resource: ResourceName, { contentType, chunks }: HttpAnswer, bytesMax: number): Promise<KubeObject> {
    const body = await readBody(chunks, bytesMax);
    if (!isProtobuf(contentType)) return parseObject(body.toString('utf8'));
    return translated(() => this.#envelope.readObject(readable(resource), body));
  }

  async readList(resource: ResourceName, { contentType, chunks }: HttpAnswer, reading: ListReading): Promise<ListMeta> {
    const decoder: ListDecoder = isProtobuf(contentType)
      ? new ProtobufListDecoder(this.#envelope, readable(resource), reading.take)
      : new JsonListDecoder(reading.take);
    for await (const chunk of limited(chunks, reading.bytesMax)) translated(() => decoder.push(chunk));
    return translated(() => decoder.end());
  }

  watchDecoder(resource: ResourceName, contentType: string | undefined): WatchDecoder {
    return isProtobuf(contentType)
      ? new ProtobufWatchDecoder(this.#envelope, readable(resource))
      : new JsonWatchDecoder();
  }

  get #envelope(): ProtobufEnvelope {
    this.#known ??= new ProtobufEnvelope();
    return this.#known;
  }
}

/** The Status of a refusal that came as protobuf; undefined where it did not, or cannot be read. */
export function statusOf(contentType: string | undefined, body: Buffer): Status | undefined {
  if (!isProtobuf(contentType)) return undefined;
  try {
    return new ProtobufEnvelope().readStatus(body);
  } catch (error) {
    // The code alone says what happened then.
    if (error instanceof MalformedProtobufError) return undefined;
    throw error;
  }
}

function parseObject(text: string): KubeObject {
  const value = parseJson(text, 'the answer');
  if (isJsonObject(value) && isJsonObject(value['metadata'])) return { ...value, metadata: value['metadata'] };
  throw new ApiError({ reason: 'internal', message: 'the answer is not an object of the API' });
}

function readable(resource: ResourceName): ProtobufResource {
  if (isProtobufResource(resource)) return resource;
  throw new ApiError({ reason: 'internal', message: `${resource} came as ${protobufType}, which was not asked for` });
}

/** Does it, and throws what goes wrong with an answer in the caller's words. */
function translated<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw answerError(error);
  }
}

/** Whatever else it is stays what it is. */
export function answerError(cause: unknown): unknown {
  if (cause instanceof PieceTooLongError) return new ApiError({ reason: 'too-large', message: cause.message, cause });
  if (cause instanceof MalformedProtobufError) {
    return new ApiError({ reason: 'internal', message: `what came is malformed: ${cause.message}`, cause });
  }
  return cause;
}
