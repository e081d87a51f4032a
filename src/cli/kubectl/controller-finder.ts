// Finds the pods of the controller, and the one that leads, with the permissions that the user has.
import type { ClusterClient } from '../../machinery/kube-client/cluster-client.ts';
import { ApiError } from '../../machinery/api/api-error.ts';
import { mapOf, mapsOf, textOf } from '../../machinery/api/json-map.ts';
import { PageError } from '../client/page-source.ts';
import type { ClusterValues } from './flags.ts';
import { type ControllerPod, parseControllerPod } from './parse-controller-pod.ts';
import { describeAccessError, describeNotFound, type LeaderChoice, selectLeader } from './select-leader.ts';

type ControllerQuery = Pick<ClusterValues, 'namespace' | 'selector' | 'lease' | 'pod'>;

/** Namespaces of the chart and of the static pod. Not that of the context: a tenant may create pods with any labels there. */
const usualNamespaces = ['node-lifecycle-controller', 'kube-system'] as const;
/** Maximum number of pods in a list without `continue`. */
const podsMax = 100;

/** Rejects with a {@link PageError} if there is no controller, if it is ambiguous, or if it may not be looked up. */
export async function findLeader(
  client: ClusterClient,
  query: ControllerQuery,
  signal: AbortSignal,
): Promise<Exclude<LeaderChoice, { kind: 'problem' }>> {
  const pods = await findPods(client, query, signal);
  const holder = await readHolder(client, query.lease, signal);
  const choice = selectLeader({ pods, holder, wanted: query.pod });
  if (choice.kind === 'problem') throw new PageError(choice.problem);
  return choice;
}

/** The pods in the usual namespaces, else those of all namespaces. */
async function findPods(
  client: ClusterClient,
  { namespace, selector }: ControllerQuery,
  signal: AbortSignal,
): Promise<readonly ControllerPod[]> {
  const places = namespace === undefined ? [...usualNamespaces, ''] : [namespace];
  const tried: string[] = [];
  const forbidden: PageError[] = [];
  const pods: ControllerPod[] = [];
  for (const place of places) {
    if (place === '' && pods.length > 0) break;
    const found = await listPods(client, { namespace: place, selector }, signal);
    const name = placeName(place);
    tried.push(found instanceof PageError ? `${name} (forbidden)` : name);
    if (found instanceof PageError) forbidden.push(found);
    else pods.push(...found);
  }
  if (pods.length > 0) return pods;
  const [first] = forbidden.length === places.length ? forbidden : [];
  throw first === undefined ? new PageError(describeNotFound(selector, tried)) : forbiddenIn(namespace, first);
}

function forbiddenIn(namespace: string | undefined, first: PageError): PageError {
  if (namespace !== undefined) return first;
  return new PageError(`${first.message}; if it runs in another namespace, set --namespace`, { cause: first });
}

function placeName(namespace: string): string {
  return namespace === '' ? 'all namespaces' : namespace;
}

/** An empty namespace: all. A PageError: it is forbidden. Rejects if there are more pods: the controller's may be among them. */
async function listPods(
  client: ClusterClient,
  { namespace, selector }: { readonly namespace: string; readonly selector: string },
  signal: AbortSignal,
): Promise<readonly ControllerPod[] | PageError> {
  const scope = namespace === '' ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  const query = new URLSearchParams({ labelSelector: selector, limit: String(podsMax) });
  try {
    const list = await client.get(`/api/v1${scope}/pods?${query.toString()}`, signal);
    if (textOf(mapOf(list['metadata'])['continue']) !== '') throw new PageError(describeTooMany(selector, namespace));
    return mapsOf(list['items']).map(parseControllerPod);
  } catch (error) {
    if (error instanceof PageError) throw error;
    const attempt = { what: 'find the controller', verbs: 'list', resource: 'pods', namespace };
    const problem = new PageError(describeAccessError(attempt, error), { cause: error });
    if (error instanceof ApiError && error.reason === 'forbidden') return problem;
    throw problem;
  }
}

function describeTooMany(selector: string, namespace: string): string {
  const where = placeName(namespace);
  return `more than ${podsMax} pods with the labels ${selector} in ${where}; set --namespace to that of the controller, or --selector`;
}

/** Undefined if it cannot be read: the replicas are asked then. */
async function readHolder(client: ClusterClient, lease: string, signal: AbortSignal): Promise<string | undefined> {
  const [namespace = '', name = ''] = lease.split('/').map(encodeURIComponent);
  try {
    const object = await client.get(`/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${name}`, signal);
    const holder = textOf(mapOf(object['spec'])['holderIdentity']);
    return holder === '' ? undefined : holder;
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
