import { type Lease, transformLease } from '../../src/machinery/api/lease.ts';
import type { KubeObject } from '../../src/machinery/api/meta.ts';
import { type Node, transformNode } from '../../src/machinery/api/node.ts';
import { type Pod, transformPod } from '../../src/machinery/api/pod.ts';
import type { InformerStatus } from '../../src/machinery/informer/informer.ts';
import { SharedInformer, type SharedInformerOptions } from '../../src/machinery/informer/shared-informer.ts';
import { type Churned, churnedResources, selectionOf, stateOfServer } from './churn.ts';
import { type Named, Replay, stateOfStore } from './replay.ts';

type Dependencies = Pick<SharedInformerOptions<KubeObject, Named>, 'api' | 'clock' | 'random' | 'logger' | 'meter'> & {
  readonly quietMsMax?: number;
};

interface Watched {
  readonly resource: Churned;
  readonly violations: readonly string[];
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly status: () => InformerStatus;
  readonly stored: () => readonly string[];
  readonly replayed: () => readonly string[];
}

/** Informers of nodes, pods and leases, created as in the controller, each with a handler that replays its changes. */
export class WatchedCluster {
  readonly #watched: readonly Watched[];
  readonly #stop = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  constructor(dependencies: Dependencies) {
    this.#watched = [
      watch<Node, ReturnType<typeof transformNode>>(dependencies, {
        resource: 'nodes',
        transform: transformNode,
        shared: ['labels'],
      }),
      watch<Pod, ReturnType<typeof transformPod>>(dependencies, {
        resource: 'pods',
        transform: transformPod,
        shared: ['namespace', 'nodeName', 'tolerations', 'labels'],
      }),
      watch<Lease, ReturnType<typeof transformLease>>(dependencies, { resource: 'leases', transform: transformLease }),
    ];
  }

  start(): void {
    this.#running = Promise.all(this.#watched.map(({ run }) => run(this.#stop.signal)));
  }

  /** Resolves when all informers have stopped. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Violations found by the handlers. */
  violations(): readonly string[] {
    return this.#watched.flatMap(({ resource, violations }) => violations.map((line) => `${resource}: ${line}`));
  }

  /** Differences between the stores, the replayed changes and that state, one line each; empty if none. */
  differences(real: ClusterState): readonly string[] {
    return this.#watched.flatMap(({ resource, stored, replayed, status }) => {
      const state = JSON.stringify(status());
      return [
        ...differences(`${resource} in the store`, stored(), real[resource]).map((line) => `${line} (${state})`),
        ...differences(`${resource} as replayed`, replayed(), stored()),
      ];
    });
  }
}

type ClusterState = Readonly<Record<Churned, readonly string[]>>;

/** The server's state of everything that is watched. */
export async function clusterState(
  api: Parameters<typeof stateOfServer>[0],
  signal: AbortSignal,
): Promise<ClusterState> {
  const states = await Promise.all(
    churnedResources.map(async (resource) => [resource, await stateOfServer(api, resource, signal)] as const),
  );
  return Object.fromEntries(states) as ClusterState;
}

function watch<Raw extends KubeObject, View extends Named>(
  dependencies: Dependencies,
  own: Pick<SharedInformerOptions<Raw, View>, 'transform' | 'shared'> & { readonly resource: Churned },
): Watched {
  const informer = new SharedInformer<Raw, View>({
    ...dependencies,
    ...own,
    selection: selectionOf(own.resource),
    identity: (view) => view,
  });
  const replay = new Replay(informer.store, { mayRepeat: true });
  informer.onChange('replay', replay.listen);
  return {
    resource: own.resource,
    violations: replay.violations,
    run: (signal) => informer.run(signal),
    status: () => informer.status(),
    stored: () => stateOfStore(informer.store),
    replayed: () => replay.state(),
  };
}

function differences(what: string, actual: readonly string[], real: readonly string[]): readonly string[] {
  const missing = real.filter((line) => !actual.includes(line)).map((line) => `${what}: missing ${line}`);
  const surplus = actual.filter((line) => !real.includes(line)).map((line) => `${what}: surplus ${line}`);
  return [...missing, ...surplus];
}
