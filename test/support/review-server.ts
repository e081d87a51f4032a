// An API server that only answers TokenReviews and SubjectAccessReviews.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { subjectAccessReviewPath, tokenReviewPath } from '../../src/machinery/api/reviews.ts';

interface TokenQuestion {
  readonly spec: { readonly token: string; readonly audiences?: readonly string[] };
}

interface AccessQuestion {
  readonly spec: {
    readonly user: string;
    readonly groups: readonly string[];
    readonly nonResourceAttributes: { readonly verb: string; readonly path: string };
  };
}

const ownAudience = 'https://kubernetes.default.svc';

export class ReviewServer {
  /** User names by token. */
  readonly users = new Map<string, string>();
  /** Audiences by token; of all others that of the API server. */
  readonly audiences = new Map<string, readonly string[]>();
  /** `USER VERB PATH` */
  readonly grants = new Set<string>();
  /** Responds to every request with this code instead. */
  refusing: number | undefined;
  /** Delays responses until this resolves. */
  held: Promise<unknown> = Promise.resolve();
  /** Resets this many connections instead of responding. */
  breaking = 0;
  readonly tokensAsked: string[] = [];
  readonly accessesAsked: string[] = [];
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  async start(): Promise<this> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return this;
  }

  get url(): string {
    const address = this.#server.address();
    if (typeof address !== 'object' || address === null) throw new Error('not listening');
    return `http://127.0.0.1:${address.port}`;
  }

  /** Adds a user with a token and this permission: `get /metrics`. */
  add(user: string, token: string, ...grants: readonly string[]): this {
    this.users.set(token, user);
    for (const grant of grants) this.grants.add(`${user} ${grant}`);
    return this;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const question = JSON.parse(await text(request)) as TokenQuestion & AccessQuestion;
    const path = (request.url ?? '').split('?')[0];
    const status = path === tokenReviewPath ? this.#token(question) : this.#access(path, question);
    await this.held;
    if (this.breaking > 0) {
      this.breaking -= 1;
      return void request.socket.destroy();
    }
    const code = this.refusing ?? 201;
    const refusal = { kind: 'Status', status: 'Failure', code, message: 'refused' };
    response.writeHead(code, { 'content-type': 'application/json' });
    response.end(JSON.stringify(code < 300 ? { ...question, metadata: {}, status } : refusal));
  }

  #token({ spec: { token, audiences: wanted = [ownAudience] } }: TokenQuestion): object {
    this.tokensAsked.push(token);
    const username = this.users.get(token);
    const audiences = (this.audiences.get(token) ?? [ownAudience]).filter((audience) => wanted.includes(audience));
    if (username === undefined || audiences.length === 0) return { user: {}, error: 'invalid bearer token' };
    const user = { username, uid: `uid of ${username}`, groups: ['system:authenticated'] };
    return { authenticated: true, user, audiences };
  }

  #access(path: string | undefined, { spec }: AccessQuestion): object {
    if (path !== subjectAccessReviewPath) throw new Error(`asked for ${path}`);
    const { verb, path: wanted } = spec.nonResourceAttributes;
    const asked = `${spec.user} ${verb} ${wanted}`;
    this.accessesAsked.push(asked);
    return { allowed: this.grants.has(asked), reason: 'scripted' };
  }
}
