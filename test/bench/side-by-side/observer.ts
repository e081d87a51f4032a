// The one observer of both controllers: watches of nodes and pods, with the time at which each change arrived.
import type { RestClient, WatchFrame } from '../../control-plane/rest-client.ts';
import { Episode } from './episode.ts';
import { unixMs } from './load-protocol.ts';

const healthTaints: readonly string[] = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

interface ObservedNode {
  readonly ready: string;
  readonly isTainted: boolean;
  readonly hasNoExecute: boolean;
}

interface Condition {
  readonly type: string;
  readonly status: string;
}

interface WatchedObject {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
  readonly spec: {
    readonly nodeName?: string;
    readonly taints?: readonly { readonly key: string; readonly effect: string }[];
  };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

type Client = Pick<RestClient, 'must' | 'watch'>;

export class Observer {
  readonly #client: Client;
  readonly #stop = new AbortController();
  readonly #nodes = new Map<string, ObservedNode>();
  readonly #episodes = new Set<Episode>();
  readonly #recovering = new Set<string>();
  readonly #falselyUnknown = new Set<string>();

  private constructor(client: Client) {
    this.#client = client;
  }

  /** Starts at the present state: of nodes that do not change nothing is known. A watch that fails ends the process. */
  static async start(client: Client): Promise<Observer> {
    const observer = new Observer(client);
    void observer.#follow('/api/v1/nodes', await observer.#version('/api/v1/nodes'), (node) => observer.#node(node));
    void observer.#follow('/api/v1/pods', await observer.#version('/api/v1/pods'), (pod) => observer.#pod(pod));
    return observer;
  }

  stop(): void {
    this.#stop.abort();
  }

  /** Undefined: it has not changed since the start. */
  node(name: string): ObservedNode | undefined {
    return this.#nodes.get(name);
  }

  /** Records what happens to these nodes and their pods, until `end`. */
  begin(nodes: readonly string[], podsPerNode: number): Episode {
    const episode = new Episode(nodes, podsPerNode);
    this.#episodes.add(episode);
    return episode;
  }

  /** Its nodes renew again, but are not healthy yet. */
  end(episode: Episode): void {
    this.#episodes.delete(episode);
    for (const node of episode.nodes) this.#recovering.add(node);
  }

  /** Nodes that are not Ready or have a health taint, with their state. */
  unhealthy(): ReadonlyMap<string, ObservedNode> {
    return new Map([...this.#nodes].filter(([, node]) => !isHealthy(node)));
  }

  /** Nodes that became Unknown although they renewed, since the previous call. */
  takeFalselyUnknown(): readonly string[] {
    const nodes = [...this.#falselyUnknown];
    this.#falselyUnknown.clear();
    return nodes;
  }

  async #version(path: string): Promise<string> {
    const list = await this.#client.must<{ readonly metadata: { readonly resourceVersion: string } }>(
      'GET',
      `${path}?limit=1`,
    );
    return list.metadata.resourceVersion;
  }

  /** The server ends a watch after half an hour or more. */
  async #follow(path: string, from: string, see: (object: WatchedObject) => void): Promise<void> {
    const { signal } = this.#stop;
    let version = from;
    while (!signal.aborted) {
      try {
        for await (const frame of this.#client.watch(`${path}?watch=true&resourceVersion=${version}`, signal)) {
          const object = objectIn(frame, path);
          version = object.metadata.resourceVersion;
          see(object);
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }
  }

  #node({ metadata: { name }, spec, status }: WatchedObject): void {
    const taints = (spec.taints ?? []).filter(({ key }) => healthTaints.includes(key));
    const node: ObservedNode = {
      ready: readyIn(status),
      isTainted: taints.length > 0,
      hasNoExecute: taints.some(({ effect }) => effect === 'NoExecute'),
    };
    this.#nodes.set(name, node);
    if (isHealthy(node)) this.#recovering.delete(name);
    if (node.ready === 'Unknown' && this.#renews(name)) this.#falselyUnknown.add(name);
    for (const { nodes, unknownAtMs, noExecuteAtMs } of this.#episodes) {
      if (!nodes.has(name)) continue;
      if (node.ready === 'Unknown') firstTime(unknownAtMs, name);
      if (node.hasNoExecute) firstTime(noExecuteAtMs, name);
    }
  }

  /** Neither silenced nor just resumed. */
  #renews(name: string): boolean {
    return !this.#recovering.has(name) && [...this.#episodes].every(({ nodes }) => !nodes.has(name));
  }

  #pod({ metadata: { name }, spec: { nodeName = '' }, status }: WatchedObject): void {
    if (readyIn(status) !== 'False') return;
    for (const { nodes, podAtMs } of this.#episodes) if (nodes.has(nodeName)) firstTime(podAtMs, name);
  }
}

function objectIn({ type, object }: WatchFrame, path: string): WatchedObject {
  if (type === 'ERROR') throw new Error(`watch of ${path}: ${JSON.stringify(object)}`);
  return object as unknown as WatchedObject;
}

function isHealthy({ ready, isTainted }: ObservedNode): boolean {
  return ready === 'True' && !isTainted;
}

function readyIn(status: WatchedObject['status']): string {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.status ?? '';
}

function firstTime(times: Map<string, number>, name: string): void {
  if (!times.has(name)) times.set(name, unixMs());
}
