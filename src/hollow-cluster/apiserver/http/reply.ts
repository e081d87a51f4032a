/** Responses as values, and the function that sends them. */
import type { OutgoingHttpHeaders } from 'node:http';
import { stringifyExact } from '../codec/parse-exact-json.ts';
import type { ApiError } from '../../../machinery/api/api-error.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';
import { encodeEnvelope } from '../codec/protobuf-encoder.ts';
import { type MutableJsonMap, textAt } from '../../../machinery/api/select-field.ts';
import { contentTypeOf, jsonType, type ResponseForm, type WireFormat } from './accept.ts';
import { begin, type Exchange, finish, respond, write } from './exchange.ts';
import type { KubeObject } from '../../../machinery/api/meta.ts';
import { type IncludeObject, partialMetadata, printTable } from '../printing/table.ts';
import { asKubeObject } from './presenter.ts';

export interface Reply {
  readonly code: number;
  readonly contentType: string;
  readonly headers?: OutgoingHttpHeaders;
  /**
   * Sent one after the other, with backpressure; it may be made lazily, and other requests are answered between its parts. An
   * empty part is only such a place, in work whose first byte comes last.
   */
  readonly body: Iterable<Uint8Array>;
}

/** A response up to this size is sent at once, with its content-length. */
const wholeBytesMax = 256 * 1024;
/** Small parts are joined up to about this size before they are written to the socket. */
const chunkBytesMin = 64 * 1024;

export function jsonReply(code: number, value: unknown, headers?: OutgoingHttpHeaders): Reply {
  return bytesReply(code, jsonType, Buffer.from(stringifyExact(value)), headers);
}

export function textReply(code: number, text: string, headers?: OutgoingHttpHeaders): Reply {
  return bytesReply(code, 'text/plain; charset=utf-8', Buffer.from(text), headers);
}

export function bytesReply(code: number, contentType: string, body: Uint8Array, headers?: OutgoingHttpHeaders): Reply {
  return { code, contentType, body: [body], ...(headers === undefined ? {} : { headers }) };
}

/** An object with kind and apiVersion, as a Status. */
export function objectReply(
  code: number,
  object: Readonly<Record<string, unknown>>,
  format: WireFormat,
  headers?: OutgoingHttpHeaders,
): Reply {
  if (format === 'json') return jsonReply(code, object, headers);
  const type = { apiVersion: textAt(object, 'apiVersion'), kind: textAt(object, 'kind') };
  return bytesReply(code, contentTypeOf(format), encodeEnvelope(type, object), headers);
}

/** A Status, with the Retry-After header of its details. */
export function errorReply(error: ApiError, format: WireFormat): Reply {
  const { status, code } = error;
  const seconds = status?.details?.retryAfterSeconds ?? 0;
  const headers = seconds > 0 ? { 'retry-after': String(seconds) } : {};
  return objectReply(code, { metadata: {}, ...status }, format, headers);
}

/** An unknown path belongs to no API group, so the response is not a Status (upstream `notfoundhandler`). */
export function pageNotFound(): Reply {
  return textReply(404, '404 page not found\n', { 'x-content-type-options': 'nosniff' });
}

/** Rejects with the error of the body; whether a response has begun is in `headersSent` of the exchange. */
export async function sendReply(
  { outgoing, signal }: Exchange,
  reply: Reply,
  common: OutgoingHttpHeaders,
  clock: Clock,
): Promise<void> {
  const headers = { ...common, ...reply.headers, 'content-type': reply.contentType };
  const pauses = new WorkPauses(clock);
  const chunks = joinParts(reply.body);
  const first = (await nextChunk(chunks, pauses, signal)) ?? new Uint8Array();
  const second = await nextChunk(chunks, pauses, signal);
  if (signal.aborted) return;
  // A short answer, as to a write, is sent without a pause.
  if (second === undefined && first.length <= wholeBytesMax) {
    respond(outgoing, reply.code, { ...headers, 'content-length': first.length }, first);
    return;
  }
  begin(outgoing, reply.code, headers);
  await write(outgoing, first, signal);
  for (let chunk = second; chunk !== undefined; chunk = await nextChunk(chunks, pauses, signal)) {
    await write(outgoing, chunk, signal);
    await pauses.pause();
  }
  // A part that was not written makes the response incomplete, which the client must detect.
  if (!signal.aborted) finish(outgoing);
}

/** The next chunk that is not empty; undefined at the end, and when the signal has aborted. */
async function nextChunk(
  chunks: Iterator<Uint8Array, void>,
  pauses: WorkPauses,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  while (!signal.aborted) {
    const { value } = chunks.next();
    if (value === undefined || value.length > 0) return value ?? undefined;
    await pauses.pause();
  }
  return undefined;
}

/** Joins parts into chunks of at least {@link chunkBytesMin}; an empty part stays a chunk of its own. */
export function* joinParts(parts: Iterable<Uint8Array>): Generator<Uint8Array, void> {
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  for (const part of parts) {
    if (part.length === 0) {
      yield part;
      continue;
    }
    waiting.push(part);
    bytes += part.length;
    if (bytes < chunkBytesMin) continue;
    yield joined(waiting, bytes);
    waiting = [];
    bytes = 0;
  }
  if (bytes > 0) yield joined(waiting, bytes);
}

function joined(parts: readonly Uint8Array[], bytes: number): Uint8Array {
  const [first] = parts;
  return parts.length === 1 && first !== undefined ? first : Buffer.concat(parts, bytes);
}

/** Work without a pause. */
const workMsMax = 5;

/** Divides long work, so that the server answers other requests and reads its timers in between. */
export class WorkPauses {
  readonly #clock: Clock;
  #sinceMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#sinceMs = clock.monotonicMs();
  }

  /** A pause between two parts of the work: none, or one turn of the event loop if the work has taken long. */
  async pause(): Promise<void> {
    if (this.#clock.monotonicMs() - this.#sinceMs < workMsMax) return;
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
    this.#sinceMs = this.#clock.monotonicMs();
  }
}

const scaleKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' } as const;

interface ScaleForm extends ResponseForm {
  readonly includeObject: IncludeObject;
}

/** A Scale in the form that the client requested. */
export function scaleReply(scale: MutableJsonMap, form: ScaleForm, nowMs: number, headers: OutgoingHttpHeaders): Reply {
  return objectReply(200, { ...formOf(asKubeObject(scale, 'the Scale'), form, nowMs) }, form.format, headers);
}

function formOf(scale: KubeObject, { as, version, includeObject }: ScaleForm, nowMs: number): object {
  if (as === 'object') return scale;
  if (as === 'partial') return partialMetadata(scale.metadata, version);
  const { resourceVersion = '' } = scale.metadata;
  return printTable(scaleKind, [scale], { resourceVersion }, { nowMs, version, includeObject });
}
