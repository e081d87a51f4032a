// A recorded cluster as a scenario: who was silent when, and for how long.
import type { PodGroup, Scenario, ScenarioStep, Toleration } from '../scenario/scenario.ts';
import type { ClusterTrace, PodCounts, TraceRecord } from './cluster-trace.ts';

/** A renewal comes up to one interval after the silence of a simulated node ended: the middle of it. */
const renewalHalfMs = 5_000;
/** Time at the end in which consequences are observed. */
const tailMs = 60_000;
const graceSeconds = 30;

/** Nodes that were there at the beginning or came later are all there from the beginning, with their first labels. */
export function toScenario({ header, records, end }: ClusterTrace, name: string): Scenario {
  const zones = firstOf(records, ({ zone }) => zone);
  const pods = firstOf(records, ({ pods: counts }) => counts);
  const labels = firstOf(records, (record) => record.labels);
  const lastSeconds = end?.t ?? records.at(-1)?.t ?? 0;
  return {
    name,
    description: `recorded from ${header.startedAt}`,
    durationMs: lastSeconds * 1_000 + tailMs,
    seed: 1,
    nodes: groupAlike(zones, labels),
    pods: [...pods].filter(([node]) => zones.has(node)).flatMap(([node, counts]) => groupsOf(node, counts)),
    servers: 1,
    replicas: 1,
    leaseDurationSeconds: 40,
    steps: [...records.flatMap(silenceOf), ...unhealthySteps(records, lastSeconds)].sort((a, b) => a.atMs - b.atMs),
  };
}

/** By node: the first value that is recorded of it. */
function firstOf<T>(records: readonly TraceRecord[], valueOf: (record: TraceRecord) => T | undefined): Map<string, T> {
  const values = new Map<string, T>();
  for (const record of records) {
    const value = valueOf(record);
    if (value !== undefined && !values.has(record.node)) values.set(record.node, value);
  }
  return values;
}

/** Nodes of one zone with the same labels are one group. */
function groupAlike(
  zones: ReadonlyMap<string, string>,
  labelsOf: ReadonlyMap<string, NonNullable<TraceRecord['labels']>>,
): Scenario['nodes'] {
  const groups = Map.groupBy(zones, ([node, zone]) => JSON.stringify([zone, labelsOf.get(node)]));
  return [...groups.values()].map((members) => {
    const [first = '', zone = ''] = members[0] ?? [];
    return { names: members.map(([node]) => node), zone, labels: labelsOf.get(first) ?? {} };
  });
}

function groupsOf(node: string, counts: PodCounts): readonly PodGroup[] {
  return Object.entries(counts).map(([key, count]) => ({ node, count, tolerates: tolerationOf(key), graceSeconds }));
}

function tolerationOf(key: string): Toleration {
  return key === 'forever' || key === 'none' ? key : Number(key);
}

function silenceOf({ t, node, gap, open, gone }: TraceRecord): readonly ScenarioStep[] {
  if (gone === true) {
    return [{ kind: 'nodes', atMs: t * 1_000, order: { selector: { names: [node] }, fault: { kind: 'delete-node' } } }];
  }
  if (gap === undefined) return [];
  const atMs = Math.max(0, (t - gap) * 1_000);
  const forMs = Math.max(1_000, t * 1_000 - atMs - renewalHalfMs);
  const fault = { kind: 'silence', heartbeat: 'both' } as const;
  const order = { selector: { names: [node] }, fault };
  return [{ kind: 'nodes', atMs, order: open === true ? order : { ...order, forMs } }];
}

/** A kubelet that reported Ready=False is unhealthy until it reports another status. */
function unhealthySteps(records: readonly TraceRecord[], lastSeconds: number): readonly ScenarioStep[] {
  const since = new Map<string, number>();
  const steps: ScenarioStep[] = [];
  const add = (node: string, untilSeconds: number): void => {
    const from = since.get(node);
    since.delete(node);
    if (from === undefined) return;
    const fault = { kind: 'unhealthy', reason: 'as recorded' } as const;
    const forMs = Math.max(1_000, (untilSeconds - from) * 1_000);
    steps.push({ kind: 'nodes', atMs: from * 1_000, order: { selector: { names: [node] }, fault, forMs } });
  };
  for (const { t, node, ready } of records) {
    if (ready === undefined) continue;
    if (ready !== 'False') add(node, t);
    else if (!since.has(node)) since.set(node, t);
  }
  for (const node of since.keys()) add(node, lastSeconds);
  return steps;
}
