import { type DaemonSet, type DaemonSetView, transformDaemonSet } from '../machinery/api/daemonset.ts';
import { type Lease, type LeaseView, transformLease } from '../machinery/api/lease.ts';
import { type Node, type NodeView, transformNode } from '../machinery/api/node.ts';
import { autonomyLabel, type Pod, type PodView, transformPod } from '../machinery/api/pod.ts';
import { policyCrdName, type PolicyObject, transformPolicyObject } from '../machinery/api/node-lifecycle-policy.ts';
import type { KubeObject } from '../machinery/api/meta.ts';
import { type NamespaceView, transformNamespace } from '../machinery/api/namespace.ts';
import { objectKey } from '../machinery/api/object-key.ts';
import { nodeLeaseNamespace } from '../machinery/api/resources.ts';
import { daemonSetsByNamespace, podsByNode } from '../controller/node-lifecycle.ts';
import type { PolicySource } from '../controller/model/options.ts';
import { planLeaseQuiet } from '../controller/freshness/plan-freshness.ts';
import type { Informer } from '../machinery/informer/informer.ts';
import type { ShownVersion } from '../machinery/informer/read-pages.ts';
import { SharedInformer } from '../machinery/informer/shared-informer.ts';
import type { Ambient } from '../machinery/ports/ambient.ts';
import type { KubeReader } from '../machinery/ports/kube-reader.ts';
import type { Random } from '../machinery/ports/random.ts';
import type { ApiContact } from '../machinery/supervision/api-contact.ts';
import { ApiError } from '../machinery/api/api-error.ts';

/** The informers of one replica, leader or standby. */
export interface NodeInformers {
  readonly nodes: SharedInformer<Node, NodeView>;
  readonly leases: SharedInformer<Lease, LeaseView>;
  readonly pods: SharedInformer<Pod, PodView>;
  /** DaemonSets; only in the legacy eviction mode. */
  readonly daemonSets?: SharedInformer<DaemonSet, DaemonSetView>;
  /** Policies; only where they are objects of the API. */
  readonly policies?: SharedInformer<KubeObject, PolicyObject>;
  /** Namespaces whose pods ask to be kept, by their label; only where that counts. */
  readonly autonomousNamespaces?: SharedInformer<KubeObject, NamespaceView>;
}

interface InformerSelection {
  readonly taintBasedEvictions: boolean;
  readonly policySource: PolicySource;
  /** Absent: the labels of namespaces do not count. */
  readonly namespaceAutonomy?: boolean;
}

interface InformerDependencies extends Ambient {
  readonly api: KubeReader;
  readonly random: Random;
  readonly contact?: ApiContact;
}

export function makeInformers(
  dependencies: InformerDependencies,
  { taintBasedEvictions, policySource, namespaceAutonomy = false }: InformerSelection,
): NodeInformers {
  const all: Pick<NodeInformers['nodes'], 'noticeStorageVersion' | 'noticeRollback'>[] = [];
  const shared = {
    ...dependencies,
    onVersion: (shown: ShownVersion) => all.forEach((informer) => informer.noticeStorageVersion(shown)),
    onRollback: () => all.forEach((informer) => informer.noticeRollback()),
  };
  const common = {
    ...shared,
    identity: (view: { readonly uid: string; readonly resourceVersion: string }) => view,
    problemsOf: ({ problems }: { readonly problems?: readonly string[] }) => problems,
  };
  const nodes = new SharedInformer({ ...common, resource: 'nodes', transform: transformNode });
  const leases = new SharedInformer({
    ...common,
    resource: 'leases',
    selection: { namespace: nodeLeaseNamespace },
    transform: transformLease,
    busyQuietMs: planLeaseQuiet,
  });
  const pods = new SharedInformer({
    ...common,
    resource: 'pods',
    transform: transformPod,
    shared: ['namespace', 'nodeName', 'tolerations', 'labels'],
    indexes: { [podsByNode]: (pod: PodView) => (pod.nodeName === '' ? [] : [pod.nodeName]) },
  });
  const informers = {
    nodes,
    leases,
    pods,
    ...(taintBasedEvictions ? {} : { daemonSets: daemonSetInformer(shared) }),
    ...(policySource === 'file' ? {} : { policies: policyInformer(shared) }),
    ...(namespaceAutonomy ? { autonomousNamespaces: namespaceInformer(shared) } : {}),
  };
  all.push(...Object.values(informers));
  return informers;
}

interface SharedDependencies extends InformerDependencies {
  readonly onVersion: (shown: ShownVersion) => void;
  readonly onRollback: () => void;
}

/** Custom resources are served as JSON only. */
function policyInformer(shared: SharedDependencies): SharedInformer<KubeObject, PolicyObject> {
  return new SharedInformer({
    ...shared,
    api: policyReader(shared.api),
    resource: 'nodelifecyclepolicies',
    transform: transformPolicyObject,
    identity: (view) => view,
  });
}

/** The API server selects them: the cache holds no others, and the watch shows no change of others. */
function namespaceInformer(shared: SharedDependencies): SharedInformer<KubeObject, NamespaceView> {
  return new SharedInformer({
    ...shared,
    resource: 'namespaces',
    selection: { labelSelector: `${autonomyLabel}=true` },
    transform: transformNamespace,
    identity: (view) => view,
  });
}

/** A watch that ends is opened again within moments: after this time, or before its first list, no label of a namespace is known. */
const unknownAfterMs = 30_000;

/** Whether the pods of a namespace ask to be kept, by its label; undefined: it is not known now. */
export function isAutonomous(
  namespace: string,
  informer: Pick<Informer<NamespaceView>, 'store' | 'status' | 'isUndecoded'>,
  nowMs: number,
): boolean | undefined {
  const key = objectKey('', namespace);
  if (informer.store.get(key) !== undefined) return true;
  if (informer.isUndecoded(key)) return undefined;
  const { synced, state, lastFrameAtMs = -Infinity } = informer.status();
  return synced && (state === 'watching' || nowMs - lastFrameAtMs < unknownAfterMs) ? false : undefined;
}

function daemonSetInformer(shared: SharedDependencies): SharedInformer<DaemonSet, DaemonSetView> {
  return new SharedInformer({
    ...shared,
    resource: 'daemonsets',
    transform: transformDaemonSet,
    identity: (view) => view,
    shared: ['namespace', 'selector'],
    indexes: { [daemonSetsByNamespace]: ({ namespace }) => [namespace] },
  });
}

/**
 * A reader for the informer of NodeLifecyclePolicy objects: the 404 of a resource that is not installed names the
 * definition that is missing, for the log and the readiness check.
 */
export function policyReader(api: KubeReader): KubeReader {
  return {
    get: (resource, name, options) => api.get(resource, name, options),
    list: (resource, options) => naming(api.list(resource, options)),
    watch: (resource, options) => naming(api.watch(resource, options)),
  };
}

async function naming<T>(request: Promise<T>): Promise<T> {
  try {
    return await request;
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== 'not-found') throw error;
    const { reason, code, retryAfterMs, status } = error;
    const message = `the CustomResourceDefinition ${policyCrdName} is not installed, which --policy-source=crd needs`;
    throw new ApiError({ reason, code, retryAfterMs, status, message, cause: error });
  }
}
