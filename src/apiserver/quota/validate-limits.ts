/** Whether pods and claims are within the LimitRanges of their namespace (upstream `LimitRanger`, its validation). */
import { mapsAt, type MutableJsonMap } from '../select-field.ts';
import type { Draft } from '../storage/stored-object.ts';
import { type Amount, type Amounts, amountsAt, formatAmount } from './merge-amounts.ts';
import { podTotals } from './merge-pod-resources.ts';

interface Resources {
  readonly requests: Amounts;
  readonly limits: Amounts;
}

/** One bound of one resource. */
interface Bound {
  readonly name: string;
  /** `Container`, `Pod` or `PersistentVolumeClaim`. */
  readonly type: string;
  readonly bound: Amount;
  readonly resources: Resources;
}

const nanoPerUnit = 1_000_000_000n;
const nanoPerMilli = 1_000_000n;
/** Larger values are compared as whole numbers. */
const milliMax = 9_223_372_036_854_775n;

/** What is wrong with a pod, in the order of the resources. */
export function validatePodLimits(pod: Draft, range: Draft): readonly string[] {
  return mapsAt(range, 'spec', 'limits').flatMap((limit) => {
    const { type } = limit;
    if (type === 'Pod') {
      const totals = { requests: podTotals(pod, 'requests'), limits: podTotals(pod, 'limits') };
      return validateResources(limit, 'Pod', totals);
    }
    if (type !== 'Container') return [];
    const containers = [...mapsAt(pod, 'spec', 'containers'), ...mapsAt(pod, 'spec', 'initContainers')];
    return containers.flatMap(({ resources }) =>
      validateResources(limit, type, {
        requests: amountsAt(resources, 'requests'),
        limits: amountsAt(resources, 'limits'),
      }),
    );
  });
}

export function validateClaimLimits(claim: Draft, range: Draft): readonly string[] {
  const resources = { requests: amountsAt(claim, 'spec', 'resources', 'requests'), limits: new Map<string, Amount>() };
  const type = 'PersistentVolumeClaim';
  const limits = mapsAt(range, 'spec', 'limits').filter((limit) => limit['type'] === type);
  return limits.flatMap((limit) => [
    ...check(limit, 'min', { type, resources }, belowMin),
    ...check(limit, 'max', { type, resources }, aboveMaxRequest),
  ]);
}

function validateResources(limit: MutableJsonMap, type: string, resources: Resources): readonly string[] {
  return [
    ...check(limit, 'min', { type, resources }, belowMin),
    ...check(limit, 'max', { type, resources }, aboveMax),
    ...check(limit, 'maxLimitRequestRatio', { type, resources }, aboveRatio),
  ];
}

function check(
  limit: MutableJsonMap,
  side: string,
  about: Pick<Bound, 'type' | 'resources'>,
  explain: (bound: Bound) => string | undefined,
): readonly string[] {
  const problems = [...amountsAt(limit, side)].map(([name, bound]) => explain({ ...about, name, bound }));
  return problems.filter((problem) => problem !== undefined);
}

function belowMin({ name, type, bound, resources }: Bound): string | undefined {
  const [request, limit] = [resources.requests.get(name), resources.limits.get(name)];
  const start = `minimum ${name} usage per ${type} is ${formatAmount(bound)}`;
  const [requested, limited, least] = comparable(request, limit, bound);
  if (request === undefined) return `${start}.  No request is specified`;
  if (requested < least) return `${start}, but request is ${formatAmount(request)}`;
  return limit !== undefined && limited < least ? `${start}, but limit is ${formatAmount(limit)}` : undefined;
}

function aboveMax({ name, type, bound, resources }: Bound): string | undefined {
  const [request, limit] = [resources.requests.get(name), resources.limits.get(name)];
  const start = `maximum ${name} usage per ${type} is ${formatAmount(bound)}`;
  const [requested, limited, most] = comparable(request, limit, bound);
  if (limit === undefined) return `${start}.  No limit is specified`;
  if (limited > most) return `${start}, but limit is ${formatAmount(limit)}`;
  return request !== undefined && requested > most ? `${start}, but request is ${formatAmount(request)}` : undefined;
}

/** For what has no limits. */
function aboveMaxRequest({ name, type, bound, resources }: Bound): string | undefined {
  const request = resources.requests.get(name);
  const start = `maximum ${name} usage per ${type} is ${formatAmount(bound)}`;
  const [requested, , most] = comparable(request, undefined, bound);
  if (request === undefined) return `${start}.  No request is specified`;
  return requested > most ? `${start}, but request is ${formatAmount(request)}` : undefined;
}

function aboveRatio({ name, type, bound, resources }: Bound): string | undefined {
  const [requested, limited] = comparable(resources.requests.get(name), resources.limits.get(name), bound);
  const start = `${name} max limit to request ratio per ${type} is ${formatAmount(bound)}`;
  if (requested === 0n) return `${start}, but no request is specified or request is 0`;
  if (limited === 0n) return `${start}, but no limit is specified or limit is 0`;
  const ratio = Number(limited) / Number(requested);
  const isAbove = ratio * 1_000 > Number(roundedUp(bound.nano, nanoPerMilli));
  return isAbove ? `${start}, but provided ratio is ${ratio.toFixed(6)}` : undefined;
}

/** As upstream, in thousandths, or as whole numbers if one of them is very large. */
function comparable(
  request: Amount | undefined,
  limit: Amount | undefined,
  bound: Amount,
): readonly [bigint, bigint, bigint] {
  const nanos = [request?.nano ?? 0n, limit?.nano ?? 0n, bound.nano] as const;
  const isLarge = nanos.some((nano) => roundedUp(nano, nanoPerUnit) > milliMax);
  const unit = isLarge ? nanoPerUnit : nanoPerMilli;
  return [roundedUp(nanos[0], unit), roundedUp(nanos[1], unit), roundedUp(nanos[2], unit)];
}

function roundedUp(nano: bigint, unit: bigint): bigint {
  return (nano + unit - 1n) / unit;
}
