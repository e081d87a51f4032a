import { ApiError, isObjectMissing } from '../machinery/api/api-error.ts';
import { type Lease, type LeaseView, transformLease } from '../machinery/api/lease.ts';
import type { KubeObject } from '../machinery/api/meta.ts';
import { nodeLeaseNamespace } from '../machinery/api/resources.ts';
import type { KubeReader } from '../machinery/ports/kube-reader.ts';
import type { LeaseRead, LiveLeases } from '../machinery/ports/leases.ts';
import type { ApiContact } from '../machinery/supervision/api-contact.ts';

const pageSize = 500;

/** Reads leases without a resourceVersion, so that the response comes from storage and not from a cache. */
export class ApiLiveLeases implements LiveLeases {
  readonly #api: Pick<KubeReader, 'get' | 'list'>;
  readonly #signal: AbortSignal;
  readonly #contact: ApiContact | undefined;

  /** `signal` aborts requests in flight when the process ends. */
  constructor(api: Pick<KubeReader, 'get' | 'list'>, signal: AbortSignal, contact?: ApiContact) {
    this.#api = api;
    this.#contact = contact;
    this.#signal = signal;
  }

  async probe(signal: AbortSignal): Promise<string> {
    const { metadata } = await this.#api.list('leases', { namespace: nodeLeaseNamespace, limit: 1, signal });
    this.#contact?.answered();
    return metadata.resourceVersion ?? '';
  }

  async readOne(node: string): Promise<LeaseRead> {
    const name = { namespace: nodeLeaseNamespace, name: node };
    try {
      return { kind: 'found', lease: asView(await this.#api.get('leases', name, { signal: this.#signal })) };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return isObjectMissing(error, 'leases', node) ? { kind: 'missing' } : { kind: 'unreadable', error };
    }
  }

  async readAll(patience: { readonly waitMsMax?: number } = {}): Promise<ReadonlyMap<string, LeaseRead>> {
    const leases = new Map<string, LeaseRead>();
    let next: string | undefined;
    do {
      const token = next === undefined ? {} : { continue: next };
      const page = await this.#api.list('leases', {
        namespace: nodeLeaseNamespace,
        limit: pageSize,
        ...patience,
        signal: this.#signal,
        ...token,
      });
      for (const lease of page.items.map(asView)) leases.set(lease.name, { kind: 'found', lease });
      for (const { metadata, problem } of page.undecodable ?? []) {
        const error = new ApiError({ reason: 'internal', message: problem });
        if (metadata?.name !== undefined) leases.set(metadata.name, { kind: 'unreadable', error });
      }
      next = page.metadata.continue;
    } while (next !== undefined && next !== '');
    return leases;
  }
}

function asView(object: KubeObject): LeaseView {
  const lease: Lease = object;
  return transformLease(lease);
}
