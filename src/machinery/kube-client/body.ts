import { ApiError } from '../api/api-error.ts';

/** Limit for unary responses and for lists that are returned as a whole. A page of 500 objects is a hundredth of it. */
export const bodyBytesMaxDefault = 256 * 1024 * 1024;

/** The body of a successful response and its Content-Type. */
export interface HttpResponse {
  readonly contentType: string | undefined;
  readonly chunks: AsyncIterable<Buffer>;
}

/** The whole body. Rejects with an ApiError `too-large` above the limit, else with the stream's error. */
export async function readBody(chunks: AsyncIterable<Buffer>, bytesMax: number): Promise<Buffer> {
  const read: Buffer[] = [];
  for await (const chunk of limited(chunks, bytesMax)) read.push(chunk);
  return Buffer.concat(read);
}

/** Chunks of a body up to the limit. Throws an ApiError `too-large` above it. */
export async function* limited(chunks: AsyncIterable<Buffer>, bytesMax: number): AsyncIterable<Buffer> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > bytesMax) {
      throw new ApiError({ reason: 'too-large', message: `the response is larger than ${bytesMax} bytes` });
    }
    yield chunk;
  }
}
