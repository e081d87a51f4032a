/**
 * Limits writes by the ResourceQuotas of their namespace (upstream admission plugin `ResourceQuota`). Deciding and writing
 * are one synchronous step, so that two requests cannot take the same place.
 */
import type { Clock } from '../../ports/clock.ts';
import { forbidden } from '../api-errors/api-errors.ts';
import { buildStored } from '../registry/stored-version.ts';
import { resourceName, type Target } from '../registry/request-target.ts';
import type { Strategy } from '../registry/strategy.ts';
import type { CheckedWrite, WriteAdmission } from '../registry/write-admission.ts';
import type { Draft, StoredObject } from '../storage/stored-object.ts';
import type { VersionedStore } from '../storage/versioned-store.ts';
import { type Amounts, amountsAsJson, amountsAt, sameAmounts } from './merge-amounts.ts';
import { type Charge, decideQuota } from './decide-quota.ts';
import type { QuotaUsages } from './quota-usages.ts';

interface QuotaAdmissionOptions {
  readonly store: VersionedStore;
  readonly clock: Clock;
  readonly usages: QuotaUsages;
  /** Of ResourceQuotas. */
  readonly strategy: Strategy;
}

export class QuotaAdmission implements WriteAdmission {
  readonly #options: QuotaAdmissionOptions;

  constructor(options: QuotaAdmissionOptions) {
    this.#options = options;
  }

  /** Throws a 403 ApiError if a quota forbids the write. In namespaces without quotas, nothing is computed. */
  admit({ target, draft, stored, before }: CheckedWrite): () => void {
    const { namespace, strategy, endpoint } = target;
    const { clock, usages } = this.#options;
    const quotas = namespace === undefined ? [] : usages.quotasIn(namespace);
    const evaluator = usages.evaluatorOf(strategy.table);
    if (namespace === undefined || evaluator === undefined || quotas.length === 0) return () => {};
    const nowMs = clock.nowMs();
    const decision = decideQuota({
      quotas,
      evaluator,
      write: { draft, stored: before, endpoint },
      now: () => evaluator.measure(draft),
      before: () => (stored === undefined ? undefined : usages.measurementOf(strategy.table, stored)),
      nowMs,
      usedOf: ({ name, selectors }, names) => usages.usageOf({ namespace, quota: name, selectors, names, nowMs }).used,
    });
    if (decision.kind === 'forbid') throw refusal(target, draft, decision.why);
    return () => {
      for (const charge of decision.charges) this.#write(namespace, charge);
    };
  }

  /** Clients see at once what a quota counts; the controller keeps it up to date afterwards. */
  #write(namespace: string, { quota, used }: Charge): void {
    const { store, strategy } = this.#options;
    const stored = store.get(strategy.table, `${namespace}/${quota.name}`);
    if (stored === undefined) return;
    const before = amountsAt(stored.content.status, 'used');
    const after = new Map([...before, ...used]);
    if (!sameAmounts(before, after)) this.#store(stored, after);
  }

  #store(stored: StoredObject, used: Amounts): void {
    const { store, strategy } = this.#options;
    const draft = stored.draft();
    draft.status = { ...draft.status, used: amountsAsJson(used) };
    store.put(strategy.table, (revision) => buildStored(strategy, draft, revision, stored.managers));
  }
}

function refusal(target: Target, { metadata: { name = '' } }: Draft, why: string): Error {
  return forbidden(resourceName(target), name, why);
}
