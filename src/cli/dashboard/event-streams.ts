// The clients of the dashboard's events. Each gets a snapshot, and then at most one delta a second. A client that does not read
// is sent nothing until it has read what was sent, and is disconnected if it does not.
import type { DashboardSource } from '../../dashboard/server/dashboard-source.ts';
import type { Answer, StreamAnswer } from '../../machinery/page-server/observability-server.ts';
import type { PageStream } from '../../machinery/page-server/page-stream.ts';
import type { Clock } from '../../machinery/ports/clock.ts';
import type { Logger } from '../../machinery/ports/logger.ts';
import type { Meter } from '../../machinery/ports/meter.ts';
import { problem } from '../pages/explain-pages.ts';
import { dashboardClients, dashboardRefused, dashboardSnapshots } from './metrics.ts';

export const clientsMax = 20;
/** Above it a client is slow. */
export const pendingBytesMax = 256 * 1024;
/** A client that does not read for this time is disconnected. */
const stuckMsMax = 30_000;
/** Proxies close connections that are silent. */
const commentEveryMs = 15_000;
/** The client connects again, and is authorized again. */
export const streamMsMax = 300_000;
const retryAfterSeconds = 10;

type SnapshotReason = 'new' | 'slow' | 'changes';

interface EventStreamsOptions {
  readonly source: DashboardSource;
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
  readonly logger: Logger;
  readonly meter: Meter;
}

interface StreamClient {
  readonly stream: PageStream;
  /** Version that the client has; undefined: no snapshot yet. */
  version: number | undefined;
  generation: number;
  isSendingSnapshot: boolean;
  /** Since when it has not read what was sent. */
  slowSinceMs: number | undefined;
  wroteAtMs: number;
}

export class EventStreams {
  readonly #options: EventStreamsOptions;
  readonly #clients = new Set<StreamClient>();
  /** The text of each delta of this tick by the version before it; undefined: a snapshot is sent instead. */
  readonly #deltas = new Map<number, string | undefined>();
  #unwatch: (() => void) | undefined;

  constructor(options: EventStreamsOptions) {
    this.#options = options;
    options.meter.set(dashboardClients, 0);
    options.meter.add(dashboardRefused, 0);
    for (const reason of ['new', 'slow', 'changes'] as const) options.meter.add(dashboardSnapshots, 0, { reason });
  }

  /** Number of clients. */
  get size(): number {
    return this.#clients.size;
  }

