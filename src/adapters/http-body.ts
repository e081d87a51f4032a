import type { Readable } from 'node:stream';
import { ApiError } from '../api/api-error.ts';

/** Half of what one string can hold. A page of 500 objects has a hundredth of it; an unpaged list of a large cluster more. */
export const bodyBytesMaxDefault = 256 * 1024 * 1024;

/** The whole body as text. Rejects with an ApiError `too-large` above the limit, else with what the stream says. */
export async function readBody(body: Readable, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) {
      throw new ApiError({ reason: 'too-large', message: `an answer of more than ${bytesMax} bytes` });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
