// The event stream of the server, opened again whenever it ends.
import { estimateRetryMs, parseProblem, type Problem } from './describe-problem.ts';
import { parseEventStream } from './parse-event-stream.ts';
import type { DashboardStore } from './store.ts';

/** The server sends at least a comment in 15 s. */
const silenceMaxMs = 40_000;

/** A stream of at least this age ended because the server ends every stream after a time: no failure. */
const ordinaryMs = 10_000;

interface Ending {
  readonly problem: Problem;
  readonly retryAfter: string | null;
  /** The server closed the stream, after events. */
  readonly isClosed: boolean;
}

/** Reads the stream until the page is closed. */
export async function followEventStream(url: URL, store: DashboardStore): Promise<never> {
  let failures = 0;
  for (;;) {
    const startedAtMs = Date.now();
    const { problem, retryAfter, isClosed } = await readStream(url, store);
    const isOrdinary = isClosed && Date.now() - startedAtMs >= ordinaryMs;
    failures = isOrdinary ? 0 : failures + 1;
    const retryMs = isOrdinary ? 0 : estimateRetryMs(failures, retryAfter);
    if (!isOrdinary) store.lost(problem, retryMs);
    await new Promise((resolve) => setTimeout(resolve, retryMs));
  }
}

async function readStream(url: URL, store: DashboardStore): Promise<Ending> {
  const abort = new AbortController();
  let timer = setTimeout(() => abort.abort(), silenceMaxMs);
  let hadEvents = false;
  try {
    const response = await fetch(url, {
      headers: { accept: 'text/event-stream' },
      cache: 'no-store',
      signal: abort.signal,
    });
    if (!response.ok || response.body === null) {
      const problem = parseProblem(response.status, await response.text());
      return { problem, retryAfter: response.headers.get('retry-after'), isClosed: false };
    }
    store.opened(response.headers.get('date'));
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      clearTimeout(timer);
      timer = setTimeout(() => abort.abort(), silenceMaxMs);
      const parsed = parseEventStream(rest, value);
      ({ rest } = parsed);
      for (const event of parsed.events) store.received(event);
      hadEvents ||= parsed.events.length > 0;
    }
    return { problem: { status: 0, message: '' }, retryAfter: null, isClosed: hadEvents };
  } catch (error) {
    // The text of a network error is different in every browser, and says nothing more.
    const message = error instanceof SyntaxError ? 'an event is not JSON' : '';
    return { problem: { status: 0, message }, retryAfter: null, isClosed: false };
  } finally {
    clearTimeout(timer);
    abort.abort();
  }
}
