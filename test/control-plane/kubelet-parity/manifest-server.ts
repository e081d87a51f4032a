// An HTTP server for static pod manifests.
import { createServer, type Server } from 'node:http';
import { portOf } from '../../../src/cli/simulation/programs/free-ports.ts';

export class ManifestServer {
  readonly url: string;
  readonly #server: Server;
  #text = JSON.stringify({ apiVersion: 'v1', kind: 'PodList', items: [] });

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${portOf(server)}/pods`;
    server.on('request', (_request, response) => response.end(this.#text));
  }

  /** Serves an empty list of pods at first. */
  static async start(): Promise<ManifestServer> {
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    return new ManifestServer(server);
  }

  serve(document: object): void {
    this.#text = JSON.stringify(document);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
