/** One request and its answer, the same for HTTP/1.1 and HTTP/2. */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { badRequest } from '../registry/refusals.ts';

export type Incoming = IncomingMessage | Http2ServerRequest;
export type Outgoing = ServerResponse | Http2ServerResponse;

/** Who sent the request. */
export interface User {
  readonly name: string;
  readonly uid?: string | undefined;
  readonly groups: readonly string[];
}

export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly incoming: Incoming;
  readonly outgoing: Outgoing;
  readonly user: User;
  /** Aborts when the client has gone or the server closes. */
  readonly signal: AbortSignal;
}

/** A header's value; empty where it is missing. */
export function headerOf(incoming: Incoming, name: string): string {
  const value = incoming.headers[name];
  return Array.isArray(value) ? value.join(',') : (value ?? '');
}

/** An integer parameter, 0 where it is missing; throws a 400 ApiError for anything else. */
export function integerOf(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? '0';
  if (/^[+-]?\d+$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text);
  throw badRequest(`${name}: strconv.ParseInt: parsing "${text}": invalid syntax`);
}

/** True also for a parameter without a value, as in `?watch`. */
export function isSet(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  return value !== null && value !== 'false' && value !== '0';
}

/** Resolves once everything written so far may be followed by more, or nobody listens any more. */
export async function write(outgoing: Outgoing, chunk: Uint8Array, signal: AbortSignal): Promise<void> {
  if (signal.aborted || writeTo(outgoing, chunk)) return;
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

function writeTo(outgoing: Outgoing, chunk: Uint8Array): boolean {
  return 'stream' in outgoing ? outgoing.write(chunk) : outgoing.write(chunk);
}

/** Ends the answer, cleanly and once. */
export function finish(outgoing: Outgoing, last: Uint8Array = new Uint8Array()): void {
  if (outgoing.writableEnded) return;
  if ('stream' in outgoing) outgoing.end(last);
  else outgoing.end(last);
}

/** Sends status and headers now, whenever the body may follow. */
export function begin(outgoing: Outgoing, code: number, headers: OutgoingHttpHeaders): void {
  if ('stream' in outgoing) {
    outgoing.writeHead(code, headers);
  } else {
    outgoing.writeHead(code, headers);
    outgoing.flushHeaders();
  }
}

/** Cuts the answer off: whoever reads it sees that it is not complete. */
export function cutOff(outgoing: Outgoing): void {
  if ('stream' in outgoing) outgoing.stream?.destroy();
  else outgoing.destroy();
}
