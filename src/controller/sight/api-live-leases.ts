import { ApiError } from '../../api/api-error.ts';
import { type Lease, type LeaseView, viewLease } from '../../api/lease.ts';
import type { KubeObject } from '../../api/meta.ts';
import { nodeLeaseNamespace } from '../../api/resources.ts';
import type { KubeReader } from '../../ports/kube-reader.ts';
import type { LiveLeases } from '../../ports/sight.ts';

/** Beyond this many, one list of all leases is less work for everybody than a request for each. */
const singleReadsMax = 10;
const pageSize = 500;

/** Reads leases without a resourceVersion, so that the answer comes from storage and not from anybody's cache. */
export class ApiLiveLeases implements LiveLeases {
  readonly #api: Pick<KubeReader, 'get' | 'list'>;
  readonly #signal: AbortSignal;

  /** `signal` aborts what is under way when the process ends. */
  constructor(api: Pick<KubeReader, 'get' | 'list'>, signal: AbortSignal) {
    this.#api = api;
    this.#signal = signal;
  }

  async read(nodes: readonly string[]): Promise<ReadonlyMap<string, LeaseView>> {
    const leases =
      nodes.length > singleReadsMax
        ? await this.#readAll()
        : await Promise.all(nodes.map((node) => this.#readOne(node)));
    const wanted = new Set(nodes);
    const found = leases.filter((lease) => lease !== undefined).filter(({ name }) => wanted.has(name));
    return new Map(found.map((lease) => [lease.name, lease]));
  }

  async probe(signal: AbortSignal): Promise<void> {
    await this.#api.list('leases', { namespace: nodeLeaseNamespace, limit: 1, signal });
  }

  async #readOne(node: string): Promise<LeaseView | undefined> {
    try {
      return asView(
        await this.#api.get('leases', { namespace: nodeLeaseNamespace, name: node }, { signal: this.#signal }),
      );
    } catch (error) {
      if (error instanceof ApiError && error.reason === 'not-found') return undefined;
      throw error;
    }
  }

  async #readAll(): Promise<readonly LeaseView[]> {
    const leases: LeaseView[] = [];
    let next: string | undefined;
    do {
      const token = next === undefined ? {} : { continue: next };
      const page = await this.#api.list('leases', {
        namespace: nodeLeaseNamespace,
        limit: pageSize,
        signal: this.#signal,
        ...token,
      });
      leases.push(...page.items.map(asView));
      next = page.metadata.continue;
    } while (next !== undefined && next !== '');
    return leases;
  }
}

function asView(object: KubeObject): LeaseView {
  const lease: Lease = object;
  return viewLease(lease);
}
