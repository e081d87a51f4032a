// A way to a server that can go dead without a word: bytes stop in both directions, no connection closes, new ones are
// accepted and lead nowhere. What was on its way arrives when it thaws.
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export class FreezingProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #frozen = false;

  private constructor(targetPort: number) {
    this.#server = createServer((incoming) => {
      const outgoing = connect(targetPort, '127.0.0.1');
      this.#keep(incoming, outgoing);
      this.#keep(outgoing, incoming);
      incoming.pipe(outgoing);
      outgoing.pipe(incoming);
    });
  }

  static async start(targetUrl: string): Promise<FreezingProxy> {
    const proxy = new FreezingProxy(Number(new URL(targetUrl).port));
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Every connection there is goes dead; new ones work, unless `alsoNew`. */
  freeze(): void {
    this.#frozen = true;
    for (const socket of this.#sockets) socket.pause();
    for (const socket of this.#sockets) socket.cork();
  }

  thaw(): void {
    this.#frozen = false;
    for (const socket of this.#sockets) socket.uncork();
    for (const socket of this.#sockets) socket.resume();
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
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
