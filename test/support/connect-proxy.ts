// An HTTP proxy: CONNECT to any host leads to one local server.
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export class ConnectProxy {
  /** The request line and the credentials of each request. */
  readonly asked: string[] = [];
  /** Status code of the response to CONNECT; only 200 opens a tunnel. */
  status = 200;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #targetPort: number;

  private constructor(targetPort: number) {
    this.#targetPort = targetPort;
    this.#server = createServer((socket) => this.#serve(socket));
  }

  static async start(targetPort: number): Promise<ConnectProxy> {
    const proxy = new ConnectProxy(targetPort);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  /** `127.0.0.1:port` */
  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(socket: Socket): void {
    this.#keep(socket);
    socket.once('data', (head: Buffer) => {
      const [line = '', ...headers] = head.toString('latin1').split('\r\n');
      const credentials = headers.find((header) => header.toLowerCase().startsWith('proxy-authorization:'));
      this.asked.push([line, ...(credentials === undefined ? [] : [credentials])].join(' | '));
      if (this.status !== 200) socket.end(`HTTP/1.1 ${this.status} No\r\ncontent-length: 0\r\n\r\n`);
      else if (line.startsWith('CONNECT ')) this.#lead(socket, 'HTTP/1.1 200 Connected\r\n\r\n');
      else this.#lead(socket, undefined, head);
    });
  }

  #lead(socket: Socket, greeting: string | undefined, head?: Buffer): void {
    const onward = connect(this.#targetPort, '127.0.0.1', () => {
      if (greeting !== undefined) socket.write(greeting);
      if (head !== undefined) onward.write(head);
      socket.pipe(onward).pipe(socket);
    });
    this.#keep(onward);
    socket.on('close', () => onward.destroy());
    onward.on('close', () => socket.destroy());
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#sockets.delete(socket));
  }
}
