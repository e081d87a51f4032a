import { ApiError } from '../../../machinery/api/api-error.ts';
import type { Node } from '../../../machinery/api/node.ts';
import type { Pod } from '../../../machinery/api/pod.ts';
import type { KubeReader } from '../../../machinery/ports/kube-reader.ts';
import type { KubeWriter } from '../../../machinery/ports/kube-writer.ts';
import type { Logger } from '../../../machinery/ports/logger.ts';
import { configAnnotations, isMirrorOf, isTerminating, mirrorHash } from '../pod-config/classify-pod.ts';

interface MirrorPodsOptions {
  readonly api: Pick<KubeReader, 'get'> & Pick<KubeWriter, 'create' | 'delete'>;
  /** The kubelet's own node as last observed; undefined while it does not exist. */
  readonly node: () => Node | undefined;
  readonly logger: Logger;
}

/** Creates and deletes the mirror pods of static pods (kubelet `pod.MirrorClient`). */
export class MirrorPods {
  readonly #options: MirrorPodsOptions;

  constructor(options: MirrorPodsOptions) {
    this.#options = options;
  }

  /**
   * Makes a static pod's mirror match it: a mirror that does not match, or is being deleted, is deleted first (kubelet
   * `tryReconcileMirrorPods`). `mirror` is the currently known one. Failures are logged; the next sync of the pod tries
   * again.
   */
  async reconcile(pod: Pod, mirror: Pod | undefined, signal: AbortSignal): Promise<void> {
    const node = this.#options.node();
    const deletes = mirror !== undefined && (isTerminating(mirror) || !isMirrorOf(mirror, pod));
    if (deletes && !(await this.delete(mirror, signal))) return;
    if (mirror !== undefined && !deletes) return;
    // Without a node, or while the node is being deleted, the mirror would have no owner.
    if (node !== undefined && !isTerminating(node)) await this.#tryCreate(pod, signal);
  }

  /**
   * Creates the mirror of a static pod, owned by the node. True if the API server has a matching mirror now, created or
   * found; false while the node is not known, as the mirror would have no owner. Rejects with the ApiError, including
   * the case that another pod has the name.
   */
  async create(pod: Pod, signal: AbortSignal): Promise<boolean> {
    const { api, node: find } = this.#options;
    const node = find();
    if (node?.metadata.uid === undefined) return false;
    try {
      await api.create('pods', buildMirror(pod, node), { signal });
    } catch (error) {
      if (!(error instanceof ApiError) || error.reason !== 'already-exists') throw error;
      if (!(await this.#exists(pod, signal))) throw error;
    }
    return true;
  }

  /**
   * Deletes a mirror at once, and only the one with this uid. True if it existed. A mirror that is already gone or was
   * replaced is not an error; other failures are logged, and the caller tries again later.
   */
  async delete(mirror: Pod, signal: AbortSignal): Promise<boolean> {
    const { api, logger } = this.#options;
    const { uid = '', namespace = '', name = '' } = mirror.metadata;
    try {
      await api.delete('pods', { namespace, name }, { uid, gracePeriodSeconds: 0, signal });
      return true;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const expected = ['not-found', 'conflict', 'aborted'].includes(error.reason);
      if (!expected) logger.error({ reason: error.reason, namespace, pod: name }, 'failed to delete mirror pod');
      return false;
    }
  }

  async #tryCreate(pod: Pod, signal: AbortSignal): Promise<void> {
    try {
      await this.create(pod, signal);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { namespace, name } = pod.metadata;
      const fields = { reason: error.reason, namespace, pod: name };
      if (error.reason !== 'aborted') this.#options.logger.error(fields, 'failed to create mirror pod');
    }
  }

  async #exists(pod: Pod, signal: AbortSignal): Promise<boolean> {
    const { namespace = '', name = '' } = pod.metadata;
    const stored = await this.#options.api.get('pods', { namespace, name }, { signal });
    return stored.metadata.annotations?.[configAnnotations.mirror] === mirrorHash(pod);
  }
}

/**
 * The mirror of a static pod: the pod itself, annotated with its hash and owned by its node (kubelet
 * `pod.basicMirrorClient.CreateMirrorPod`). The API server assigns its uid: the one in here is ignored.
 */
function buildMirror(pod: Pod, node: Node): Pod {
  const { name = '', uid = '' } = node.metadata;
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    ...pod,
    metadata: {
      ...pod.metadata,
      annotations: { ...pod.metadata.annotations, [configAnnotations.mirror]: mirrorHash(pod) },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid, controller: true }],
    },
  };
}
