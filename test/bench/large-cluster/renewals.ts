// Lease renewals of all nodes in turn, at a fixed rate, each with the time at which it was due. What the reader does not take
// waits here, not in memory.
import type { Socket } from 'node:net';
import { eventTemplate, writeEvent } from '../watch-events.ts';

const tickMs = 1;
/** Buffered bytes above which sending waits. */
const bufferedBytesMax = 4 * 1_024 * 1_024;
const batchMax = 1_000;

interface RenewalsOptions {
  readonly nodes: number;
  readonly perSecond: number;
  readonly nextVersion: () => number;
}

export class Renewals {
  readonly #options: RenewalsOptions;
  readonly #template = eventTemplate('leases', 'protobuf', 'MODIFIED');
  /** Of each node, the Unix time of its last renewal in milliseconds; 0: none. */
  readonly #renewedAtMs: Float64Array;
  #socket: Socket | undefined;
  #startedAtMs = Number.NaN;
  #sent = 0;
  #behindMax = 0;

  constructor(options: RenewalsOptions) {
    this.#options = options;
    this.#renewedAtMs = new Float64Array(options.nodes);
  }

  /** The watch that gets the renewals; a later one replaces it. */
  attach(socket: Socket): void {
    this.#socket = socket;
  }

  get sent(): number {
    return this.#sent;
  }

  get behindMax(): number {
    return this.#behindMax;
  }

  /** The Unix time of the node's last renewal that was sent. */
  renewedAtMs(node: number): number {
    return this.#renewedAtMs[node] ?? 0;
  }

  /** Sends until the process ends. */
  run(): void {
    this.#startedAtMs = unixMs();
    setInterval(() => this.#tick(), tickMs);
  }

  #tick(): void {
    const { perSecond, nodes, nextVersion } = this.#options;
    const due = Math.floor(((unixMs() - this.#startedAtMs) / 1_000) * perSecond);
    this.#behindMax = Math.max(this.#behindMax, due - this.#sent);
    const socket = this.#socket;
    if (socket === undefined || socket.writableLength > bufferedBytesMax) return;
    const count = Math.min(batchMax, due - this.#sent);
    if (count <= 0) return;
    const block = Buffer.allocUnsafe(count * this.#template.bytes.length);
    let at = 0;
    for (let index = 0; index < count; index += 1) {
      const n = this.#sent % nodes;
      const atMs = this.#startedAtMs + (this.#sent / perSecond) * 1_000;
      this.#renewedAtMs[n] = atMs;
      at = writeEvent(block, at, this.#template, {
        n,
        version: nextVersion(),
        renewedAtMicros: Math.floor(atMs * 1_000),
      });
      this.#sent += 1;
    }
    socket.write(block);
  }
}

/** Unix time in milliseconds with a fraction. */
function unixMs(): number {
  return performance.timeOrigin + performance.now();
}
