import { ApiError } from '../../machinery/api/api-error.ts';
import type { KubeObject } from '../../machinery/api/meta.ts';
import type { Node } from '../../machinery/api/node.ts';
import type { Pod } from '../../machinery/api/pod.ts';
import type { Toleration } from '../../machinery/api/tolerations.ts';
import type { StoredObject } from '../../hollow-cluster/apiserver/storage/stored-object.ts';
import type { Random } from '../../machinery/ports/random.ts';
import { chance, oneOf, wholeBetween } from '../draw.ts';
import type { Storage } from '../server/storage.ts';

const notReady = 'node.kubernetes.io/not-ready';
const unreachable = 'node.kubernetes.io/unreachable';

/** Tolerates both health taints: for this time, or without a limit. */
export function toleratesHealthFor(tolerationSeconds?: number): readonly Toleration[] {
  return [notReady, unreachable].map((key) => tolerate(key, tolerationSeconds));
}

function tolerate(key: string, tolerationSeconds?: number): Toleration {
  const limit = tolerationSeconds === undefined ? {} : { tolerationSeconds };
  return { key, operator: 'Exists', effect: 'NoExecute', ...limit };
}

/** By users, see the fault `foreign-taint`. */
const maintenance = 'example.com/maintenance';
const disk = 'example.com/disk';

const tolerations: readonly (readonly Toleration[])[] = [
  toleratesHealthFor(0),
  toleratesHealthFor(5),
  toleratesHealthFor(60),
  toleratesHealthFor(),
  [tolerate(notReady), tolerate(unreachable, 60)],
  [...toleratesHealthFor(60), tolerate(maintenance, 30), tolerate(disk, 3_600)],
  [...toleratesHealthFor(5), tolerate(maintenance, 60), tolerate(disk)],
];
/** The share of pods whose name is used again, as those of a StatefulSet; and of pods whose node is named by a user. */
const statefulShare = 0.2;
const pinnedShare = 0.1;
const statefulNames = 6;

/** Label by which budgets select pods. */
export const appLabel = 'example.com/app';

/** Every other pod is of the same app. */
function appOf(created: number): string {
  return created % 2 === 0 ? 'a' : 'b';
}

/** Template of a pod: what differs between pods. */
interface PodTemplate {
  readonly tolerations: readonly Toleration[];
  readonly graceSeconds: number;
}

/** Pods of every kind that the eviction distinguishes. */
function anyTemplate(random: Random): PodTemplate {
  const graceSeconds = oneOf(random, [0, 2, 30]);
  return { graceSeconds, tolerations: chance(random, 0.2) ? [] : oneOf(random, tolerations) };
}

/** A pod, and the node on which it is at the beginning. */
export interface PlacedPod extends PodTemplate {
  readonly node: string;
}

interface WorkloadOptions {
  readonly storage: Storage;
  readonly random: Random;
  readonly podsWanted: number;
  /** The first pods, in this order; all others are like one of them, and on any node. Absent: any pods on any nodes. */
  readonly placed?: readonly PlacedPod[] | undefined;
}

/**
 * Workload of a ReplicaSet controller, the scheduler and users together: keeps the number of pods, on nodes that accept
 * them or that a user names.
 */
export class Workload {
  readonly #options: WorkloadOptions;
  #created = 0;
  #live = 0;
  #pins = true;

  constructor(options: WorkloadOptions) {
    this.#options = options;
    options.storage.onCommit((resource, change) => {
      if (resource !== 'pods') return;
      const after = change.kind === 'deleted' ? undefined : change.object;
      this.#live += this.#countLive(after) - this.#countLive(change.previous);
    });
  }

  /** Creates pods for those that are missing or are being deleted. */
  reconcile(): void {
    const { podsWanted, storage } = this.#options;
    if (this.#live >= podsWanted) return;
    const nodes = storage.list('nodes').filter(acceptsPods);
    for (let missing = podsWanted - this.#live; missing > 0 && nodes.length > 0; missing -= 1) {
      this.#create(this.#next(nodes));
    }
  }

  #next(nodes: readonly Node[]): PlacedPod {
    const { placed, random } = this.#options;
    const next = placed?.[this.#created];
    if (next !== undefined) return next;
    if (placed !== undefined) return { ...oneOf(random, placed), node: nameOf(oneOf(random, nodes)) };
    const isPinned = chance(random, pinnedShare);
    const chosen = oneOf(random, isPinned ? this.#options.storage.list('nodes') : nodes);
    const node = this.#pins || acceptsPods(chosen) ? chosen : oneOf(random, nodes);
    return { ...anyTemplate(random), node: nameOf(node) };
  }

  /**
   * Whether users name the node of a pod, which binds it there whatever taints the node has. The scheduler, which places
   * all others, never binds a pod to a node with a NoSchedule taint that the pod does not tolerate, and none of these does.
   */
  set pins(isOn: boolean) {
    this.#pins = isOn;
  }

  /** The storage was replaced. */
  recount(): void {
    const pods = this.#options.storage.list('pods');
    this.#live = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined).length;
  }

  /** 1 for a pod that is not being deleted. */
  #countLive(stored: StoredObject | undefined): number {
    if (stored === undefined) return 0;
    return this.#options.storage.decode('pods', stored).metadata.deletionTimestamp === undefined ? 1 : 0;
  }

  #create({ node: nodeName, graceSeconds, tolerations }: PlacedPod): void {
    const { storage } = this.#options;
    this.#created += 1;
    const pod: Pod = {
      metadata: { name: this.#nextName(), namespace: 'default', labels: { [appLabel]: appOf(this.#created) } },
      spec: {
        nodeName,
        terminationGracePeriodSeconds: graceSeconds,
        containers: [{ name: 'c', image: 'i:1' }],
        tolerations,
      },
    };
    try {
      // A name that is in use is refused, and drawn again in the next round.
      storage.create('pods', pod);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }

  #nextName(): string {
    const { random, placed } = this.#options;
    const isStateful = placed === undefined && chance(random, statefulShare);
    return isStateful ? `db-${wholeBetween(random, 1, statefulNames)}` : `pod-${this.#created}`;
  }
}

function nameOf({ metadata }: KubeObject): string {
  return metadata.name ?? '';
}

function acceptsPods({ spec, metadata }: Node): boolean {
  const taints = spec?.taints ?? [];
  return metadata.deletionTimestamp === undefined && !taints.some(({ effect }) => effect !== 'PreferNoSchedule');
}
