// A pod that the controller reports as Failed, because no kubelet is left to do so, is on a node that does not exist or is
// out of service.
import type { Node } from '../../../src/machinery/api/node.ts';
import type { Pod } from '../../../src/machinery/api/pod.ts';
import type { StoreChange } from '../../../src/hollow-cluster/apiserver/storage/store-change.ts';
import type { World } from '../../../src/simulator/world.ts';
import type { Report } from './violation.ts';

/** A live read of the node precedes the write. */
const drillLatenessMs = 30_000;
const outOfService = 'node.kubernetes.io/out-of-service';

export class PodFailureChecker {
  readonly #world: World;
  readonly #report: Report;
  /** When each node that exists was created. */
  readonly #createdMs = new Map<string, number>();
  /** When each node was last out of service. */
  readonly #outOfServiceMs = new Map<string, number>();
  #latenessMs: number;

  /** `latenessMs`: how old the state may be that justifies a write. */
  constructor(world: World, report: Report, latenessMs: number) {
    this.#world = world;
    this.#report = report;
    this.#latenessMs = latenessMs;
    world.storage.onCommit((resource, change, { process }) => {
      if (resource === 'nodes') this.#noteNode(change);
      if (resource === 'pods' && process.startsWith('replica-')) this.#onPod(change);
    });
    world.storage.onRestore(() => this.#onRestore());
  }

  /** From now on nothing is late. */
  beginDrill(): void {
    this.#latenessMs = drillLatenessMs;
  }

  #noteNode({ kind, object, previous }: StoreChange): void {
    const { storage, timeline } = this.#world;
    const before: Node | undefined = previous && storage.decode('nodes', previous);
    if (before !== undefined && isOutOfService(before)) this.#outOfServiceMs.set(object.name, timeline.nowMs);
    if (kind === 'added') this.#createdMs.set(object.name, timeline.nowMs);
    if (kind === 'deleted') this.#createdMs.delete(object.name);
  }

  /** Any node may be new, or back in service. */
  #onRestore(): void {
    const { storage, timeline } = this.#world;
    for (const { metadata } of storage.list('nodes')) this.#createdMs.set(metadata.name ?? '', timeline.nowMs);
  }

  #onPod({ kind, object, previous }: StoreChange): void {
    if (kind === 'deleted' || previous === undefined) return;
    const { storage } = this.#world;
    const before: Pod = storage.decode('pods', previous);
    const after: Pod = storage.decode('pods', object);
    if (after.status?.phase === 'Failed' && before.status?.phase !== 'Failed') this.#checkFailure(before);
  }

  #checkFailure({ metadata, spec }: Pod): void {
    const { storage, timeline } = this.#world;
    const name = spec?.nodeName ?? '';
    const node: Node | undefined = storage.get('nodes', { name });
    if (node === undefined || isOutOfService(node)) return;
    const existsMs = timeline.nowMs - (this.#createdMs.get(name) ?? -Infinity);
    const inServiceMs = timeline.nowMs - (this.#outOfServiceMs.get(name) ?? -Infinity);
    if (Math.min(existsMs, inServiceMs) <= this.#latenessMs) return;
    const text = `became Failed although ${name} exists for ${Math.round(existsMs / 1_000)} s`;
    this.#report('pod-failure-has-reason', `default/${metadata.name ?? ''}`, text);
  }
}

function isOutOfService({ spec }: Node): boolean {
  return (spec?.taints ?? []).some(({ key }) => key === outOfService);
}
