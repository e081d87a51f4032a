import { ApiError } from '../machinery/api/api-error.ts';
import type { KubeObject } from '../machinery/api/meta.ts';
import { canaryLeaseName, nodeLeaseNamespace } from '../machinery/api/resources.ts';
import { formatMicroTime } from '../machinery/api/timestamps.ts';
import type { Clock } from '../machinery/ports/clock.ts';
import type { KubeWriter } from '../machinery/ports/kube-writer.ts';
import type { CanaryLease } from '../machinery/ports/leases.ts';

const name = { namespace: nodeLeaseNamespace, name: canaryLeaseName };

/** The canary lease on the API server; created if it does not exist. */
export class ApiCanaryLease implements CanaryLease {
  readonly #api: Pick<KubeWriter, 'create' | 'patch'>;
  readonly #clock: Clock;
  readonly #identity: string;

  constructor(api: Pick<KubeWriter, 'create' | 'patch'>, clock: Clock, identity: string) {
    this.#api = api;
    this.#clock = clock;
    this.#identity = identity;
  }

  async touch(signal: AbortSignal): Promise<string> {
    const spec = { holderIdentity: this.#identity, renewTime: formatMicroTime(this.#clock.nowMs()) };
    const written = await this.#patchOrCreate(spec, signal);
    return written.metadata.resourceVersion ?? '';
  }

  async #patchOrCreate(spec: object, signal: AbortSignal): Promise<KubeObject> {
    try {
      return await this.#api.patch('leases', name, { type: 'merge', body: { spec } }, { signal });
    } catch (error) {
      if (!(error instanceof ApiError) || error.reason !== 'not-found') throw error;
      const lease: KubeObject & { readonly spec: object } = { metadata: name, spec };
      return this.#api.create('leases', lease, { signal });
    }
  }
}
