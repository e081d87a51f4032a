// A node is kept from new pods only if it recovered repeatedly, and never for long.
import { type Node, flappingAnnotation } from '../../../src/machinery/api/node.ts';
import { flappingTaintKey, isHealthTaint } from '../../../src/machinery/api/taints.ts';
import { clockSkewMs } from '../../../src/machinery/api/timestamps.ts';
import type { StoreChange } from '../../../src/hollow-cluster/apiserver/storage/store-change.ts';
import { keptMsMax, recoveriesMin } from '../faults/flapping-plan.ts';
import { isReady } from '../../../src/simulator/node-fields.ts';
import type { World } from '../../../src/simulator/world.ts';
import type { Report } from './violation.ts';

/** Maximum time until a taint is removed, as in the recovery checker. */
const removedMsMax = 180_000;
/** Maximum time for which a write is under way. */
const underWayMs = 5_000;
/** After a restore of etcd a recovery may have been observed that the storage does not have. */
const restoredMs = 300_000;

export class FlappingChecker {
  readonly #world: World;
  readonly #report: Report;
  /** By name: not Ready with a health taint, and not Ready without one since. */
  readonly #impaired = new Set<string>();
  readonly #recoveries = new Map<string, number>();
  /** When each node was first seen with its current annotation. */
  readonly #keptSince = new Map<string, { readonly text: string; readonly atMs: number }>();

  constructor(world: World, report: Report) {
    this.#world = world;
    this.#report = report;
    world.storage.onCommit((resource, change, { process }) => {
      if (resource === 'nodes') this.#onNode(change, process.startsWith('replica-'));
    });
  }

  /** To be called from time to time once there are no faults. */
  check(): void {
    const { nowMs } = this.#world.timeline;
    const nodes: readonly Node[] = this.#world.storage.list('nodes');
    const kept = new Map(nodes.filter(isKept).map((node) => [node.metadata.name ?? '', textOf(node)]));
    for (const name of this.#keptSince.keys()) if (!kept.has(name)) this.#keptSince.delete(name);
    for (const [name, text] of kept) {
      const known = this.#keptSince.get(name);
      const since = known?.text === text ? known : { text, atMs: nowMs };
      this.#keptSince.set(name, since);
      if (nowMs - since.atMs <= keptMsMax + clockSkewMs + removedMsMax) continue;
      const seconds = Math.round((nowMs - since.atMs) / 1_000);
      this.#report('flapping-ends-in-time', name, `has the taint for ${seconds} s with the annotation ${text}`);
    }
  }

  #onNode(change: StoreChange, isController: boolean): void {
    const { storage, timeline, restoredAtMs } = this.#world;
    const { name } = change.object;
    if (change.kind === 'deleted') return this.#forget(name);
    const before: Node | undefined = change.previous && storage.decode('nodes', change.previous);
    const after: Node = storage.decode('nodes', change.object);
    this.#count(name, after);
    const isRestored = timeline.nowMs - restoredAtMs < restoredMs;
    if (isController && before !== undefined && !isRestored) this.#checkWrite(name, before, after);
  }

  #checkWrite(name: string, before: Node, after: Node): void {
    if (isKept(after) !== (textOf(after) !== ''))
      this.#report('flapping-has-record', name, `has the taint without the annotation, or the reverse`);
    if (!isKept(after) || textOf(before) === textOf(after)) return;
    const recoveries = this.#recoveries.get(name) ?? 0;
    if (!isReady(before)) this.#report('flapping-has-reason', name, 'is kept, and is not Ready');
    if (recoveries < recoveriesMin) this.#report('flapping-has-reason', name, `is kept after ${recoveries} recoveries`);
  }

  /** Each write is seen: what a replica observed is among it. */
  #count(name: string, node: Node): void {
    if (!isReady(node)) {
      if (hasHealthTaint(node)) this.#impaired.add(name);
      return;
    }
    if (hasHealthTaint(node) || !this.#impaired.delete(name)) return;
    // As when it registered: no recovery counts without a policy that says so.
    if (!this.#hadRule()) return;
    this.#recoveries.set(name, (this.#recoveries.get(name) ?? 0) + 1);
  }

  /** Moments ago: a write that was decided by settings which were replaced since arrives later. */
  #hadRule(): boolean {
    const { timeline, settings } = this.#world;
    const current = settings.findLastIndex(({ fromMs }) => fromMs <= timeline.nowMs - underWayMs);
    const recent = settings.slice(Math.max(0, current));
    return recent.some(({ options }) => options.policies.some(({ flapping }) => flapping !== undefined));
  }

  #forget(name: string): void {
    this.#impaired.delete(name);
    this.#recoveries.delete(name);
  }
}

function isKept({ spec }: Node): boolean {
  return (spec?.taints ?? []).some(({ key }) => key === flappingTaintKey);
}

/** Empty without one. */
function textOf({ metadata }: Node): string {
  return metadata.annotations?.[flappingAnnotation] ?? '';
}

function hasHealthTaint({ spec }: Node): boolean {
  return (spec?.taints ?? []).some(isHealthTaint);
}
