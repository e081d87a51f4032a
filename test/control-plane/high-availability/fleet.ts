// The nodes and pods of the test: for each handover some that become silent before it and some that become silent and
// recover during it; some that flap all the time; a zone that stays silent; the others are healthy.
import type { Toleration } from '../../../src/machinery/api/tolerations.ts';
import type { RestClient } from '../rest-client.ts';
import { ScriptedCluster } from '../scripted-cluster.ts';
import { renewEveryMs } from './settings.ts';

const unreachable = 'node.kubernetes.io/unreachable';
const zones = ['z0', 'z1', 'z2'];
const requestsAtOnce = 24;
const sizes = { early: 9, returning: 6, late: 6 } as const;
const flapping = 12;
const silent = 30;
const inAll = 240;
export const longestPatienceSeconds = 10;
/** Periods of a flapping node without and with heartbeats, shorter than the grace period. */
const flapMs = { silent: 2_500, alive: 3_000 } as const;

/** `early`: silent and tainted before the leader stops. `late`: its grace period ends after that. */
export type Part = keyof typeof sizes;

export interface PodFact {
  readonly uid: string;
  readonly name: string;
  readonly node: string;
  /** Undefined: no limit. */
  readonly patienceSeconds: number | undefined;
  /** Its kubelet posted Ready=True. */
  readonly ready: boolean;
}

type PlannedPod = Omit<PodFact, 'uid'> & { readonly graceSeconds: number };

interface PlacedPod {
  readonly metadata: { readonly deletionTimestamp?: string };
  readonly spec: { readonly nodeName: string };
}

export const silentZone = 'silent';

export class Fleet {
  readonly cluster: ScriptedCluster;
  readonly pods: PodFact[] = [];
  readonly zoneOf = new Map<string, string>();
  readonly #client: RestClient;
  readonly #handovers: readonly string[];
  readonly #stop = new AbortController();
  #flapping: Promise<void> | undefined;

  constructor(client: RestClient, handovers: readonly string[]) {
    this.#client = client;
    this.#handovers = handovers;
    this.cluster = new ScriptedCluster(client, { renewEveryMs, renewalParts: 8 });
  }

  nodesOf(handover: string, part: Part): readonly string[] {
    const place = this.#handovers.indexOf(handover);
    return Array.from({ length: sizes[part] }, (_, i) => `h${place}-${part}-${i}`);
  }

  /** All nodes of all handovers. */
  silenced(): readonly string[] {
    const parts = Object.keys(sizes) as readonly Part[];
    return this.#handovers.flatMap((handover) => parts.flatMap((part) => this.nodesOf(handover, part)));
  }

  silent(): readonly string[] {
    return Array.from({ length: silent }, (_, i) => `silent-${i}`);
  }

  async build(): Promise<void> {
    const flappers = Array.from({ length: flapping }, (_, i) => `flapping-${i}`);
    const others = [...this.silenced(), ...flappers];
    const calm = Array.from({ length: inAll - others.length - silent }, (_, i) => `calm-${i}`);
    for (const [place, name] of [...others, ...calm].entries())
      this.zoneOf.set(name, zones[place % zones.length] ?? '');
    for (const name of this.silent()) this.zoneOf.set(name, silentZone);
    await inParallel([...this.zoneOf], ([name, zone]) => this.cluster.addNode(name, zone));
    this.cluster.start();
    await inParallel([...this.zoneOf.keys()].flatMap(podsFor), (planned) => this.#plant(planned));
    this.#flapping = this.#flap(flappers);
  }

  /** Those of these nodes with a pod that has tolerationSeconds and is not deleted. */
  async keepingPods(nodes: readonly string[]): Promise<readonly string[]> {
    const path = '/api/v1/namespaces/default/pods?labelSelector=patience%3Dends';
    const { items } = await this.#client.must<{ readonly items: readonly PlacedPod[] }>('GET', path);
    const left = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    return nodes.filter((node) => left.some(({ spec }) => spec.nodeName === node));
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#flapping;
    await this.cluster.stop();
  }

  async #plant({ graceSeconds, ...planned }: PlannedPod): Promise<void> {
    const { name, node, patienceSeconds } = planned;
    const seconds = patienceSeconds === undefined ? {} : { tolerationSeconds: patienceSeconds };
    const toleration: Toleration = { key: unreachable, operator: 'Exists', effect: 'NoExecute', ...seconds };
    const { metadata } = await this.#client.must('POST', '/api/v1/namespaces/default/pods', {
      metadata: { name, labels: { patience: patienceSeconds === undefined ? 'endless' : 'ends' } },
      spec: {
        nodeName: node,
        terminationGracePeriodSeconds: graceSeconds,
        containers: [{ name: 'c', image: 'i' }],
        tolerations: [toleration],
      },
    });
    if (planned.ready) await this.cluster.postPod(name);
    this.pods.push({ ...planned, uid: metadata?.uid ?? '' });
  }

  async #flap(names: readonly string[]): Promise<void> {
    while (!this.#stop.signal.aborted) {
      for (const name of names) this.cluster.stopHeartbeats(name);
      await this.#pause(flapMs.silent);
      await Promise.all(names.map((name) => this.cluster.resumeHeartbeats(name)));
      await this.#pause(flapMs.alive);
    }
  }

  async #pause(ms: number): Promise<void> {
    const over = Date.now() + ms;
    while (Date.now() < over && !this.#stop.signal.aborted) await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** One pod for each tolerationSeconds, every second one with a termination grace period; and one without a limit. */
function podsFor(node: string): readonly PlannedPod[] {
  const seconds = Array.from({ length: longestPatienceSeconds }, (_, i) => i + 1);
  const leaving = seconds.map((patienceSeconds) => {
    return {
      name: `${node}-p${patienceSeconds}`,
      node,
      patienceSeconds,
      ready: false,
      graceSeconds: (patienceSeconds % 2) * 30,
    };
  });
  return [...leaving, { name: `${node}-stays`, node, patienceSeconds: undefined, ready: true, graceSeconds: 0 }];
}

async function inParallel<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const work = async (): Promise<void> => {
    for (const item of waiting) await act(item);
  };
  await Promise.all(Array.from({ length: requestsAtOnce }, work));
}
