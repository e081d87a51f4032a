// The lease of the leader election: one JSON object with a version, and nothing else that the API server has.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

interface Lease {
  readonly metadata: Readonly<Record<string, unknown>>;
}

export class LeaderLease {
  #lease: Lease | undefined;
  #version = 0;

  /** GET, POST and PUT without checks: there is one candidate. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'POST' || request.method === 'PUT') this.#store(JSON.parse(await text(request)) as Lease);
    if (this.#lease === undefined)
      return json(response, 404, { kind: 'Status', status: 'Failure', reason: 'NotFound', code: 404 });
    json(response, request.method === 'POST' ? 201 : 200, this.#lease);
  }

  #store(lease: Lease): void {
    this.#version += 1;
    const metadata = { uid: 'leader-lease', ...lease.metadata, resourceVersion: String(this.#version) };
    this.#lease = { ...lease, metadata };
  }
}

export function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
