import { ApiError } from '../api/api-error.ts';

/** For what is kept whole, and for the answers that become a whole list. A page of 500 objects has a hundredth of it. */
export const bodyBytesMaxDefault = 256 * 1024 * 1024;

/** The body of a successful answer, and what it is said to be. */
export interface HttpAnswer {
  readonly contentType: string | undefined;
  readonly chunks: AsyncIterable<Buffer>;
}

/** The whole body. Rejects with an ApiError `too-large` above the limit, else with what the stream says. */
export async function readBody(chunks: AsyncIterable<Buffer>, bytesMax: number): Promise<Buffer> {
  const read: Buffer[] = [];
  for await (const chunk of limited(chunks, bytesMax)) read.push(chunk);
  return Buffer.concat(read);
}

/** The same chunks. Throws an ApiError `too-large` once they are more than the limit. */
export async function* limited(chunks: AsyncIterable<Buffer>, bytesMax: number): AsyncIterable<Buffer> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > bytesMax) {
      throw new ApiError({ reason: 'too-large', message: `an answer of more than ${bytesMax} bytes` });
    }
    yield chunk;
  }
}
