/**
 * The deadline of one request (upstream `filters.WithTimeoutForNonLongRunningRequests`). When it passes, the signal of the
 * request aborts, its work ends, and only then the client receives an answer: what was answered with a timeout is not
 * carried out later.
 */
import type { OutgoingHttpHeaders } from 'node:http';
import type { Clock } from '../../ports/clock.ts';
import { cutOff, type Exchange, type Incoming, type Outgoing, respond } from './exchange.ts';

/** Time for the rest of a body over HTTP/1.1, which is discarded, before the connection is closed. */
const bodyGraceMs = 5_000;

export class RequestDeadline {
  readonly #clock: Clock;
  readonly #abort: () => void;
  readonly #stopped = new AbortController();
  #passed = false;

  /** `abort` ends the work of the request. */
  constructor(clock: Clock, abort: () => void) {
    this.#clock = clock;
    this.#abort = abort;
  }

  get passed(): boolean {
    return this.#passed;
  }

  start(timeoutMs: number): void {
    void this.#clock.sleep(timeoutMs, this.#stopped.signal).then(() => {
      if (this.#stopped.signal.aborted) return;
      this.#passed = true;
      this.#abort();
    });
  }

  stop(): void {
    this.#stopped.abort();
  }
}

/** The Status that kube-apiserver sends, without kind and apiVersion. */
const timedOut = Buffer.from(
  `${JSON.stringify({
    metadata: {},
    status: 'Failure',
    message: 'Timeout: request did not complete within the allotted timeout',
    reason: 'Timeout',
    details: {},
    code: 504,
  })}\n`,
);

/** Ends a request whose deadline has passed: with 504, or by cutting off a response that has begun. */
export async function endLate(
  { incoming, outgoing }: Exchange,
  headers: OutgoingHttpHeaders,
  clock: Clock,
): Promise<void> {
  if (outgoing.writableEnded || outgoing.destroyed) return;
  if (outgoing.headersSent) {
    cutOff(outgoing);
    return;
  }
  // Upstream states no type, and Go sends that of a text.
  const type = { 'content-type': 'text/plain; charset=utf-8', 'content-length': timedOut.length };
  respond(outgoing, 504, { ...headers, ...type }, timedOut);
  await discardBody(incoming, outgoing, clock);
}

async function discardBody(incoming: Incoming, outgoing: Outgoing, clock: Clock): Promise<void> {
  if (incoming.readableEnded) return;
  if ('stream' in outgoing) {
    outgoing.stream?.close();
    return;
  }
  const ended = new AbortController();
  incoming.once('close', () => ended.abort());
  incoming.resume();
  await clock.sleep(bodyGraceMs, ended.signal);
  if (!ended.signal.aborted) incoming.destroy();
}
