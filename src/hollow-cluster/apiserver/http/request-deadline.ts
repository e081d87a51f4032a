/**
 * The deadline of one request (upstream `filters.WithTimeoutForNonLongRunningRequests`). When it passes, the signal of the
 * request aborts, its work ends, and only then the client receives an answer: what was answered with a timeout is not
 * carried out later. The reverse holds too: what is carried out is not answered with a timeout.
 */
import type { OutgoingHttpHeaders } from 'node:http';
import { parseGoDuration } from '../../../machinery/api/go-duration.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';
import { badRequest } from '../api-errors/api-errors.ts';
import { cutOff, type Exchange, type Incoming, type Outgoing, respond } from './exchange.ts';

/** Time for the rest of a body over HTTP/1.1, which is discarded, before the connection is closed. */
const bodyGraceMs = 5_000;

/** Time for the answer to a write that was carried out, after its deadline: the client needs the answer. */
const sendMsMax = 60_000;

/** Upstream `--request-timeout`: the timeout of a request that states none, a larger one, or none above zero. */
const timeoutMsMax = 60_000;

/** Milliseconds of the option `timeout` of a request. Throws a 400 ApiError for a text that is no duration, as `30s` is one. */
export function timeoutMsOf(text: string): number {
  const givenMs = text === '' ? 0 : parseGoDuration(text);
  if (givenMs === undefined) throw badRequest(`timeout: must be a duration such as 30s (got ${JSON.stringify(text)})`);
  return givenMs > 0 && givenMs < timeoutMsMax ? givenMs : timeoutMsMax;
}

export class RequestDeadline {
  readonly #clock: Clock;
  readonly #ended: AbortController;
  #carriedOut = false;
  #passed = false;
  #onPassed: (() => void) | undefined;

  /** `ended` aborts when the response is closed, which stops the deadline; the deadline aborts it to end the work. */
  constructor(clock: Clock, ended: AbortController) {
    this.#clock = clock;
    this.#ended = ended;
  }

  start(timeoutMs: number): void {
    void this.#run(timeoutMs);
  }

  /** Marks the write as carried out: the request is not answered with a timeout any more. */
  markCarriedOut(): void {
    this.#carriedOut = true;
  }

  /**
   * Ends the deadline of the work: if it has passed, the request is answered late. Otherwise it limits from now on the
   * time in which the client reads its answer, which the server holds until then.
   */
  async settle(exchange: Exchange, headers: OutgoingHttpHeaders): Promise<void> {
    if (!this.#passed) this.#onPassed = () => cutOff(exchange.outgoing);
    else if (this.#carriedOut) cutOff(exchange.outgoing);
    else await endLate(exchange, headers, this.#clock);
  }

  async #run(timeoutMs: number): Promise<void> {
    const { signal } = this.#ended;
    await this.#clock.sleep(timeoutMs, signal);
    if (this.#carriedOut && !signal.aborted) await this.#clock.sleep(sendMsMax, signal);
    if (signal.aborted) return;
    this.#passed = true;
    this.#ended.abort();
    this.#onPassed?.();
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
async function endLate({ incoming, outgoing }: Exchange, headers: OutgoingHttpHeaders, clock: Clock): Promise<void> {
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

/** Reads the rest of a body of a request that was answered, for a limited time over HTTP/1.1. */
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
