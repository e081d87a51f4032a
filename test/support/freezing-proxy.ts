// A proxy to a server that can freeze: bytes stop in both directions, no connection closes, and new connections work, or
// are accepted and frozen. Bytes in transit arrive when it thaws. It can also reset every connection and refuse new
// ones.
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export class FreezingProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #waiting: (() => void)[] = [];
  #frozen = false;
  #frozenToNew = false;
  #port = 0;

  private constructor(targetPort: number) {
    this.#server = createServer((incoming) => {
      const outgoing = connect(targetPort, '127.0.0.1');
      this.#keep(incoming, outgoing);
      this.#keep(outgoing, incoming);
      if (this.#frozenToNew) this.#waiting.push(() => join(incoming, outgoing));
      else join(incoming, outgoing);
    });
  }

  static async start(targetUrl: string): Promise<FreezingProxy> {
    const proxy = new FreezingProxy(Number(new URL(targetUrl).port));
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `https://127.0.0.1:${this.#address().port}`;
  }

  /** Freezes every open connection; new ones work, unless `alsoNew`. */
  freeze({ alsoNew = false } = {}): void {
    this.#frozen = true;
    this.#frozenToNew = alsoNew;
    for (const socket of this.#sockets) socket.pause();
    for (const socket of this.#sockets) socket.cork();
  }

  thaw(): void {
    this.#frozen = false;
    this.#frozenToNew = false;
    for (const socket of this.#sockets) socket.uncork();
    for (const socket of this.#sockets) socket.resume();
    for (const lead of this.#waiting.splice(0)) lead();
  }

  /** Resets open connections and accepts no new ones until {@link admit}. */
  async refuse(): Promise<void> {
    this.#port = this.#address().port;
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.resetAndDestroy();
    await closed;
  }

  /** Listens again on the same port. */
  async admit(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(this.#port, '127.0.0.1', resolve));
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #address(): AddressInfo {
    return this.#server.address() as AddressInfo;
  }

  #keep(socket: Socket, other: Socket): void {
    this.#sockets.add(socket);
    socket.setNoDelay(true);
    if (this.#frozen) socket.pause();
    socket.on('error', () => other.destroy());
    socket.on('close', () => {
      this.#sockets.delete(socket);
      other.destroy();
    });
  }
}

function join(incoming: Socket, outgoing: Socket): void {
  incoming.pipe(outgoing);
  outgoing.pipe(incoming);
}
