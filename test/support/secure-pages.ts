// The pages of a controller with --metrics-secure on loopback, with a scripted API server and a manual clock.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { plainConnection } from './plain-connection.ts';
import {
  type Route,
  type RunningObservability,
  textAnswer,
} from '../../src/machinery/page-server/observability-server.ts';
import { parseControllerConfig } from '../../src/cli/controller/config.ts';
import { startControllerPages } from '../../src/cli/pages/controller-pages.ts';
import { type Pair, TestAuthority } from './certificates.ts';
import { makeKubeApi } from './make-kube-api.ts';
import { ManualClock } from './manual-clock.ts';
import { RecordingLogger, RecordingMeter } from './fakes.ts';
import { ReviewServer } from './review-server.ts';

const page = (path: string): Route => ({ path, answer: (url) => textAnswer(200, `page ${url.pathname}`) });

interface Asked {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

interface AskOptions {
  readonly token?: string;
  readonly method?: 'GET' | 'HEAD' | 'POST';
  readonly client?: Pair;
  readonly maxVersion?: 'TLSv1.2' | 'TLSv1.3';
  readonly ciphers?: string;
}

export class SecurePagesStage {
  readonly api: ReviewServer;
  readonly authority: TestAuthority;
  readonly clock = new ManualClock();
  readonly logger = new RecordingLogger();
  readonly meter = new RecordingMeter();
  readonly folder = mkdtempSync(join(tmpdir(), 'nlc-secure-'));
  /** Besides the pages of every test. */
  readonly moreRoutes: readonly Route[];
  #closed = false;
  #pages: RunningObservability | undefined;
  #client: { close(): Promise<void> } | undefined;

  private constructor(api: ReviewServer, authority: TestAuthority, moreRoutes: readonly Route[]) {
    this.moreRoutes = moreRoutes;
    this.api = api;
    this.authority = authority;
    writeFileSync(this.caFile, authority.cert);
  }

  static open(...flags: readonly string[]): Promise<SecurePagesStage> {
    return SecurePagesStage.openWith([], ...flags);
  }

  /** With these routes besides. */
  static async openWith(moreRoutes: readonly Route[], ...flags: readonly string[]): Promise<SecurePagesStage> {
    const stage = new SecurePagesStage(await new ReviewServer().start(), await TestAuthority.make(), moreRoutes);
    stage.write(await stage.authority.sign({ subject: 'CN=pages', hosts: ['127.0.0.1', 'pages.example'] }));
    await stage.#start(flags).catch(async (error: unknown) => {
      await stage.close();
      throw error;
    });
    return stage;
  }

  get caFile(): string {
    return join(this.folder, 'ca.crt');
  }

  get certFile(): string {
    return join(this.folder, 'tls.crt');
  }

  get keyFile(): string {
    return join(this.folder, 'tls.key');
  }

  /** Writes one file of the pair, or both. */
  write({ cert, key }: Partial<Pair>): void {
    if (cert !== undefined) writeFileSync(this.certFile, cert);
    if (key !== undefined) writeFileSync(this.keyFile, key);
  }

  get url(): string {
    return `https://127.0.0.1:${this.#pages?.metricsAddress?.port}`;
  }

  get port(): number {
    return this.#pages?.metricsAddress?.port ?? assert.fail('nothing listens');
  }

  get healthPort(): number {
    return this.#pages?.healthAddress?.port ?? assert.fail('nothing listens');
  }

  /** On a new connection. */
  async get(path: string, { token, method = 'GET', client, ...tls }: AskOptions = {}): Promise<Asked> {
    const dispatcher = new Agent({ connect: { ca: this.authority.cert, ...client, ...tls } });
    try {
      return await ask(dispatcher, `${this.url}${path}`, { token, method });
    } finally {
      await dispatcher.destroy();
    }
  }

  /** Ends the test: everything is closed, and no token was logged. Idempotent. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#pages?.close();
    await this.#client?.close();
    await this.api.stop();
    rmSync(this.folder, { recursive: true });
    const logged = this.logger.lines.map(({ fields, message }) => `${message} ${inspected(fields)}`).join('\n');
    for (const token of this.api.tokensAsked) assert.ok(!logged.includes(token), `a token is in the log:\n${logged}`);
  }

  async #start(flags: readonly string[]): Promise<void> {
    const given = ['--metrics-bind-address=127.0.0.1:0', '--health-probe-bind-address=127.0.0.2:0', '--metrics-secure'];
    const files = [`--tls-cert-file=${this.certFile}`, `--tls-private-key-file=${this.keyFile}`];
    const named = flags.map((flag) => flag.replaceAll('FOLDER', this.folder));
    const outcome = parseControllerConfig([...given, ...files, ...named], () => '');
    assert.ok('config' in outcome, JSON.stringify(outcome));
    const client = makeKubeApi(plainConnection(this.api.url), { retriesMax: 0, requestTimeoutMs: 2_000 });
    this.#client = client;
    this.#pages = await startControllerPages({
      config: outcome.config,
      metricsRoutes: [page('/metrics'), page('/status'), page('/explain/nodes/'), ...this.moreRoutes],
      healthRoutes: [page('/livez'), page('/livez/')],
      reviewApi: client,
      clock: this.clock,
      logger: this.logger,
      meter: this.meter,
    });
  }
}

export async function ask(
  dispatcher: Agent,
  url: string,
  { token, method = 'GET' }: { readonly token?: string | undefined; readonly method?: 'GET' | 'HEAD' | 'POST' },
): Promise<Asked> {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const answer = await request(url, { dispatcher, method, headers });
  return { status: answer.statusCode, body: await answer.body.text(), headers: answer.headers };
}

function inspected(fields: Readonly<Record<string, unknown>>): string {
  const { err, ...rest } = fields;
  return `${JSON.stringify(rest)} ${err instanceof Error ? `${err.stack} ${JSON.stringify(err)}` : ''}`;
}
