// What grace periods would have made of the silences of a recorded cluster.
import type { ClusterTrace, PodCounts, TraceRecord } from '../../simulator/recording/cluster-trace.ts';

/** A node that sent no heartbeats for longer than a healthy one. */
export interface Silence {
  readonly node: string;
  readonly fromSeconds: number;
  readonly seconds: number;
  /** `alive`: it came back in the same boot, so that it had not failed. `not-back`: not before the end of the recording. */
  readonly end: 'alive' | 'restarted' | 'not-back';
  /** Pods when it began, by how long they tolerate an unreachable node. */
  readonly pods: PodCounts;
}

/** What a grace period would have done. */
export interface GraceOutcome {
  readonly graceSeconds: number;
  /** Nodes that would have been Unknown, by what had happened to them. */
  readonly unknown: Readonly<Record<Silence['end'], number>>;
  /** Pods that would have been evicted by then from nodes that were alive. */
  readonly podsForNothing: number;
  /** Time until nodes were Unknown that had failed. */
  readonly waitedSeconds: number;
}

/** The new boot ID is in the status of a node, which follows its first heartbeat. */
const statusWithinSeconds = 60;

/** Needs the boots of the nodes in the trace, or else a silence that ended counts as `alive`. */
export function listSilences({ records }: ClusterTrace): readonly Silence[] {
  const byNode = Map.groupBy(records, ({ node }) => node);
  return records.flatMap((record) => {
    const { node, t, gap, open } = record;
    if (gap === undefined) return [];
    const fromSeconds = Math.max(0, t - gap);
    const ofNode = byNode.get(node) ?? [];
    const end = open === true ? 'not-back' : hasRestarted(ofNode, fromSeconds, t) ? 'restarted' : 'alive';
    return [{ node, fromSeconds, seconds: gap, end, pods: podsAt(ofNode, fromSeconds) }];
  });
}

function hasRestarted(ofNode: readonly TraceRecord[], fromSeconds: number, untilSeconds: number): boolean {
  return ofNode.some(({ t, rebooted }) => {
    return rebooted === true && t >= fromSeconds && t <= untilSeconds + statusWithinSeconds;
  });
}

/** The first record of the pods of a node is of before, if there is no earlier one. */
function podsAt(ofNode: readonly TraceRecord[], seconds: number): PodCounts {
  const counted = ofNode.filter(({ pods }) => pods !== undefined);
  return (counted.findLast(({ t }) => t <= seconds) ?? counted[0])?.pods ?? {};
}

export function assessGrace(silences: readonly Silence[], graceSeconds: number): GraceOutcome {
  const unknown = silences.filter(({ seconds }) => seconds > graceSeconds);
  const countOf = (end: Silence['end']): number => unknown.filter((silence) => silence.end === end).length;
  const alive = unknown.filter(({ end }) => end === 'alive');
  const counts = { alive: countOf('alive'), restarted: countOf('restarted'), 'not-back': countOf('not-back') };
  return {
    graceSeconds,
    unknown: counts,
    podsForNothing: alive.reduce((sum, silence) => sum + evictedPods(silence, graceSeconds), 0),
    waitedSeconds: graceSeconds * (counts.restarted + counts['not-back']),
  };
}

/** Pods that do not tolerate the rest of the silence. */
function evictedPods({ pods, seconds }: Silence, graceSeconds: number): number {
  const evicted = Object.entries(pods).filter(([tolerated]) => {
    const toleratedSeconds = tolerated === 'none' ? 0 : tolerated === 'forever' ? Infinity : Number(tolerated);
    return graceSeconds + toleratedSeconds < seconds;
  });
  return evicted.reduce((sum, [, count]) => sum + count, 0);
}
