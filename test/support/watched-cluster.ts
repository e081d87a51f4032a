import { type Lease, viewLease } from '../../src/api/lease.ts';
import type { KubeObject } from '../../src/api/meta.ts';
import { type Node, viewNode } from '../../src/api/node.ts';
import { type Pod, viewPod } from '../../src/api/pod.ts';
import type { InformerStatus } from '../../src/informer/informer.ts';
import { SharedInformer, type SharedInformerOptions } from '../../src/informer/shared-informer.ts';
import { type Churned, churnedResources, selectionOf, stateOfServer } from './churn.ts';
import { type Named, Replay, stateOfStore } from './replay.ts';

type Means = Pick<SharedInformerOptions<KubeObject, Named>, 'api' | 'clock' | 'random' | 'logger' | 'meter'> & {
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

/** Informers of nodes, pods and leases, made as the controller makes them, each with a listener that replays its changes. */
export class WatchedCluster {
  readonly #watched: readonly Watched[];
  readonly #stop = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  constructor(means: Means) {
    this.#watched = [
      watch<Node, ReturnType<typeof viewNode>>(means, { resource: 'nodes', view: viewNode, shared: ['labels'] }),
      watch<Pod, ReturnType<typeof viewPod>>(means, {
        resource: 'pods',
        view: viewPod,
        shared: ['namespace', 'nodeName', 'tolerations', 'labels'],
      }),
      watch<Lease, ReturnType<typeof viewLease>>(means, { resource: 'leases', view: viewLease }),
    ];
  }

  start(): void {
    this.#running = Promise.all(this.#watched.map(({ run }) => run(this.#stop.signal)));
  }

  /** Resolves when nothing of the informers runs any more. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** What listeners were told and must not be told. */
  violations(): readonly string[] {
    return this.#watched.flatMap(({ resource, violations }) => violations.map((line) => `${resource}: ${line}`));
  }

  /** Where stores and what listeners were told differ from that state, a line for each; empty where nothing does. */
  differences(real: ClusterState): readonly string[] {
    return this.#watched.flatMap(({ resource, stored, replayed, status }) => {
      const state = JSON.stringify(status());
      return [
        ...differences(`${resource} in the store`, stored(), real[resource]).map((line) => `${line} (${state})`),
        ...differences(`${resource} as told`, replayed(), stored()),
      ];
    });
  }
}

export type ClusterState = Readonly<Record<Churned, readonly string[]>>;

/** All that the server has of what is watched. */
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
  means: Means,
  own: Pick<SharedInformerOptions<Raw, View>, 'view' | 'shared'> & { readonly resource: Churned },
): Watched {
  const informer = new SharedInformer<Raw, View>({
    ...means,
    ...own,
    selection: selectionOf(own.resource),
    identity: (view) => view,
  });
  const replay = new Replay(informer.store);
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

function differences(what: string, ours: readonly string[], real: readonly string[]): readonly string[] {
  const missing = real.filter((line) => !ours.includes(line)).map((line) => `${what}: missing ${line}`);
  const surplus = ours.filter((line) => !real.includes(line)).map((line) => `${what}: surplus ${line}`);
  return [...missing, ...surplus];
}
