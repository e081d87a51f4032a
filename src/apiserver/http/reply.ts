/** Answers as values, and the one place that sends them. */
import type { OutgoingHttpHeaders } from 'node:http';
import type { ApiError } from '../../api/api-error.ts';
import { begin, type Exchange, finish, write } from './exchange.ts';

export interface Reply {
  readonly code: number;
  readonly contentType: string;
  readonly headers?: OutgoingHttpHeaders;
  /** Sent one after the other, at the reader's pace. */
  readonly body: Iterable<Uint8Array>;
}

export const jsonType = 'application/json';

/** Below this many bytes an answer is sent in one piece, with its length. */
const wholeBytesMax = 256 * 1024;
/** Small parts are joined up to about this size before they are handed to the socket. */
const chunkBytesMin = 64 * 1024;

export function jsonReply(code: number, value: unknown, headers?: OutgoingHttpHeaders): Reply {
  return bytesReply(code, jsonType, Buffer.from(JSON.stringify(value)), headers);
}

export function textReply(code: number, text: string, headers?: OutgoingHttpHeaders): Reply {
  return bytesReply(code, 'text/plain; charset=utf-8', Buffer.from(text), headers);
}

export function bytesReply(code: number, contentType: string, body: Uint8Array, headers?: OutgoingHttpHeaders): Reply {
  return { code, contentType, body: [body], ...(headers === undefined ? {} : { headers }) };
}

/** A Status, with the Retry-After header that its details ask for. */
export function errorReply(error: ApiError): Reply {
  const { status, code } = error;
  const seconds = status?.details?.retryAfterSeconds ?? 0;
  const headers = seconds > 0 ? { 'retry-after': String(seconds) } : {};
  return jsonReply(code, { metadata: {}, ...status }, headers);
}

/** Unknown paths are answered by no API group, so there is no Status (upstream `notfoundhandler`). */
export function pageNotFound(): Reply {
  return textReply(404, '404 page not found\n', { 'x-content-type-options': 'nosniff' });
}

export async function sendReply(
  { outgoing, signal }: Exchange,
  reply: Reply,
  common: OutgoingHttpHeaders,
): Promise<void> {
  const headers = { ...common, ...reply.headers, 'content-type': reply.contentType };
  const chunks = joinParts(reply.body);
  const first = chunks.next();
  const whole = first.done === true ? Buffer.alloc(0) : first.value;
  const second = chunks.next();
  if (second.done === true && whole.length <= wholeBytesMax) {
    begin(outgoing, reply.code, { ...headers, 'content-length': whole.length });
    finish(outgoing, whole);
    return;
  }
  begin(outgoing, reply.code, headers);
  await write(outgoing, whole, signal);
  if (second.done !== true) await write(outgoing, second.value, signal);
  for (const chunk of chunks) {
    if (signal.aborted) return;
    await write(outgoing, chunk, signal);
  }
  finish(outgoing);
}

/** Joins parts into chunks that are worth a write. */
export function* joinParts(parts: Iterable<Uint8Array>): Generator<Uint8Array, void> {
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  for (const part of parts) {
    waiting.push(part);
    bytes += part.length;
    if (bytes < chunkBytesMin) continue;
    yield Buffer.concat(waiting, bytes);
    waiting = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(waiting, bytes);
}
