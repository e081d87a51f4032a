/** The status of a quota (upstream `syncResourceQuota`). */
import type { Draft } from '../storage/stored-object.ts';
import { amountsAsJson, amountsAt, sameAmounts, selectAmounts } from './merge-amounts.ts';
import { selectorsOf } from './select-scopes.ts';
import type { QuotaUsages } from './quota-usages.ts';

interface StatusInput {
  readonly namespace: string;
  readonly usages: Pick<QuotaUsages, 'usageOf'>;
  readonly nowMs: number;
}

interface QuotaStatus {
  /** Undefined if the quota has it already. */
  readonly status: Record<string, unknown> | undefined;
  /** When it changes without a change of an object, in milliseconds since the epoch. */
  readonly changesAtMs: number;
}

/** What no object of a served resource can use keeps the value that it has. */
export function buildQuotaStatus(quota: Draft, { namespace, usages, nowMs }: StatusInput): QuotaStatus {
  const hard = amountsAt(quota.spec, 'hard');
  const known = amountsAt(quota.status, 'used');
  const usage = usages.usageOf({
    namespace,
    quota: quota.metadata.name ?? '',
    selectors: selectorsOf(quota),
    names: [...hard.keys()],
    nowMs,
  });
  const used = selectAmounts(new Map([...known, ...usage.used]), (name) => hard.has(name));
  const isObserved = quota.status?.['hard'] !== undefined && sameAmounts(hard, amountsAt(quota.status, 'hard'));
  const isSame = isObserved && quota.status?.['used'] !== undefined && sameAmounts(used, known);
  const status = isSame ? undefined : { hard: amountsAsJson(hard), used: amountsAsJson(used) };
  return { status, changesAtMs: usage.changesAtMs };
}
