// After the faults a node that is Ready loses the health taints in a bounded time.
import { findCondition, listConditions } from '../../machinery/api/conditions.ts';
import type { Node } from '../../machinery/api/node.ts';
import { isHealthTaint } from '../../machinery/api/taints.ts';
import type { World } from '../world.ts';
import type { Report } from './violation.ts';

/**
 * A watch that delivers nothing is reopened after 90 s, a write is sent again after a Retry-After of 60 s at most, and one
 * that failed repeatedly after 30 s. A new leader, after 40 s at most, waits for none of these.
 */
const recoveryMsMax = 180_000;

export class RecoveryChecker {
  readonly #world: World;
  readonly #report: Report;
  /** Since when each node is Ready, and has a health taint all the same. */
  readonly #taintedSinceMs = new Map<string, number>();

  constructor(world: World, report: Report) {
    this.#world = world;
    this.#report = report;
  }

  /** To be called from time to time once there are no faults. */
  check(): void {
    const { nowMs } = this.#world.timeline;
    const nodes: readonly Node[] = this.#world.storage.list('nodes');
    const tainted = new Set(nodes.filter(isReadyAndTainted).map(({ metadata }) => metadata.name ?? ''));
    for (const name of this.#taintedSinceMs.keys()) if (!tainted.has(name)) this.#taintedSinceMs.delete(name);
    for (const name of tainted) {
      const sinceMs = this.#taintedSinceMs.get(name) ?? nowMs;
      this.#taintedSinceMs.set(name, sinceMs);
      if (nowMs - sinceMs <= recoveryMsMax) continue;
      this.#report('recovers-in-time', name, `is Ready and tainted for ${Math.round((nowMs - sinceMs) / 1_000)} s`);
    }
  }
}

function isReadyAndTainted({ spec, status }: Node): boolean {
  const isReady = findCondition(listConditions(status?.conditions), 'Ready')?.status === 'True';
  return isReady && (spec?.taints ?? []).some(isHealthTaint);
}
