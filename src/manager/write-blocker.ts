import { ApiError } from '../machinery/api/api-error.ts';
import type { NodeLifecycleOptions } from '../controller/lifecycle-options.ts';
import type { KubeReader } from '../machinery/ports/kube-reader.ts';

/** Blocks all writes of a replica in shadow mode. An attempt is a bug and fails the readiness check. */
export class WriteBlocker {
  #tries = 0;

  /** Refuses each write, and counts it. The transport calls this before it sends one. */
  readonly mayWrite = (): boolean => {
    this.#tries += 1;
    return false;
  };

  /** Fails after the first attempt to write; the write was not sent. */
  check(): { readonly name: string; readonly problem: () => string | undefined } {
    const problem = (): string | undefined =>
      this.#tries === 0 ? undefined : `${this.#tries} writes were attempted; none was sent`;
    return { name: 'shadow-writes-nothing', problem };
  }

  /** The API for the stages, without its writes. */
  readingOnly(api: Pick<KubeReader, 'get'>): NodeLifecycleOptions['api'] {
    const refuse = (): Promise<never> => {
      this.mayWrite();
      return Promise.reject(new ApiError({ reason: 'aborted', message: 'writes are blocked in shadow mode' }));
    };
    const get: KubeReader['get'] = (resource, name, options) => api.get(resource, name, options);
    return { get, patch: refuse, delete: refuse, evict: refuse };
  }
}
