import type { Cluster, Delta, NodeCell, Sample, ServerInfo, Snapshot, TimelineLine, ZoneRow } from '../protocol.ts';

/** What the page shows. */
export interface DashboardState {
  readonly server: ServerInfo;
  readonly cluster: Cluster;
  readonly zones: readonly ZoneRow[];
  readonly nodes: ReadonlyMap<string, NodeCell>;
  /** Changes when a node is added or removed or moves to another zone: then the order of nodes changes. */
  readonly membership: number;
  /** Timeline by id, ascending; at most `server.timelineMax` lines. */
  readonly timeline: readonly TimelineLine[];
  /** Samples of the last hour, oldest first. */
  readonly samples: readonly Sample[];
}

const plotSeconds = 3_600;

/** `previous`: the state before the stream was interrupted, if any. */
export function buildState(snapshot: Snapshot, previous: DashboardState | undefined): DashboardState {
  const { server, cluster, zones, nodes, timeline, samples } = snapshot;
  return {
    server,
    cluster,
    zones,
    nodes: new Map(nodes.map((node) => [node.name, node])),
    membership: (previous?.membership ?? 0) + 1,
    timeline: mergeTimeline([], timeline, server.timelineMax),
    samples: mergeSamples([], samples, server.samplesEverySeconds),
  };
}

export function mergeDelta(state: DashboardState, delta: Delta): DashboardState {
  const { server } = state;
  const { cluster = state.cluster, zones = state.zones, timeline = [], sample } = delta;
  const { nodes, membership } = mergeNodes(state, delta);
  const samples =
    sample === undefined ? state.samples : mergeSamples(state.samples, [sample], server.samplesEverySeconds);
  const lines = timeline.length === 0 ? state.timeline : mergeTimeline(state.timeline, timeline, server.timelineMax);
  return { server, cluster, zones, nodes, membership, timeline: lines, samples };
}

function mergeNodes(
  state: DashboardState,
  { nodes: changed = [], removedNodes = [] }: Delta,
): Pick<DashboardState, 'nodes' | 'membership'> {
  if (changed.length + removedNodes.length === 0) return state;
  const nodes = new Map(state.nodes);
  const isMoved = ({ name, zone }: NodeCell): boolean => nodes.get(name)?.zone !== zone;
  const isReordered = removedNodes.length > 0 || changed.some(isMoved);
  for (const name of removedNodes) nodes.delete(name);
  for (const node of changed) nodes.set(node.name, node);
  return { nodes, membership: state.membership + (isReordered ? 1 : 0) };
}

/** A line that arrives twice is kept once. */
function mergeTimeline(
  lines: readonly TimelineLine[],
  added: readonly TimelineLine[],
  max: number,
): readonly TimelineLine[] {
  const byId = new Map([...lines, ...added].map((line) => [line.id, line]));
  return [...byId.values()].sort((a, b) => a.id - b.id).slice(-max);
}

function mergeSamples(samples: readonly Sample[], added: readonly Sample[], everySeconds: number): readonly Sample[] {
  return [...samples, ...added].slice(-Math.ceil(plotSeconds / everySeconds));
}
