// Why the plugin cannot reach a controller, with what to do.
import { ApiError } from '../../machinery/api/api-error.ts';

/** What was tried, and the permission that it needs. */
interface Attempt {
  readonly what: string;
  readonly verbs: string;
  readonly resource: string;
  readonly namespace: string;
}

const role = 'node-lifecycle-controller-kubectl';

/** For a forbidden request: the permission and the chart's role that has it. Otherwise the error. */
export function describeAccessError({ what, verbs, resource, namespace }: Attempt, error: unknown): string {
  if (!(error instanceof ApiError) || error.reason !== 'forbidden') return `cannot ${what}: ${messageOf(error)}`;
  const where = namespace === '' ? 'all namespaces' : `namespace ${namespace}`;
  const bind = `kubectl create rolebinding NAME --clusterrole=${role} --user=USER --namespace=${namespace === '' ? 'NAMESPACE' : namespace}`;
  return `cannot ${what}: forbidden; needed: ${verbs} on ${resource} in ${where}, as in the chart's cluster role ${role} (${bind})`;
}

export function describeNotFound(selector: string, places: readonly string[]): string {
  return `no controller found: no pod with the labels ${selector} in ${places.join(', ')}; set --namespace, or --selector if the chart has another nameOverride`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
