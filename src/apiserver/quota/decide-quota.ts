/** Whether quotas allow a write, and what they count afterwards (upstream `plugin/resourcequota.CheckRequest`). */
import { addTo, type Amount, type Amounts, amountsAt, formatAmounts, growth, selectAmounts } from './merge-amounts.ts';
import type { QuotaEvaluator, QuotaWrite } from './evaluator.ts';
import { isSelected, type Measurement, type ScopeSelector, selectorsOf, usageAt } from './select-scopes.ts';
import type { Draft } from '../storage/stored-object.ts';

/** A quota as its status says: what the controller has not observed yet does not limit anything. */
export interface Quota {
  readonly name: string;
  readonly hard: Amounts;
  readonly used: Amounts;
  readonly selectors: readonly ScopeSelector[];
}

interface QuotaInput {
  /** All quotas of the namespace. */
  readonly quotas: readonly Quota[];
  readonly evaluator: QuotaEvaluator;
  readonly write: QuotaWrite;
  /** Called only if the write can change what is used. */
  readonly now: () => Measurement;
  /** The same of the stored object. */
  readonly before: () => Measurement | undefined;
  readonly nowMs: number;
  /** What stored objects use of these resources of a quota. */
  readonly usedOf: (quota: Quota, names: readonly string[]) => Amounts;
}

/** A quota that counts the write. */
export interface Charge {
  readonly quota: Quota;
  /** What it counts after the write, of the resources that the write concerns. */
  readonly used: Amounts;
}

type QuotaDecision =
  | { readonly kind: 'allow'; readonly charges: readonly Charge[] }
  | { readonly kind: 'forbid'; readonly why: string };

export function quotaOf({ metadata: { name = '' }, ...quota }: Draft): Quota {
  const { status } = quota;
  return {
    name,
    hard: amountsAt(status, 'hard'),
    used: amountsAt(status, 'used'),
    selectors: selectorsOf({ metadata: {}, ...quota }),
  };
}

export function decideQuota(input: QuotaInput): QuotaDecision {
  const { evaluator, write, quotas } = input;
  if (!evaluator.handles(write)) return { kind: 'allow', charges: [] };
  const [now, before] = [input.now(), input.before()];
  const limiting = quotas
    .map((quota) => ({ quota, names: [...quota.hard.keys()].filter((name) => evaluator.measures(name)) }))
    .filter(({ quota, names }) => names.length > 0 && isSelected(now.scopes, quota.selectors));
  for (const { quota, names } of limiting) {
    const why = explainIncomplete(input, quota, names);
    if (why !== undefined) return { kind: 'forbid', why };
  }
  const negative = explainNegative(usageAt(now, input.nowMs));
  if (negative !== undefined) return { kind: 'forbid', why: negative };
  const charges: Charge[] = [];
  for (const { quota, names } of limiting) {
    const requested = requestedOf({ now, before, nowMs: input.nowMs }, quota);
    if (requested.size === 0) continue;
    const taken = input.usedOf(quota, names);
    const used = new Map(taken);
    addTo(used, requested);
    const why = write.endpoint === 'status' ? undefined : explainExceeded(quota, requested, taken, used);
    if (why !== undefined) return { kind: 'forbid', why };
    charges.push({ quota, used });
  }
  return { kind: 'allow', charges };
}

function explainIncomplete(
  { evaluator, write }: QuotaInput,
  { name, used }: Quota,
  names: readonly string[],
): string | undefined {
  const missing = evaluator.explainMissing?.(write.draft, names);
  if (missing !== undefined) return `failed quota: ${name}: ${missing}`;
  if (names.every((resource) => used.has(resource))) return undefined;
  return `status unknown for quota: ${name}, resources: ${[...names].sort().join(',')}`;
}

/** It would make room for others. */
function explainNegative(usage: Amounts): string | undefined {
  const names = [...usage].filter(([, { nano }]) => nano < 0n).map(([name]) => name);
  return names.length === 0 ? undefined : `quota usage is negative for resource(s): ${names.sort().join(',')}`;
}

/** What the write adds to a quota: an object that it counts already adds only its growth. */
function requestedOf(
  {
    now,
    before,
    nowMs,
  }: { readonly now: Measurement; readonly before: Measurement | undefined; readonly nowMs: number },
  quota: Quota,
): Amounts {
  const counted = before !== undefined && isSelected(before.scopes, quota.selectors);
  const usage = usageAt(now, nowMs);
  const added = counted ? growth(usage, usageAt(before, nowMs)) : usage;
  return selectAmounts(added, (name) => quota.hard.has(name) && added.get(name)?.nano !== 0n);
}

function explainExceeded(
  { name, hard }: Quota,
  requested: Amounts,
  before: Amounts,
  used: ReadonlyMap<string, Amount>,
): string | undefined {
  const isExceeded = (resource: string): boolean =>
    requested.has(resource) && (used.get(resource)?.nano ?? 0n) > (hard.get(resource)?.nano ?? 0n);
  const exceeded = selectAmounts(hard, isExceeded);
  if (exceeded.size === 0) return undefined;
  const [wanted, taken] = [selectAmounts(requested, isExceeded), selectAmounts(before, isExceeded)];
  const amounts = `requested: ${formatAmounts(wanted)}, used: ${formatAmounts(taken)}, limited: ${formatAmounts(exceeded)}`;
  return `exceeded quota: ${name}, ${amounts}`;
}
