// The API of the cluster for this process, which is in another network namespace: through a socket of `kubectl proxy`, which is a file.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { inNamespace } from './run-program.ts';
import { type ClusterSettings, namespaceOf } from './settings.ts';

/** An object of the API, of which a reader takes what it knows. */
export type ApiObject = {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly deletionTimestamp?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  // oxlint-disable-next-line typescript/no-explicit-any -- objects of the server, as it sends them
  readonly [key: string]: any;
};

export interface WatchEvent {
  readonly type: string;
  readonly object: ApiObject;
}

const startMsMax = 30_000;

export class ApiClient {
  readonly #socket: string;
  readonly #proxy: ChildProcess;

  constructor(settings: ClusterSettings) {
    this.#socket = join(settings.folder, 'api.sock');
    rmSync(this.#socket, { force: true });
    const kubectl = join(settings.programs, 'kubectl');
    const kubeconfig = join(settings.folder, 'kubeconfig');
    const [program, args] = inNamespace(namespaceOf(settings, 'ops'), kubectl, [
      '--kubeconfig',
      kubeconfig,
      'proxy',
      `--unix-socket=${this.#socket}`,
    ]);
    this.#proxy = spawn(program, args, { stdio: 'ignore' });
  }

  async ready(): Promise<void> {
    const endMs = performance.now() + startMsMax;
    while (!existsSync(this.#socket)) {
      if (performance.now() > endMs) throw new Error('kubectl proxy does not start');
      await sleep(50);
    }
  }

  close(): void {
    this.#proxy.kill();
  }

  /** An object or a list; an error with the status for any other answer than 200. */
  async get(path: string, timeoutMs = 10_000): Promise<ApiObject> {
    const answer = await this.#open(path, AbortSignal.timeout(timeoutMs));
    let body = '';
    for await (const part of answer.setEncoding('utf8')) body += String(part);
    if (answer.statusCode !== 200) throw new Error(`GET ${path}: ${answer.statusCode} ${body.slice(0, 300)}`);
    return JSON.parse(body) as ApiObject;
  }

  async list(path: string): Promise<readonly ApiObject[]> {
    return ((await this.get(path))['items'] ?? []) as readonly ApiObject[];
  }

  /** The events of a watch from the beginning, until the signal aborts. A watch that ends is opened again. */
  async *watch(path: string, signal: AbortSignal): AsyncIterable<WatchEvent> {
    while (!signal.aborted) {
      try {
        const answer = await this.#open(`${path}?watch=true`, signal);
        for await (const line of createInterface({ input: answer })) yield JSON.parse(line) as WatchEvent;
      } catch {
        // The API server may be away, which is what a story may be about.
      }
      if (!signal.aborted) await sleep(200);
    }
  }

  #open(path: string, signal: AbortSignal): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      request({ socketPath: this.#socket, path, signal }, resolve).on('error', reject).end();
    });
  }
}
