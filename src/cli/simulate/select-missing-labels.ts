import type { NodePolicy } from '../../controller/model/policy.ts';
import type { TraceHeader } from '../../simulator/recording/cluster-trace.ts';

const hostname = 'kubernetes.io/hostname';
const zone = 'topology.kubernetes.io/zone';

/**
 * The label keys by which each policy selects nodes or forms zones and which a trace does not have: in its replay the
 * nodes are without them. Empty: the policies apply to the replayed nodes as to the recorded ones.
 */
export function selectMissingLabels(
  policies: readonly NodePolicy[],
  { labels = [], hashedNames }: Pick<TraceHeader, 'labels' | 'hashedNames'>,
): readonly { readonly policy: string; readonly keys: readonly string[] }[] {
  const known = new Set([...labels, zone, ...(hashedNames ? [] : [hostname])]);
  const byPolicy = Map.groupBy(policies, ({ name }) => name);
  return [...byPolicy].flatMap(([policy, versions]) => {
    const used = versions.flatMap(({ selector, zones }) => [
      ...selector.map(({ key }) => key),
      ...(zones?.failureDomain ?? []),
      ...(zones?.outerFailureDomain ?? []),
    ]);
    const keys = [...new Set(used.filter((key) => !known.has(key)))];
    return keys.length === 0 ? [] : [{ policy, keys }];
  });
}

/** One line for each policy. */
export function describeMissingLabels(missing: ReturnType<typeof selectMissingLabels>): readonly string[] {
  return missing.map(
    ({ policy, keys }) =>
      `policy ${policy} uses labels that the trace does not have: ${keys.join(', ')}; record them with ${keys.map((key) => `--label=${key}`).join(' ')}`,
  );
}
