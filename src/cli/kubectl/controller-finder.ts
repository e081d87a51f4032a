// Finds the pods of the controller, and the one that leads, with the permissions that the user has.
import type { ClusterClient } from '../../adapters/kube-client/cluster-client.ts';
import { ApiError } from '../../api/api-error.ts';
import { mapOf, mapsOf, textOf } from '../../api/json-map.ts';
import { PageError } from '../client/page-source.ts';
import { describeAccessError, describeNotFound } from './describe-access.ts';
import { type ControllerPod, parseControllerPod } from './parse-controller-pod.ts';
import { type LeaderChoice, selectLeader } from './select-leader.ts';

interface ControllerQuery {
  readonly namespace: string | undefined;
  readonly selector: string;
  /** `NAMESPACE/NAME`. */
  readonly lease: string;
  readonly pod: string | undefined;
}

/** Of the chart and of the static pod. */
const usualNamespaces = { chart: 'node-lifecycle-controller', static: 'kube-system' } as const;
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

/** The pods in the first of the usual namespaces that has some, else those of all namespaces. */
async function findPods(
  client: ClusterClient,
  { namespace, selector }: ControllerQuery,
  signal: AbortSignal,
): Promise<readonly ControllerPod[]> {
  const { chart, static: system } = usualNamespaces;
  const own = client.connection.namespace ?? '';
  const usual = [...new Set([chart, own, system])].filter((name) => name !== '');
  const places = namespace === undefined ? [...usual, ''] : [namespace];
  const tried: string[] = [];
  const forbidden: PageError[] = [];
  for (const place of places) {
    const found = await listPods(client, { namespace: place, selector }, signal);
    const name = place === '' ? 'all namespaces' : place;
    tried.push(found instanceof PageError ? `${name} (forbidden)` : name);
    if (found instanceof PageError) forbidden.push(found);
    else if (found.length > 0) return found;
  }
  const [first] = forbidden.length === places.length ? forbidden : [];
  throw first ?? new PageError(describeNotFound(selector, tried));
}

/** An empty namespace: all. A PageError: it is forbidden. */
async function listPods(
  client: ClusterClient,
  { namespace, selector }: { readonly namespace: string; readonly selector: string },
  signal: AbortSignal,
): Promise<readonly ControllerPod[] | PageError> {
  const scope = namespace === '' ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  const query = new URLSearchParams({ labelSelector: selector, limit: String(podsMax) });
  try {
    const list = await client.get(`/api/v1${scope}/pods?${query.toString()}`, signal);
    return mapsOf(list['items']).map(parseControllerPod);
  } catch (error) {
    const attempt = { what: 'find the controller', verbs: 'list', resource: 'pods', namespace };
    const problem = new PageError(describeAccessError(attempt, error), { cause: error });
    if (error instanceof ApiError && error.reason === 'forbidden') return problem;
    throw problem;
  }
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
