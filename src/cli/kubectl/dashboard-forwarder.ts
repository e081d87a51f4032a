// The pages of the leader on a port of loopback, for a browser, which has no credentials for them. The forwarder adds them,
// so only a client that knows the random part of the address is served: not other users of this machine, and not pages of
// other sites, which cannot know it and whose requests name another origin.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { ownValue } from '../../machinery/api/json-map.ts';
import { causeOf } from '../client/server-pages.ts';
import { escapeControls } from '../../machinery/api/format-safe-text.ts';
import { type LeaderPages, readState } from './leader-pages.ts';

const { createServer } = process.getBuiltinModule('node:http');

interface DashboardForwarderOptions {
  readonly leader: LeaderPages;
  /** Prints changes of the leader and failures. */
  readonly say: (text: string) => void;
  /** Interval in which the replica is asked whether it still leads. */
  readonly checkIntervalMs?: number;
}

const secretBytes = 24;
const checkIntervalMsDefault = 5_000;
const failureSilenceMs = 30_000;
const sentHeaders = ['accept', 'last-event-id', 'if-none-match'] as const;
const returnedHeaders = [
  'content-type',
  'content-security-policy',
  'referrer-policy',
  'x-content-type-options',
  'cache-control',
  'etag',
  'location',
  'retry-after',
] as const;

export class DashboardForwarder {
  readonly #options: DashboardForwarderOptions;
  readonly #secret = randomBytes(secretBytes).toString('base64url');
  readonly #server = createServer((incoming, response) => void this.#serve(incoming, response));
  readonly #ended = new AbortController();
  #port = 0;
  #failureSaidAtMs = -Infinity;

  constructor(options: DashboardForwarderOptions) {
    this.#options = options;
  }

  /** Resolves with the address of the dashboard. Rejects if the port is in use. */
  async listen(port: number): Promise<string> {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
    const bound = this.#server.address();
    this.#port = typeof bound === 'object' && bound !== null ? bound.port : port;
    return `${this.#origin}/${this.#secret}/dashboard`;
  }

  /** Follows the leader until the signal aborts; then nothing is served any more. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      while (!signal.aborted) {
        await sleep(this.#options.checkIntervalMs ?? checkIntervalMsDefault, undefined, { signal }).catch(
          () => undefined,
        );
        if (!signal.aborted) await this.#followLeader(signal);
      }
    } finally {
      this.#ended.abort();
      this.#server.closeAllConnections();
      this.#server.close();
    }
  }

  get #origin(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Event streams of a replica that stopped leading end, so that browsers connect again, to the new leader. */
  async #followLeader(signal: AbortSignal): Promise<void> {
    const { leader, say } = this.#options;
    try {
      const pages = await leader.current(signal);
      const state = await readState(pages, signal);
      if (state === 'leads' || signal.aborted) return;
      await leader.follow();
      const next = await leader.current(signal);
      if (next.name !== pages.name) say(escapeControls(`${pages.name} ${state}; now ${next.name}\n`));
    } catch (error) {
      this.#sayFailure(error);
    }
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = this.#pathOf(incoming);
    if (typeof path === 'number')
      return void response.writeHead(path, { 'content-type': 'text/plain' }).end('refused\n');
    const closed = new AbortController();
    response.on('close', () => closed.abort());
    const signal = AbortSignal.any([closed.signal, this.#ended.signal]);
    try {
      await this.#forward(path, incoming, response, signal);
    } catch (error) {
      if (signal.aborted) return;
      this.#sayFailure(error);
      if (response.headersSent) response.destroy();
      else response.writeHead(502, { 'content-type': 'text/plain; charset=utf-8' }).end(`${causeOf(error)}\n`);
    }
  }

  /** The path of the page; or the status of a refusal. */
  #pathOf({ method, url = '', headers }: IncomingMessage): string | number {
    if (this.#isForeign(headers)) return 403;
    const [, secret = '', rest] = /^\/([^/?]*)(\/.*)$/.exec(url) ?? [];
    if (rest === undefined || !isEqual(secret, this.#secret)) return 404;
    return method === 'GET' || method === 'HEAD' ? rest : 405;
  }

  /** True for a request to another host name, as in DNS rebinding, or from another site. */
  #isForeign({ host, origin = this.#origin, 'sec-fetch-site': site = 'none' }: IncomingHttpHeaders): boolean {
    const isOwnSite = site === 'same-origin' || site === 'none';
    return host !== `127.0.0.1:${this.#port}` || origin !== this.#origin || !isOwnSite;
  }

  async #forward(
    path: string,
    incoming: IncomingMessage,
    response: ServerResponse,
    signal: AbortSignal,
  ): Promise<void> {
    const { leader } = this.#options;
    const pages = await leader.current(signal);
    const method = incoming.method === 'HEAD' ? 'HEAD' : 'GET';
    const headers = picked(incoming.headers, sentHeaders);
    const answer = await pages.send(path, { method, headers, signal }).catch(async (error: unknown) => {
      if (!signal.aborted) await leader.leave(pages);
      throw error;
    });
    response.writeHead(answer.statusCode, picked(answer.headers, returnedHeaders));
    response.flushHeaders();
    await pipeline(answer.body, response, { signal });
  }

  /** At most one line in a while: a browser tries again and again. */
  #sayFailure(error: unknown): void {
    const nowMs = performance.now();
    if (nowMs - this.#failureSaidAtMs < failureSilenceMs) return;
    this.#failureSaidAtMs = nowMs;
    this.#options.say(`${escapeControls(causeOf(error))}\n`);
  }
}

function picked(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  names: readonly string[],
): Record<string, string> {
  const entries = names.map((name) => [name, ownValue(headers, name)] as const);
  return Object.fromEntries(entries.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])));
}

function isEqual(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}
