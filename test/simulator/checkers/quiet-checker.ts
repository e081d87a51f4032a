// What replicas request while nothing happens: renewals and polls of the leader lease, the canary, probes, and the rare
// reopening of a watch. Everything else would be repeated for ever.
import { findCondition, listConditions } from '../../../src/machinery/api/conditions.ts';
import type { Node } from '../../../src/machinery/api/node.ts';
import { isHealthTaint } from '../../../src/machinery/api/taints.ts';
import type { RequestLine, Verb } from '../../../src/simulator/network/network.ts';
import type { World } from '../../../src/simulator/world.ts';
import { describe } from './request-checker.ts';
import type { Report } from './violation.ts';

interface Budget {
  readonly client: string;
  readonly verbs: readonly Verb[];
  readonly perSecond: number;
  readonly burst: number;
}

/** Budgets of one replica, resource and verb. The rates are those of the documented periods, at their shortest. */
const budgets: readonly Budget[] = [
  // The leader renews every 2 s; a standby polls every 0.5 s to 1.1 s.
  { client: 'election', verbs: ['replace'], perSecond: 0.5, burst: 4 },
  { client: 'election', verbs: ['get'], perSecond: 2, burst: 4 },
  { client: 'canary', verbs: ['patch'], perSecond: 0.2, burst: 4 },
  // A probe, when no lease was renewed for 1.5 s, with the shortest grace period.
  { client: 'freshness', verbs: ['list'], perSecond: 0.67, burst: 4 },
  // The first readable lease of a silent node, in a list that replaced its watch, is a heartbeat: its silence is confirmed a grace period later.
  { client: 'freshness', verbs: ['get'], perSecond: 0, burst: 1 },
  // A watch ends after some minutes, and without a bookmark for 90 s.
  { client: 'main', verbs: ['watch', 'list'], perSecond: 0, burst: 3 },
  { client: 'events', verbs: ['create', 'patch'], perSecond: 0, burst: 3 },
];

export class QuietChecker {
  readonly #report: Report;
  readonly #counts = new Map<string, { readonly line: RequestLine; requests: number }>();

  constructor(report: Report) {
    this.#report = report;
  }

  onSent(line: RequestLine): void {
    const { by, verb, resource } = line;
    const key = `${by.process} ${by.client} ${verb} ${resource}`;
    const count = this.#counts.get(key) ?? { line, requests: 0 };
    count.requests += 1;
    this.#counts.set(key, count);
  }

  /** Something happened: what was sent so far may have been for it. */
  restart(): void {
    this.#counts.clear();
  }

  /** Nothing happened for this time. */
  check(forMs: number): void {
    for (const { line, requests } of this.#counts.values()) {
      const max = maxOf(line, forMs / 1_000);
      if (requests <= max) continue;
      const text = `${line.by.client} ${describe(line)} and similar ones ${requests} times in ${forMs / 1_000} quiet s (at most ${max})`;
      this.#report('quiet-cluster-few-requests', line.by.process, text);
    }
  }
}

function maxOf({ by, verb }: RequestLine, seconds: number): number {
  const budget = budgets.find(({ client, verbs }) => client === by.client && verbs.includes(verb));
  return budget === undefined ? 0 : Math.ceil(budget.perSecond * seconds) + budget.burst;
}

/**
 * A watch that delivers nothing is reopened after 90 s, a write is sent again after a Retry-After of 60 s at most, and one
 * that failed repeatedly after 30 s. A new leader, after 40 s at most, waits for none of these.
 */
const recoveryMsMax = 180_000;

/** Checks that after the faults a node that is Ready loses the health taints in a bounded time. */
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
