import { ApiError, apiReason } from '../../../machinery/api/api-error.ts';
import type { Node } from '../../../machinery/api/node.ts';
import { buildNode, mergeRegisteredNode } from './build-node.ts';
import { diffNodeStatusPatch } from './diff-node-status.ts';
import type { NodeComposer } from './node-composer.ts';
import type { NodeOptions } from './node-options.ts';

const registerBackoffMsMin = 100;
const registerBackoffMsMax = 7_000;

type RegistrarOptions = Pick<NodeOptions, 'name' | 'labels' | 'profile' | 'api' | 'registrations' | 'clock' | 'logger'>;

interface Registration {
  readonly node: Node;
  /** False if the node already existed. */
  readonly created: boolean;
}

/** Registers the node, once. A node that is deleted later is not registered again (kubelet `registerWithAPIServer`). */
export class Registrar {
  readonly #options: RegistrarOptions;
  readonly #composer: NodeComposer;
  readonly #beforeTry: () => void;
  /** The Retry-After of the last rejection. */
  #retryAfterMs = 0;

  /** `beforeTry` is called before the node is composed for a try, so that current state is included. */
  constructor(options: RegistrarOptions, composer: NodeComposer, beforeTry: () => void) {
    this.#options = options;
    this.#composer = composer;
    this.#beforeTry = beforeTry;
  }

  /** Tries with exponential backoff until it succeeds. Undefined when the signal aborted first. */
  async register(signal: AbortSignal): Promise<Registration | undefined> {
    const { clock, registrations } = this.#options;
    let backoffMs = registerBackoffMsMin;
    while (!signal.aborted) {
      await clock.sleep(Math.max(backoffMs, this.#retryAfterMs), signal);
      this.#retryAfterMs = 0;
      backoffMs = Math.min(backoffMs * 2, registerBackoffMsMax);
      const registration = await registrations.pass(() => this.#try(signal));
      if (registration !== undefined) return registration;
    }
    return undefined;
  }

  async #try(signal: AbortSignal): Promise<Registration | undefined> {
    if (signal.aborted) return undefined;
    this.#beforeTry();
    const fresh = this.#composer.compose(buildNode(this.#options));
    try {
      return { node: await this.#options.api.create('nodes', fresh, { signal }), created: true };
    } catch (error) {
      if (apiReason(error) === 'already-exists') return this.#adopt(fresh, signal);
      this.#expect(error, 'failed to register node');
      return undefined;
    }
  }

  /** A node of this name exists: it was registered by an earlier run. */
  async #adopt(fresh: Node, signal: AbortSignal): Promise<Registration | undefined> {
    const { name, api } = this.#options;
    try {
      const stored: Node = await api.get('nodes', { name }, { signal });
      const wanted = mergeRegisteredNode(stored, fresh);
      if (wanted === stored) return { node: stored, created: false };
      const patch = { type: 'strategic-merge', body: diffNodeStatusPatch(stored, wanted) } as const;
      const node = await api.patch('nodes', { name }, patch, { signal, subresource: 'status' });
      return { node, created: false };
    } catch (error) {
      this.#expect(error, 'failed to update the registered node');
      return undefined;
    }
  }

  /** API errors are expected and logged; anything else is a defect and is thrown. */
  #expect(error: unknown, what: string): void {
    if (!(error instanceof ApiError)) throw error;
    this.#retryAfterMs = error.retryAfterMs ?? 0;
    if (error.reason !== 'aborted') this.#options.logger.debug({ reason: error.reason }, what);
  }
}
