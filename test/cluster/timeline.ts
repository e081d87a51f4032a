// What a user sees of the cluster: each transition of nodes, pods, endpoints and attachments of volumes, with the time at which it arrived.
import { appendFileSync } from 'node:fs';
import type { ApiClient, ApiObject, WatchEvent } from './machine/api-client.ts';

const watched = {
  nodes: '/api/v1/nodes',
  pods: '/api/v1/pods',
  endpoints: '/apis/discovery.k8s.io/v1/endpointslices',
  attachments: '/apis/storage.k8s.io/v1/volumeattachments',
} as const;
type Kind = keyof typeof watched;

interface Waiter {
  readonly isTrue: () => boolean;
  readonly resolve: (atMs: number) => void;
  /** The question threw: what it found can never become true. */
  readonly reject: (error: unknown) => void;
}

export class Timeline {
  readonly #file: string;
  readonly #ends = new AbortController();
  readonly #objects: Readonly<Record<Kind, Map<string, ApiObject>>> = {
    nodes: new Map(),
    pods: new Map(),
    endpoints: new Map(),
    attachments: new Map(),
  };
  readonly #shown = new Map<string, string>();
  readonly #waiters = new Set<Waiter>();
  #markMs = performance.now();

  /** `file`: gets a line for each transition. */
  constructor(api: ApiClient, file: string) {
    this.#file = file;
    for (const kind of Object.keys(watched) as Kind[]) void this.#follow(api, kind);
  }

  close(): void {
    this.#ends.abort();
  }

  get nodes(): ReadonlyMap<string, ApiObject> {
    return this.#objects.nodes;
  }

  /** Pods of an app in the namespace of the workload. */
  podsOf(app: string): readonly ApiObject[] {
    const pods = [...this.#objects.pods.values()];
    return pods.filter((pod) => pod.metadata.namespace === 'shop' && labelsOf(pod)['app'] === app);
  }

  /** Pods of all namespaces that are bound to a node. */
  podsOn(node: string): readonly ApiObject[] {
    return [...this.#objects.pods.values()].filter((pod) => nodeOf(pod) === node);
  }

  /** Names of the nodes of the ready endpoints of a Service. */
  endpointsOf(service: string): readonly string[] {
    return [...this.#objects.endpoints.values()]
      .filter((slice) => labelsOf(slice)['kubernetes.io/service-name'] === service)
      .flatMap((slice) => (slice['endpoints'] ?? []) as readonly ApiObject[])
      .filter((endpoint) => endpoint['conditions']?.ready === true)
      .map((endpoint) => String(endpoint['nodeName']));
  }

  /** Names of the nodes to which a persistent volume is attached. */
  attachedTo(volume: string): readonly string[] {
    return [...this.#objects.attachments.values()]
      .filter(({ spec, status }) => spec?.source.persistentVolumeName === volume && status?.attached === true)
      .map(({ spec }) => String(spec?.nodeName));
  }

  /** Begins to count seconds, and says so. */
  mark(what: string): void {
    this.#markMs = performance.now();
    this.#log(`==== ${what}`);
  }

  /** Seconds since the mark at which this is true; an error if it is not within so many seconds. */
  async when(what: string, withinSeconds: number, isTrue: () => boolean): Promise<number> {
    const atMs = await this.#wait(what, withinSeconds, isTrue);
    const seconds = Math.round((atMs - this.#markMs) / 100) / 10;
    this.#log(`==== ${what} after ${seconds} s`);
    return seconds;
  }

  /** Whether this was true at any time while the work ran. */
  async everWhile(isTrue: () => boolean, work: () => Promise<void>): Promise<boolean> {
    let ever = isTrue();
    const end = (): void => void (ever = true);
    const waiter = { isTrue, resolve: end, reject: end };
    this.#waiters.add(waiter);
    await work().finally(() => this.#waiters.delete(waiter));
    return ever;
  }

  async #wait(what: string, withinSeconds: number, isTrue: () => boolean): Promise<number> {
    if (isTrue()) return performance.now();
    return new Promise((resolve, reject) => {
      const waiter = { isTrue, resolve, reject };
      this.#waiters.add(waiter);
      setTimeout(() => {
        if (this.#waiters.delete(waiter)) reject(new Error(`not within ${withinSeconds} s: ${what}`));
      }, withinSeconds * 1_000).unref();
    });
  }

  async #follow(api: ApiClient, kind: Kind): Promise<void> {
    for await (const event of api.watch(watched[kind], this.#ends.signal)) this.#note(kind, event);
  }

  #note(kind: Kind, { type, object }: WatchEvent): void {
    if (type === 'ERROR' || type === 'BOOKMARK') return;
    const { namespace = '', name } = object.metadata;
    const key = namespace === '' ? name : `${namespace}/${name}`;
    const objects = this.#objects[kind];
    if (type === 'DELETED') objects.delete(key);
    else objects.set(key, object);
    this.#show(`${kind} ${key}`, type === 'DELETED' ? 'gone' : describe[kind](object));
    for (const waiter of this.#waiters) this.#ask(waiter);
  }

  #ask(waiter: Waiter): void {
    try {
      if (!waiter.isTrue()) return;
      waiter.resolve(performance.now());
    } catch (error) {
      waiter.reject(error);
    }
    this.#waiters.delete(waiter);
  }

  #show(subject: string, state: string): void {
    if (this.#shown.get(subject) === state) return;
    this.#shown.set(subject, state);
    this.#log(`${subject} ${state}`);
  }

  #log(text: string): void {
    const seconds = ((performance.now() - this.#markMs) / 1_000).toFixed(2).padStart(8);
    appendFileSync(this.#file, `${new Date().toISOString()} ${seconds} ${text}\n`);
  }
}

const describe: Readonly<Record<Kind, (object: ApiObject) => string>> = {
  nodes: (node) => `Ready=${readyOf(node)} ${taintsOf(node).join(',') || 'no taints'}`,
  pods: (pod) => {
    const deleting = pod.metadata.deletionTimestamp === undefined ? '' : ' terminating';
    return `${nodeOf(pod) || 'not bound'} ${pod['status']?.phase} Ready=${readyOf(pod)}${deleting}`;
  },
  endpoints: (slice) => {
    const all = (slice['endpoints'] ?? []) as readonly ApiObject[];
    return `ready ${all.filter((each) => each['conditions']?.ready === true).length} of ${all.length}`;
  },
  attachments: ({ metadata, spec, status }) => {
    const deleting = metadata.deletionTimestamp === undefined ? '' : ' detaching';
    return `${spec?.source.persistentVolumeName} ${spec?.nodeName} attached=${status?.attached}${deleting}`;
  },
};

/** Labels of an object. */
export function labelsOf(object: ApiObject): Readonly<Record<string, string>> {
  return (object.metadata as { readonly labels?: Readonly<Record<string, string>> }).labels ?? {};
}

/** Status of the condition Ready of a node or a pod. */
export function readyOf(object: ApiObject | undefined): string {
  const conditions = (object?.['status']?.conditions ?? []) as readonly {
    readonly type: string;
    readonly status: string;
  }[];
  return conditions.find(({ type }) => type === 'Ready')?.status ?? 'missing';
}

/** Taints of a node as `key:effect`, without the prefix of keys. */
export function taintsOf(node: ApiObject | undefined): readonly string[] {
  const taints = (node?.['spec']?.taints ?? []) as readonly { readonly key: string; readonly effect: string }[];
  return taints.map(({ key, effect }) => `${key.split('/').at(-1)}:${effect}`);
}

/** Empty: the pod is not bound. */
export function nodeOf(pod: ApiObject): string {
  return (pod['spec']?.nodeName ?? '') as string;
}

/** Ready, and not being deleted. */
export function isServing(pod: ApiObject): boolean {
  return readyOf(pod) === 'True' && pod.metadata.deletionTimestamp === undefined;
}

/** Names of pods, in an order that does not change. */
export function podNames(pods: readonly ApiObject[]): string {
  return pods
    .map(({ metadata }) => metadata.name)
    .sort()
    .join(' ');
}
