import type { HttpKubeApi } from '../adapters/http-kube-api.ts';
import { type DaemonSet, type DaemonSetView, viewDaemonSet } from '../api/daemonset.ts';
import { type Lease, type LeaseView, viewLease } from '../api/lease.ts';
import { type Node, type NodeView, viewNode } from '../api/node.ts';
import { type Pod, type PodView, viewPod } from '../api/pod.ts';
import { nodeLeaseNamespace } from '../api/resources.ts';
import { daemonSetsByNamespace, podsByNode } from '../controller/node-lifecycle.ts';
import { planLeaseQuiet } from '../controller/sight/plan-lease-quiet.ts';
import { SharedInformer } from '../informer/shared-informer.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { Meter } from '../ports/meter.ts';
import type { Random } from '../ports/random.ts';

/** The local copies of the cluster that one process keeps, whether it leads or not. */
export interface NodeInformers {
  readonly nodes: SharedInformer<Node, NodeView>;
  readonly leases: SharedInformer<Lease, LeaseView>;
  readonly pods: SharedInformer<Pod, PodView>;
  /** In the older eviction mode only: nobody else asks for them. */
  readonly daemonSets?: SharedInformer<DaemonSet, DaemonSetView>;
}

export interface InformerMeans {
  readonly api: HttpKubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly meter: Meter;
}

export function makeInformers(means: InformerMeans, taintBasedEvictions: boolean): NodeInformers {
  const identity = (view: { readonly uid: string; readonly resourceVersion: string }) => view;
  const flawsOf = ({ flaws }: { readonly flaws?: readonly string[] }): typeof flaws => flaws;
  const nodes = new SharedInformer({
    ...means,
    resource: 'nodes',
    view: viewNode,
    identity,
    flawsOf,
  });
  const leases = new SharedInformer({
    ...means,
    resource: 'leases',
    selection: { namespace: nodeLeaseNamespace },
    view: viewLease,
    identity,
    flawsOf,
    busyQuietMs: planLeaseQuiet,
  });
  const pods = new SharedInformer({
    ...means,
    resource: 'pods',
    view: viewPod,
    identity,
    flawsOf,
    shared: ['namespace', 'nodeName', 'tolerations', 'labels'],
    indexes: { [podsByNode]: (pod: PodView) => (pod.nodeName === '' ? [] : [pod.nodeName]) },
  });
  return taintBasedEvictions ? { nodes, leases, pods } : { nodes, leases, pods, daemonSets: daemonSetInformer(means) };
}

function daemonSetInformer(means: InformerMeans): SharedInformer<DaemonSet, DaemonSetView> {
  return new SharedInformer({
    ...means,
    resource: 'daemonsets',
    view: viewDaemonSet,
    identity: (view) => view,
    shared: ['namespace', 'selector'],
    indexes: { [daemonSetsByNamespace]: ({ namespace }) => [namespace] },
  });
}