  /** The response to a client: the stream, or 503 if there are too many. */
  answer(): Answer | StreamAnswer {
    if (this.#clients.size >= clientsMax) {
      this.#options.meter.add(dashboardRefused, 1);
      const message = `${clientsMax} clients read the events of the dashboard, which is the maximum`;
      return { ...problem(503, 'ServiceUnavailable', message), headers: { 'retry-after': String(retryAfterSeconds) } };
    }
    // Proxies are not to collect the events.
    const headers = { 'x-accel-buffering': 'no' };
    return { status: 200, contentType: eventStreamType, headers, open: (stream) => this.#add(stream) };
  }

  #add(stream: PageStream): void {
    const nowMs = this.#nowMs();
    const unsent = { version: undefined, isSendingSnapshot: false, slowSinceMs: undefined };
    const client: StreamClient = { stream, generation: 0, wroteAtMs: nowMs, ...unsent };
    const closed = new AbortController();
    this.#clients.add(client);
    stream.onClose(() => {
      closed.abort();
      this.#remove(client);
    });
    // It may have gone before it was answered.
    if (closed.signal.aborted) return;
    // Whatever the source does.
    void this.#options.clock.sleep(streamMsMax, closed.signal).then(() => stream.end());
    this.#unwatch ??= this.#options.source.watch(() => this.#onTick());
    this.#show();
    this.#guard(client, () => {
      stream.write('retry: 2000\n\n');
      this.#serve(client);
    });
  }

  #remove(client: StreamClient): void {
    this.#clients.delete(client);
    if (this.#clients.size === 0) {
      this.#unwatch?.();
      this.#unwatch = undefined;
    }
    this.#show();
  }

  #onTick(): void {
    this.#deltas.clear();
    for (const client of Array.from(this.#clients)) this.#guard(client, () => this.#serve(client));
  }

  /** A failure ends the stream of that client, which connects again. */
  #guard(client: StreamClient, serve: () => void): void {
    try {
      serve();
    } catch (error) {
      this.#options.logger.error({ err: error }, 'failed to send events of the dashboard');
      client.stream.end();
    }
  }

  #serve(client: StreamClient): void {
    const nowMs = this.#nowMs();
    if (this.#isStuck(client, nowMs)) return client.stream.end();
    if (client.isSendingSnapshot || client.slowSinceMs !== undefined) return;
    this.#sendChanges(client);
    if (nowMs - client.wroteAtMs >= commentEveryMs) this.#write(client, ':\n\n');
  }

  /** True if the client does not read what was sent. */
  #isStuck(client: StreamClient, nowMs: number): boolean {
    if (client.stream.pendingBytes <= pendingBytesMax) client.slowSinceMs = undefined;
    else client.slowSinceMs ??= nowMs;
    const isWaiting = client.isSendingSnapshot && nowMs - client.wroteAtMs >= stuckMsMax;
    return isWaiting || nowMs - (client.slowSinceMs ?? nowMs) >= stuckMsMax;
  }

  #sendChanges(client: StreamClient): void {
    const { source } = this.#options;
    if (!source.isComplete) return;
    if (client.version === undefined) return this.#beginSnapshot(client, 'new');
    if (client.generation !== source.generation) return this.#beginSnapshot(client, 'changes');
    const text = this.#deltaText(client.version);
    // Others are served with each version.
    const isSlow = source.version - client.version > 1;
    if (text === undefined) return this.#beginSnapshot(client, isSlow ? 'slow' : 'changes');
    client.version = source.version;
    if (text !== '') this.#write(client, text);
  }

  /** Empty: nothing changed. */
  #deltaText(since: number): string | undefined {
    if (!this.#deltas.has(since)) this.#deltas.set(since, this.#formatDelta(since));
    return this.#deltas.get(since);
  }

  #formatDelta(since: number): string | undefined {
    const { source } = this.#options;
    const delta = source.changes(since);
    if (delta === undefined || Object.keys(delta).length === 0) return delta && '';
    return `event: delta\nid: ${source.version}\ndata: ${JSON.stringify(delta)}\n\n`;
  }

  #beginSnapshot(client: StreamClient, reason: SnapshotReason): void {
    this.#options.meter.add(dashboardSnapshots, 1, { reason });
    client.isSendingSnapshot = true;
    client.version = this.#options.source.version;
    client.generation = this.#options.source.generation;
    this.#sendSnapshot(client).catch((error: unknown) => {
      this.#options.logger.error({ err: error }, 'failed to send events of the dashboard');
      client.stream.end();
    });
  }

  async #sendSnapshot(client: StreamClient): Promise<void> {
    for (const piece of snapshotPieces(this.#options.source)) {
      if (!this.#clients.has(client)) return;
      this.#write(client, piece);
      await client.stream.drained();
    }
    client.isSendingSnapshot = false;
  }

  #write(client: StreamClient, text: string): void {
    client.wroteAtMs = this.#nowMs();
    client.stream.write(text);
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }

  #show(): void {
    this.#options.meter.set(dashboardClients, this.#clients.size);
  }
}

export const eventStreamType = 'text/event-stream; charset=utf-8';

/** About 60 KB. */
const nodesPerPiece = 200;

/**
 * A snapshot as one server-sent event, in pieces: each is written when the client has read the one before, so that neither
 * this process nor its main thread is occupied by a large snapshot. What changes meanwhile is in it as before or as after its change,
 * and in the next delta. The client joins the lines of data with line ends, which JSON ignores.
 */
export function* snapshotPieces(source: DashboardSource): Generator<string> {
  const head = JSON.stringify(source.head());
  yield `event: snapshot\nid: ${source.version}\ndata: ${head.slice(0, -1)},"nodes":[\n`;
  const names = source.names();
  let separator = '';
  for (let first = 0; first < names.length; first += nodesPerPiece) {
    const cells = names.slice(first, first + nodesPerPiece).flatMap((name) => source.node(name) ?? []);
    if (cells.length > 0) yield `data: ${separator}${cells.map((cell) => JSON.stringify(cell)).join(',')}\n`;
    if (cells.length > 0) separator = ',';
  }
  yield 'data: ]}\n\n';
}
