import type { Container, Pod, ResourceRequirements } from '../../../machinery/api/pod.ts';
import { formatBinary, formatDecimal, parseQuantityNano } from '../../../machinery/api/quantity.ts';
import { isSidecar } from '../runtime/decide-restart.ts';

type Amounts = ReadonlyMap<string, bigint>;
type Field = 'requests' | 'limits';

/**
 * The requests and limits of a pod as a whole: the sum of containers and sidecars, or the largest of its other init
 * containers plus the sidecars before it, plus overhead (component-helpers `PodRequests`, `PodLimits`). May be empty.
 */
export function buildPodResources(pod: Pod): ResourceRequirements {
  const requests = format(sumAmounts(pod, 'requests'));
  const limits = format(sumAmounts(pod, 'limits'));
  return {
    ...(Object.keys(requests).length === 0 ? {} : { requests }),
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
  };
}

/** The sums behind {@link buildPodResources}, in billionths. */
export function sumAmounts({ spec }: Pod, field: Field): Amounts {
  let steady = (spec?.containers ?? []).reduce<Amounts>((sum, each) => add(sum, amounts(each, field)), new Map());
  let before: Amounts = new Map();
  let peak: Amounts = new Map();
  for (const container of spec?.initContainers ?? []) {
    const own = amounts(container, field);
    if (isSidecar(container)) {
      steady = add(steady, own);
      before = add(before, own);
    }
    peak = max(peak, isSidecar(container) ? before : add(before, own));
  }
  const whole = max(steady, peak);
  const overhead = toAmounts(spec?.overhead);
  // Overhead is not added to the limits of a resource without a limit.
  const counted = new Map([...overhead].filter(([name]) => field === 'requests' || whole.has(name)));
  return add(whole, counted);
}

function amounts({ resources }: Container, field: Field): Amounts {
  return toAmounts(resources?.[field]);
}

function toAmounts(quantities: Readonly<Record<string, string>> | undefined): Amounts {
  const parsed = new Map<string, bigint>();
  for (const [name, text] of Object.entries(quantities ?? {})) {
    const nano = parseQuantityNano(text);
    if (nano !== undefined) parsed.set(name, nano);
  }
  return parsed;
}

function add(a: Amounts, b: Amounts): Amounts {
  return new Map([...a, ...[...b].map(([name, nano]) => [name, nano + (a.get(name) ?? 0n)] as const)]);
}

function max(a: Amounts, b: Amounts): Amounts {
  const larger = [...b].filter(([name, nano]) => nano > (a.get(name) ?? -1n));
  return new Map([...a, ...larger]);
}

function format(sums: Amounts): Readonly<Record<string, string>> {
  return Object.fromEntries([...sums].map(([name, nano]) => [name, formatNano(name, nano)]));
}

/** Memory and storage with powers of 1024, all others with powers of 1000. */
function formatNano(name: string, nano: bigint): string {
  const amount = Number(nano) / 1e9;
  return /memory|storage|hugepages/u.test(name) ? formatBinary(Math.ceil(amount)) : formatDecimal(amount);
}
