import { objectKey } from '../../machinery/api/object-key.ts';
import { podKey, type PodView } from '../../machinery/api/pod.ts';
import type { EvictionView } from '../../machinery/api/eviction.ts';
import type { Taint } from '../../machinery/api/taints.ts';
import type { NotedDecision } from '../decision-log/decision-log.ts';
import type { Act } from '../model/holds.ts';
import type { HeldNode } from './build-forecasts.ts';
import { buildExplainedHolds } from './build-holds.ts';
import type { ExplainedHold, HistoryLine } from './pages.ts';
import { readClusterDetails } from './read-cluster.ts';
import { readCollection } from './read-collection.ts';
import { readHeldUntilMs } from './read-holds.ts';
import { type NodeReport, readHistoryOfNode, readNode, readPodBrief, toHistoryLine } from './read-node.ts';
import type { ReportSources } from './report-sources.ts';
import type { ClusterReport, CollectionReport, PodBrief, ZoneReport } from './reports.ts';

export interface PodReport extends PodBrief, HeldNode {
  /** Empty while the pod is not bound. */
  readonly nodeName: string;
  readonly phase: string;
  /** The NoExecute taints of its node, each with the start of its countdown. */
  readonly running: readonly { readonly taint: Taint; readonly sinceMs: number }[];
  /** Undefined when its node does not exist. */
  readonly node: NodeReport | undefined;
  /** Eviction mode: its node does not exist, but is still queued in this zone, and will be served. */
  readonly queueOfLostNode: ZoneReport | undefined;
  readonly collection: CollectionReport;
  /** Evictions of lifecycle.k8s.io of this pod; undefined: pods wait for no responder. */
  readonly requested: { readonly evictions: readonly EvictionView[]; readonly problem: string | undefined } | undefined;
  /** Malformed fields of the pod: field, value, accepted values. */
  readonly problems: readonly string[];
  readonly history: readonly HistoryLine[];
  /** History of earlier pods with the name, such as those of a StatefulSet. */
  readonly historyOfFormer: readonly HistoryLine[];
  /** Every hold of these acts for its node, in the order of precedence. */
  holdsOf(...acts: readonly Act[]): readonly ExplainedHold[];
}

/** Reads a pod; undefined: it does not exist. */
export function readPod(
  namespace: string,
  name: string,
  sources: ReportSources,
  cluster: ClusterReport,
): PodReport | undefined {
  const pod = sources.informers.pods.store.get(objectKey(namespace, name));
  if (pod === undefined) return undefined;
  const node = readNode(pod.nodeName, sources, cluster);
  const queueOfLostNode = node === undefined ? readQueueOfLost(pod.nodeName, sources, cluster) : undefined;
  return {
    ...readPodBrief(pod, sources),
    cluster,
    nodeName: pod.nodeName,
    phase: pod.phase,
    running: sources.stages.evictor.countdownsOf(pod),
    node,
    queueOfLostNode,
    collection: readCollection(pod, sources, cluster),
    requested: readRequested(pod, sources),
    problems: pod.problems ?? [],
    ...readHistory(pod, node, sources),
    heldUntilMs: (...acts) => readHeldUntilMs(pod.nodeName, acts, sources, cluster),
    holdsOf: (...acts) => {
      const held = [...sources.stages.holds.of(pod.nodeName, ...acts)];
      const zones = queueOfLostNode === undefined ? [] : [queueOfLostNode];
      const details = node ?? { ...readClusterDetails(sources, cluster), zones };
      return held.flatMap((hold) => buildExplainedHolds(hold, details));
    },
  };
}

/** More than a person reads are not shown. */
const requestedMax = 3;

function readRequested(pod: PodView, { stages: { responders } }: ReportSources): PodReport['requested'] {
  if (responders === undefined) return undefined;
  const evictions = responders.evictionsOf(podKey(pod), pod.uid).slice(0, requestedMax);
  return { evictions, problem: responders.problem() };
}

function readQueueOfLost(node: string, { stages }: ReportSources, cluster: ClusterReport): ZoneReport | undefined {
  const zone = cluster.mode === 'taint' ? undefined : stages.queues.zoneOf(node);
  return zone === undefined ? undefined : cluster.zone(zone);
}

/**
 * History of a pod, which begins after the last decision about another pod of its name. That of a node that no longer exists is shown
 * with its pods: it has no page of its own.
 */
function readHistory(
  pod: PodView,
  node: NodeReport | undefined,
  sources: ReportSources,
): Pick<PodReport, 'history' | 'historyOfFormer'> {
  const ofName = sources.stages.decisions.of(podKey(pod)).filter(isOfPod);
  const begins = ofName.findLastIndex(({ uid }) => uid !== undefined && uid !== pod.uid) + 1;
  const historyOfFormer = ofName.slice(0, begins).map(toHistoryLine);
  const own = ofName.slice(begins);
  if (node === undefined && pod.nodeName !== '') own.push(...readHistoryOfNode(pod.nodeName, sources));
  return { history: own.sort((a, b) => a.atMs - b.atMs).map(toHistoryLine), historyOfFormer };
}

/** A pod and a zone can have the same key. */
function isOfPod({ decision }: NotedDecision): boolean {
  return 'pod' in decision || 'subject' in decision;
}
