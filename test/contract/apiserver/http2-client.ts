/** Requests over one HTTP/2 connection, with the error code that ends each stream. */
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type IncomingHttpHeaders } from 'node:http2';
import type { Backend } from './backend.ts';

/** Maximum wait for an answer. */
const answerMsMax = 20_000;
/** In megabytes: many answers at once are no reason for this side to refuse more. */
const sessionMemoryMax = 1_000;

export interface Http2Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** HTTP/2 error code of the end of the stream. */
  readonly rstCode: number | undefined;
}

export function openSession({ url, ca }: Pick<Backend, 'url' | 'ca'>): ClientHttp2Session {
  const trust = ca === undefined ? { rejectUnauthorized: false } : { ca };
  const session = connect(url, { ...trust, maxSessionMemory: sessionMemoryMax });
  session.on('error', () => {});
  return session;
}

/** Resolves when the stream has ended, also with an error code. */
export function answerOf(stream: ClientHttp2Stream): Promise<Http2Answer> {
  return new Promise((resolve, reject) => {
    let headers: IncomingHttpHeaders = {};
    const parts: Buffer[] = [];
    stream.once('response', (given) => {
      headers = given;
    });
    stream.on('data', (part: Buffer) => parts.push(part));
    // The code of the error is in rstCode.
    stream.on('error', () => {});
    const timer = setTimeout(() => reject(new Error(`no answer within ${answerMsMax} ms`)), answerMsMax);
    stream.once('close', () => {
      clearTimeout(timer);
      const { ':status': status } = headers;
      resolve({ status: Number(status), headers, text: Buffer.concat(parts).toString(), rstCode: stream.rstCode });
    });
  });
}
