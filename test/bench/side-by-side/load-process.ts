// The bench's side of the channel to the load generator.
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import type {
  ClusterSize,
  LastHeartbeats,
  LoadAnswer,
  LoadCall,
  LoadFigures,
  LoadGenerator,
  LoadMethod,
  LoadTarget,
  MarkedAt,
} from './load-protocol.ts';

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

export class LoadProcess implements LoadGenerator {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  #calls = 0;

  constructor() {
    this.#child = fork(join(import.meta.dirname, 'load-generator.ts'));
    this.#child.on('message', (answer: LoadAnswer) => this.#settle(answer));
    this.#child.once('exit', (code, signal) => {
      const error = new Error(`the load generator has ended (${code ?? signal})`);
      for (const { reject } of this.#waiting.values()) reject(error);
      this.#waiting.clear();
    });
  }

  get pid(): number {
    return this.#child.pid ?? -1;
  }

  async register(options: { readonly target: LoadTarget; readonly size: ClusterSize }): Promise<void> {
    await this.#call('register', options);
  }

  async run(): Promise<void> {
    await this.#call('run');
  }

  async pause(): Promise<void> {
    await this.#call('pause');
  }

  async silence(nodes: readonly string[]): Promise<LastHeartbeats> {
    return (await this.#call('silence', nodes)) as LastHeartbeats;
  }

  async resume(nodes: readonly string[]): Promise<void> {
    await this.#call('resume', nodes);
  }

  async figures(): Promise<LoadFigures> {
    return (await this.#call('figures')) as LoadFigures;
  }

  async mark(expiresAtMs: LastHeartbeats): Promise<MarkedAt> {
    return (await this.#call('mark', expiresAtMs)) as MarkedAt;
  }

  async unmark(nodes: readonly string[]): Promise<void> {
    await this.#call('unmark', nodes);
  }

  stop(): void {
    if (this.#child.connected) this.#child.disconnect();
  }

  #call(method: LoadMethod, argument?: unknown): Promise<unknown> {
    this.#calls += 1;
    const call: LoadCall = { id: this.#calls, method, argument };
    return new Promise((resolve, reject) => {
      this.#waiting.set(call.id, { resolve, reject });
      this.#child.send(call, (error) => {
        if (error !== null) reject(error);
      });
    });
  }

  #settle({ id, result, error }: LoadAnswer): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve(result);
    else waiting?.reject(new Error(`load generator: ${error}`));
  }
}
