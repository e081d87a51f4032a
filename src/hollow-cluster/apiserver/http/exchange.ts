/** One request and its response, the same for HTTP/1.1 and HTTP/2. */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { constants, type Http2ServerRequest, type Http2ServerResponse, type ServerHttp2Stream } from 'node:http2';
import type { Writable } from 'node:stream';
import { ownValue } from '../../../machinery/api/json-map.ts';
import type { User } from '../authentication/user.ts';

export type Incoming = IncomingMessage | Http2ServerRequest;
export type Outgoing = ServerResponse | Http2ServerResponse;

export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly incoming: Incoming;
  readonly outgoing: Outgoing;
  readonly user: User;
  /** Aborts when the client disconnects, the server closes or the deadline passes. */
  readonly signal: AbortSignal;
}

/** A header's value; empty if it is missing. */
export function headerOf(incoming: Incoming, name: string): string {
  const value = ownValue(incoming.headers, name);
  return Array.isArray(value) ? value.join(',') : (value ?? '');
}

/** Resolves when the socket accepts more data, or the signal aborts. */
export async function write(outgoing: Outgoing, chunk: Uint8Array, signal: AbortSignal): Promise<void> {
  const writable: Writable = outgoing;
  if (signal.aborted || writable.write(chunk)) return;
  await new Promise<void>((resolve) => {
    const go = (): void => {
      outgoing.removeListener('drain', go);
      signal.removeEventListener('abort', go);
      resolve();
    };
    outgoing.once('drain', go);
    signal.addEventListener('abort', go);
  });
}

/** Ends the response, cleanly and once. */
export function finish(outgoing: Writable, last: Uint8Array = new Uint8Array()): void {
  if (!outgoing.writableEnded) outgoing.end(last);
}

/** Sends a complete response, headers and body in one write. */
export function respond(outgoing: Outgoing, code: number, headers: OutgoingHttpHeaders, body: Uint8Array): void {
  writeHead(outgoing, code, headers);
  finish(outgoing, body);
}

/** Sends status and headers now, before the body. */
export function begin(outgoing: Outgoing, code: number, headers: OutgoingHttpHeaders): void {
  writeHead(outgoing, code, headers);
  if (!('stream' in outgoing)) outgoing.flushHeaders();
}

function writeHead(outgoing: Outgoing, code: number, headers: OutgoingHttpHeaders): void {
  if ('stream' in outgoing) outgoing.writeHead(code, headers);
  else outgoing.writeHead(code, headers);
}

/** Ends an incomplete response at once, in a way that the client detects, and drops what is not sent yet. */
export function cutOff(outgoing: Outgoing): void {
  if ('stream' in outgoing) reset(outgoing.stream);
  else outgoing.destroy();
}

/**
 * Resets a stream with an error code, as Go's server does for `ErrAbortHandler`: many clients take a stream without one
 * for complete.
 */
function reset(stream: ServerHttp2Stream | undefined): void {
  if (stream === undefined || stream.destroyed) return;
  stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  // The frame with the code is queued. A client that does not read would otherwise keep the stream, and its data, open.
  stream.destroy();
}
