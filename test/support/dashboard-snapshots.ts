// Snapshots of the dashboard's wire protocol for tests, with every field defaulted.
import type { Cluster, NodeCell, Sample, Snapshot, TimelineLine, ZoneRow } from '../../src/dashboard/protocol.ts';

const at = '2026-11-24T12:00:00.000000Z';

export function nodeCell(name: string, change: Partial<NodeCell> = {}): NodeCell {
  return { name, zone: 'a', policy: null, state: 'ready', since: at, pods: 3, held: null, next: null, ...change };
}

export function zoneRow(name: string, change: Partial<ZoneRow> = {}): ZoneRow {
  return {
    name,
    outer: null,
    condition: 'normal',
    nodes: 10,
    unready: 0,
    ratePerSecond: 0.1,
    tokens: 1,
    waiting: 0,
    drainSeconds: null,
    ...change,
  };
}

export function timelineLine(id: number, change: Partial<TimelineLine> = {}): TimelineLine {
  return {
    id,
    at,
    kind: 'taint',
    text: `decision ${id}`,
    warning: false,
    node: null,
    pod: null,
    zone: null,
    ...change,
  };
}

export function sample(change: Partial<Sample> = {}): Sample {
  return { at, silent: 0, evictions: 0, requests: 0, heartbeatP50: 4, heartbeatP99: 9, ...change };
}

export function clusterOf(change: Partial<Cluster> = {}): Cluster {
  return {
    at,
    mode: 'taint',
    leading: true,
    leader: 'controller-0',
    shadow: false,
    replicas: ['controller-0', 'controller-1'],
    holds: [],
    policies: [],
    evictions: [],
    evictionsTotal: 0,
    comparison: null,
    ...change,
  };
}

export function snapshotOf(change: Partial<Snapshot> = {}): Snapshot {
  return {
    server: {
      version: '0.1.0',
      kind: 'controller',
      identity: 'controller-0',
      actionKinds: [],
      samplesEverySeconds: 5,
      timelineMax: 500,
    },
    cluster: clusterOf(),
    zones: [],
    nodes: [],
    timeline: [],
    samples: [],
    ...change,
  };
}
