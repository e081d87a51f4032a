import type { KubeObject } from '../api/meta.ts';
import type { ResourceName } from '../api/resources.ts';
import type { ObjectName } from './kube-reader.ts';
import type { WriteLane } from './write-lanes.ts';

export type PatchType = 'strategic-merge' | 'merge' | 'json';

export interface WriteOptions {
  readonly signal: AbortSignal;
  readonly subresource?: 'status';
  /** Called immediately before the request is sent, after every wait; false fails the request with `aborted`. */
  readonly stillWanted?: () => boolean;
  /** The share of the request rate that the write uses. */
  readonly lane?: WriteLane;
}

export interface DeleteOptions {
  readonly signal: AbortSignal;
  /** Precondition: deletes only this object; another uid under the name fails with `conflict`. */
  readonly uid: string;
  readonly resourceVersion?: string;
  /** Defaults to the object's own. */
  readonly gracePeriodSeconds?: number;
  /** Condition of the write, as in {@link WriteOptions}. */
  readonly stillWanted?: () => boolean;
  readonly lane?: WriteLane;
}

/**
 * Writes to the API server. Every method rejects only with an ApiError. After `timeout` and `unavailable` the outcome is
 * unknown: the caller reads the object before it retries. The implementation retries nothing: a write that the server
 * rejects with Retry-After rejects at once, and the error carries the delay as `retryAfterMs`.
 */
export interface KubeWriter {
  create(resource: ResourceName, object: KubeObject, options: WriteOptions): Promise<KubeObject>;
  /** PUT. The object's resourceVersion, if present, must match the stored one. */
  replace(resource: ResourceName, object: KubeObject, options: WriteOptions): Promise<KubeObject>;
  patch(
    resource: ResourceName,
    name: ObjectName,
    patch: { readonly type: PatchType; readonly body: unknown },
    options: WriteOptions,
  ): Promise<KubeObject>;
  delete(resource: ResourceName, name: ObjectName, options: DeleteOptions): Promise<void>;
  /**
   * Evicts a pod by the Eviction API, which deletes it if every PodDisruptionBudget of the pod allows it, and else rejects
   * with `too-many-requests` and a cause `DisruptionBudget`.
   */
  evict(pod: ObjectName, options: DeleteOptions): Promise<void>;
}

export interface PodBinder {
  /**
   * Binds a pod to a node, once. Rejects only with an ApiError: `conflict` if it is bound already or has another uid. After
   * `timeout` and `unavailable` the outcome is unknown. Nothing is retried.
   */
  bind(
    pod: ObjectName & { readonly uid: string },
    node: string,
    options: { readonly signal: AbortSignal },
  ): Promise<void>;
}
