import { ApiError } from '../../machinery/api/api-error.ts';
import { policyCrdName } from '../../machinery/api/node-lifecycle-policy.ts';
import type { KubeReader } from '../../machinery/ports/kube-reader.ts';

/**
 * The same reader for the informer of NodeLifecyclePolicy objects: the 404 of a resource that is not installed names the
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
