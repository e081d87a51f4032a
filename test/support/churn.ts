import { ApiError } from '../../src/machinery/api/api-error.ts';
import type { KubeObject } from '../../src/machinery/api/meta.ts';
import { keyOf } from '../../src/machinery/api/object-key.ts';
import type { KubeReader } from '../../src/machinery/ports/kube-reader.ts';
import type { KubeWriter } from '../../src/machinery/ports/kube-writer.ts';
import type { Random } from '../../src/machinery/ports/random.ts';
import { pick, whole } from './fault-schedule.ts';
import { describeState } from './replay.ts';

export const churnedResources = ['nodes', 'pods', 'leases'] as const;
export type Churned = (typeof churnedResources)[number];

const namespaces: Readonly<Record<Churned, string | undefined>> = {
  nodes: undefined,
  pods: 'default',
  leases: 'kube-node-lease',
};
/** A bounded number of labels: values that never repeat would be a leak of the test itself. */
const labelValues = 8;

interface ChurnOptions {
  readonly api: KubeReader & KubeWriter;
  readonly random: Random;
  /** Maximum number of objects of each resource. */
  readonly names: number;
  readonly signal: AbortSignal;
}

/**
 * Writes nodes, pods and leases at random: creates, updates, deletes, and deletes and creates again under the same name.
 * One write after the other. A write may fail (the server was killed): the object is read again before each write, so a
 * failure needs no handling.
 */
export class Churn {
  readonly #options: ChurnOptions;
  #failures = 0;
  #writes = 0;

  constructor(options: ChurnOptions) {
    this.#options = options;
  }

  /** Writes that failed or whose outcome is unknown. */
  get failures(): number {
    return this.#failures;
  }

  get writes(): number {
    return this.#writes;
  }

  /** Creates half of the possible objects. */
  async populate(): Promise<void> {
    for (const resource of churnedResources) {
      for (let index = 0; index < this.#options.names; index += 2) await this.#create(resource, nameOf(index));
    }
  }

  /** One random change of one random object. */
  async step(): Promise<void> {
    const { random, names } = this.#options;
    const resource = pick(random, churnedResources);
    const name = nameOf(whole(random, names));
    const operation = pick(random, ['update', 'update', 'delete', 'recreate'] as const);
    await this.#attempt(() => this.#change(resource, name, operation));
  }

  /** One successful change of each resource. */
  async touchAll(): Promise<void> {
    for (const resource of churnedResources) {
      await this.#remove(resource, nameOf(0));
      await this.#create(resource, nameOf(0));
    }
  }

  async #attempt(write: () => Promise<void>): Promise<void> {
    try {
      await write();
      this.#writes += 1;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#failures += 1;
    }
  }

  async #change(resource: Churned, name: string, operation: 'update' | 'delete' | 'recreate'): Promise<void> {
    const there = await this.#find(resource, name);
    if (there === undefined) return this.#create(resource, name);
    if (operation === 'update') return this.#update(resource, name);
    await this.#delete(resource, name, there);
    if (operation === 'recreate') await this.#create(resource, name);
  }

  async #find(resource: Churned, name: string): Promise<KubeObject | undefined> {
    const { api, signal } = this.#options;
    try {
      return await api.get(resource, at(resource, name), { signal });
    } catch (error) {
      if (error instanceof ApiError && error.reason === 'not-found') return undefined;
      throw error;
    }
  }

  async #create(resource: Churned, name: string): Promise<void> {
    const { api, signal, random } = this.#options;
    await api.create(
      resource,
      { ...bodyOf(resource), metadata: { ...at(resource, name), labels: labels(random) } },
      { signal },
    );
  }

  async #update(resource: Churned, name: string): Promise<void> {
    const { api, signal, random } = this.#options;
    const body = { metadata: { labels: labels(random), annotations: { turn: String(random.next()) } } };
    await api.patch(resource, at(resource, name), { type: 'merge', body }, { signal });
  }

  async #remove(resource: Churned, name: string): Promise<void> {
    const there = await this.#find(resource, name);
    if (there !== undefined) await this.#delete(resource, name, there);
  }

  async #delete(resource: Churned, name: string, { metadata }: KubeObject): Promise<void> {
    const { api, signal } = this.#options;
    await api.delete(resource, at(resource, name), { uid: metadata.uid ?? '', gracePeriodSeconds: 0, signal });
  }
}

/** The server's state of one resource, in the format of {@link describeState}, sorted. */
export async function stateOfServer(
  api: KubeReader,
  resource: Churned,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { items } = await api.list(resource, { ...selectionOf(resource), signal });
  return items.map(({ metadata }) => describeState(keyOf(metadata), metadata)).sort();
}

/** What is watched and compared: everything, but leases only of one namespace, as in the controller. */
export function selectionOf(resource: Churned): { readonly namespace?: string } {
  return resource === 'leases' ? { namespace: 'kube-node-lease' } : {};
}

function nameOf(index: number): string {
  return `n${index}`;
}

function at(resource: Churned, name: string): { readonly name: string; readonly namespace?: string } {
  const namespace = namespaces[resource];
  return namespace === undefined ? { name } : { name, namespace };
}

function bodyOf(resource: Churned): Readonly<Record<string, unknown>> {
  if (resource === 'pods') return { spec: { containers: [{ name: 'c', image: 'registry/image:1' }] } };
  return resource === 'leases' ? { spec: { holderIdentity: 'holder' } } : {};
}

function labels(random: Random): Readonly<Record<string, string>> {
  return { turn: String(whole(random, labelValues)) };
}
