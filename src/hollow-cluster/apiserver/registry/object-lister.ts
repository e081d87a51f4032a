/** Lists: one state, one page of it, and the continue token (upstream `storage/etcd3.store.GetList`). */
import type { ListMeta } from '../../../machinery/api/meta.ts';
import type { Snapshot } from '../storage/resource-table.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { ReadableStore } from '../storage/versioned-store.ts';
import { type ListPlan, makeToken } from './list-query.ts';
import { continueExpired, expired, tooLargeResourceVersion } from '../api-errors/api-errors.ts';
import type { Selection } from './selection.ts';

/** Maximum wait for a version that is not written yet (upstream `blockTimeout`). */
const futureWaitMs = 3_000;

interface ListResult {
  readonly metadata: ListMeta;
  readonly items: readonly StoredObject[];
}

export class ObjectLister {
  readonly #store: ReadableStore;

  constructor(store: ReadableStore) {
    this.#store = store;
  }

  /** Rejects with a 410 ApiError if that state is gone, with 504 if it is not reached in time. */
  async list(resource: string, selection: Selection, plan: ListPlan, signal: AbortSignal): Promise<ListResult> {
    if (plan.kind !== 'page') await this.reach(plan.atLeast, signal);
    const revision = this.#revisionOf(plan);
    const snapshot = this.#snapshot(resource, revision, plan);
    const page = takePage(snapshot, selection, plan);
    if (page.more) this.#store.table(resource).keep(revision);
    return { metadata: describePage(page, revision, selection), items: page.items };
  }

  /** Waits for a version, for reads with "not older than". */
  async reach(revision: number, signal: AbortSignal): Promise<void> {
    if (await this.#store.reach(revision, futureWaitMs, signal)) return;
    throw tooLargeResourceVersion(revision, this.#store.revision);
  }

  #revisionOf(plan: ListPlan): number {
    if (plan.kind === 'now') return this.#store.revision;
    return plan.revision ?? this.#store.revision;
  }

  #snapshot(resource: string, revision: number, plan: ListPlan): Snapshot {
    const snapshot = revision > this.#store.revision ? undefined : this.#store.at(resource, revision);
    if (snapshot !== undefined) return snapshot;
    if (plan.kind !== 'page') throw expired('The resourceVersion for the provided list is too old.');
    throw continueExpired(makeToken(undefined, plan.from.slice(0, -1)));
  }
}

interface Page {
  readonly items: readonly StoredObject[];
  readonly more: boolean;
  /** Number of objects after this page that the selection may contain. */
  readonly remaining: number;
}

function takePage(snapshot: Snapshot, selection: Selection, plan: ListPlan): Page {
  const limit = plan.limit === 0 ? Number.POSITIVE_INFINITY : plan.limit;
  const items: StoredObject[] = [];
  let remaining = 0;
  for (const object of snapshot.list(selection.namespace, plan.kind === 'page' ? plan.from : '')) {
    if (!selection.matches(object)) continue;
    if (items.length < limit) items.push(object);
    else remaining += 1;
    // With selectors the remaining count is not reported: one object is enough to know that another page follows.
    if (remaining > 0 && !selection.all) break;
  }
  return { items, more: remaining > 0, remaining };
}

function describePage(page: Page, revision: number, selection: Selection): ListMeta {
  const resourceVersion = String(revision);
  const last = page.items.at(-1);
  if (!page.more || last === undefined) return { resourceVersion };
  const token = makeToken(revision, last.key);
  if (!selection.all) return { resourceVersion, continue: token };
  return { resourceVersion, continue: token, remainingItemCount: page.remaining };
}
