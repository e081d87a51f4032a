import type { KubeObject } from '../api/meta.ts';
import type { ResourceName } from '../api/resources.ts';
import type { ObjectName } from './kube-reader.ts';

export type PatchType = 'strategic-merge' | 'merge' | 'json';

export interface WriteOptions {
  readonly signal: AbortSignal;
  readonly subresource?: 'status';
}

export interface DeleteOptions {
  readonly signal: AbortSignal;
  /** Delete only the object that was decided upon: another uid under this name answers `conflict`. */
  readonly uid: string;
  readonly resourceVersion?: string;
  /** Absent: the object's own. */
  readonly gracePeriodSeconds?: number;
}

/**
 * Writing to the API server. Every method rejects with an ApiError and with nothing else. `timeout` and `unavailable`
 * leave open whether the write was carried out: the caller reads again before it repeats. Nothing is retried in here
 * unless the server said when (Retry-After).
 */
export interface KubeWriter {
  create(resource: ResourceName, object: KubeObject, options: WriteOptions): Promise<KubeObject>;
  /** PUT. The object's resourceVersion, where present, must be the stored one. */
  replace(resource: ResourceName, object: KubeObject, options: WriteOptions): Promise<KubeObject>;
  patch(
    resource: ResourceName,
    name: ObjectName,
    patch: { readonly type: PatchType; readonly body: unknown },
    options: WriteOptions,
  ): Promise<KubeObject>;
  delete(resource: ResourceName, name: ObjectName, options: DeleteOptions): Promise<void>;
}
