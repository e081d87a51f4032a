import { ApiError } from '../../api/api-error.ts';
import type { KubeReader } from '../../ports/kube-reader.ts';

/** What the API server itself says of a node, past every cache. `refused`: it does not let us ask. */
export type NodePresence = 'found' | 'gone' | 'refused' | 'unknown';

/**
 * Reads the node live (upstream `checkIfNodeExists`). `gone` only if the API server's own words name this node: any box
 * in between can answer 404, and pods are deleted on the strength of it. Never rejects for what an API may answer.
 */
export async function readNodePresence(
  api: Pick<KubeReader, 'get'>,
  name: string,
  signal: AbortSignal,
): Promise<NodePresence> {
  try {
    await api.get('nodes', { name }, { signal });
    return 'found';
  } catch (error) {
    if (!(error instanceof ApiError)) throw error; // a broken promise of the port, or a mistake of ours
    if (error.reason === 'forbidden' || error.reason === 'unauthorized') return 'refused';
    return error.status?.reason === 'NotFound' && error.status.details?.name === name ? 'gone' : 'unknown';
  }
}
