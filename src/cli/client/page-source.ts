import { readBody } from '../../machinery/kube-client/body.ts';
import { ApiError } from '../../machinery/api/api-error.ts';
import { isMap } from '../../machinery/api/json-map.ts';

/** A page of 500 nodes, the longest one, is a fiftieth of it. */
export const pageBytesMax = 16 * 1024 * 1024;

export interface PageAnswer {
  readonly status: number;
  readonly body: string;
}

/** The pages of one running controller. */
export interface PageSource {
  /** The controller in messages: an address, or a pod. */
  readonly name: string;
  /** Advice for a response with this status; undefined: none. */
  hintAfter(status: number): string | undefined;
  /** The page at this path with query. Rejects with a {@link PageError} without a response. */
  get(path: string, signal: AbortSignal): Promise<PageAnswer>;
  /** The replica that responded does not lead: the next page is read from the leader. Absent: it is the only one known. */
  follow?(): Promise<void>;
  close(): Promise<void>;
}

/** A page cannot be read: a complete message for the user. */
export class PageError extends Error {
  override readonly name = 'PageError';
}

/** The body of a page of `name`. Rejects with a {@link PageError} above {@link pageBytesMax}, without reading on. */
export async function readPageBody(name: string, chunks: AsyncIterable<Buffer>): Promise<string> {
  try {
    return String(await readBody(chunks, pageBytesMax));
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== 'too-large') throw error;
    throw new PageError(`the page of ${name} is longer than ${pageBytesMax} bytes; it is none of a controller`, {
      cause: error,
    });
  }
}

/** The body of the page. Rejects with a {@link PageError}, which has the controller's message, unless its status is 2xx. */
export async function readPage(source: PageSource, path: string, signal: AbortSignal): Promise<string> {
  const { status, body } = await source.get(path, signal);
  if (status < 300) return body;
  const hint = source.hintAfter(status);
  throw new PageError(`${source.name} returned ${status}: ${messageIn(body)}${hint === undefined ? '' : `; ${hint}`}`);
}

/** The message of a controller's error page; otherwise the first line of the body. */
function messageIn(body: string): string {
  try {
    const parsed: unknown = JSON.parse(body);
    return messageOf(parsed) ?? firstLine(body);
  } catch {
    return firstLine(body); // not JSON: another server's page
  }
}

/** Error pages have `{error: {message}}`; authentication and authorization errors are a Status, as from the API server. */
function messageOf(parsed: unknown): string | undefined {
  if (!isMap(parsed)) return undefined;
  const status: unknown = 'error' in parsed ? parsed['error'] : parsed;
  if (!isMap(status) || !('message' in status)) return undefined;
  return String(status['message']);
}

function firstLine(body: string): string {
  return body.split('\n', 1)[0] ?? '';
}
